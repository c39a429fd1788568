; target: gfx942
ds_read_b64 v[0:1, v2
