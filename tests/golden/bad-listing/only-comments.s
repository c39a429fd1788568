; target: gfx942
; nothing
/* here */
