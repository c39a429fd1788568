; target: gfx942
ds_read_b64_tr_b16 v[0:1], v2
