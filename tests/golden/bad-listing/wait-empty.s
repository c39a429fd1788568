; target: gfx942
s_waitcnt
