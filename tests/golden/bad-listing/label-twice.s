; target: gfx942
loop:
  s_nop 0
loop:
  s_branch loop
