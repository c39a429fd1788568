; target: gfx942
s_branch 70000
