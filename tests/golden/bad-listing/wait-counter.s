; target: gfx942
s_waitcnt vmcnt(0) loadcnt(1)
