; target: gfx1250
s_wait_dscnt soon
