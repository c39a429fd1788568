; target: gfx942
s_load_dword s0, [s4,s6], 0x0
