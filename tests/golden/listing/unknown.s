; target: gfx942
; unknown: warn
	v_mov_b32_e32 v0, v1
	v_new_thing v0, v1, lots of words
	v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[0:7]
	s_endpgm
