; target: gfx942
v_mov_b64_e32 v[1:2], v[4:5]
