; target: gfx942
; kernel: three
.text
.type one,@function
one:
 s_endpgm
.amdhsa_kernel one
.end_amdhsa_kernel
