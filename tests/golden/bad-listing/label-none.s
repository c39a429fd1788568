; target: gfx942
s_cbranch_scc0
