; target: gfx942
s_waitcnt vmcnt(64)
