; target: gfx942
.text
.type one,@function
one:
 s_endpgm
.type two,@function
two:
 s_endpgm
.amdhsa_kernel one
.end_amdhsa_kernel
.amdhsa_kernel two
.end_amdhsa_kernel
