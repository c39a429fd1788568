; target: gfx942
ds_read_b128 v[0:1], v4
