; target: gfx942

