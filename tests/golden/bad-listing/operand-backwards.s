; target: gfx942
global_load_dwordx2 v[3:2], v[4:5], off
