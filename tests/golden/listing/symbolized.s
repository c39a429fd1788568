; target: gfx942

k.o:	file format elf64-amdgpu

Disassembly of section .text:

0000000000000100 <helper>:
	s_setpc_b64 s[30:31]                                       // 000000000100: BE801D1E

0000000000000200 <k>:
; kernel: k
	s_cmp_eq_u32 s0, s1                                        // 000000000200: BF060100
<L0>:
	s_cbranch_scc1 L1                                          // 000000000204: BF850001
	s_branch 65534                                             // 000000000208: BF82FFFE <k+0x4>
<L1>:
	s_branch k+0x4
	s_endpgm                                                   // 000000000210: BF810000
	s_nop 0                                                    // 000000000214: BF800000
	...
