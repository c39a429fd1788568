; target: gfx942
	s_waitcnt vmcnt(0)
	s_waitcnt lgkmcnt(0) vmcnt(3)
	s_waitcnt vmcnt(1) & lgkmcnt(2) & expcnt(0)
	s_waitcnt 0x3f70 // vmcnt(0)
	s_waitcnt lgkmcnt_sat(20)
	s_waitcnt 0xffff
	s_barrier
