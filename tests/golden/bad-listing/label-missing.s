; target: gfx942
loop:
  s_nop 0
  s_cbranch_scc1 lop
