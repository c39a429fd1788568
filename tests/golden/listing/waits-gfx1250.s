; target: gfx1250
	s_wait_loadcnt 0x0
	s_wait_storecnt 1
	s_wait_dscnt 63
	s_wait_kmcnt 100
	s_wait_loadcnt_dscnt 0x203
	s_wait_storecnt_dscnt 0x100
	s_wait_asynccnt 2
	s_wait_tensorcnt 0
	s_wait_xcnt 0
	s_wait_alu depctr_va_vdst(0)
	s_wait_idle
	s_barrier_signal -1
	s_barrier_wait -1
	s_barrier_signal m0
	s_barrier_signal_isfirst 3
	s_barrier_wait 3
	s_barrier_signal -3
	s_barrier_wait 0xfffd
	s_sleep 5
	s_nop 15
	s_setprio 2
	s_delay_alu instid0(VALU_DEP_1) | instskip(NEXT) | instid1(TRANS32_DEP_2)
	s_setreg_imm32_b32 hwreg(HW_REG_WAVE_SCHED_MODE, 2, 1), 1
	v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[0:7]
	s_setreg_imm32_b32 hwreg(HW_REG_WAVE_SCHED_MODE, 0, 3), 0
	v_wmma_f32_16x16x32_f16 v[0:7], v[8:15], v[16:23], v[0:7]
