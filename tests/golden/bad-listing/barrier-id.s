; target: gfx1250
s_barrier_signal 17
