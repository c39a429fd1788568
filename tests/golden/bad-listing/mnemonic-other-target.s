; target: gfx942
ds_load_b128 v[0:3], v4
