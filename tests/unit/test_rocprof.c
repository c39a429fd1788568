/* Files of AMD's profiler, good and broken. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "rocprof.h"
#include "src.h"

static int parse(struct trace *t, const char *text, struct diag *d)
{
	diag_init(d);
	return trace_parse(t, src_from_text("trace", text, strlen(text)), d);
}

static void test_json(void **unused)
{
	static const char text[] =
		"{\"code\": [[\"; gemm\",0,1,\"gemm(float*)\",1,4096,0,0,0,0],"
		"[\"s_load_dwordx2 s[0:1], s[4:5], 0x0\",0,2,\"a.cpp:7\",1,4096,8,160,32,3],"
		"[\"v_add_f32_e32 v0, v1, v2\",0,3,\"\",1,4104,16,64,0,0]],"
		" \"version\": \"3.0\", \"header\": \"ISA, _, LineNumber, Source, Codeobj, Vaddr, Hit, Latency, Stall, Idle\"}";
	struct trace t;
	struct diag d;

	(void)unused;
	assert_int_equal(parse(&t, text, &d), 0);
	assert_int_equal(t.kind, TRACE_INSTRUCTIONS);
	assert_int_equal(t.ninsns, 2);
	assert_string_equal(t.insn[0].text, "s_load_dwordx2 s[0:1], s[4:5], 0x0");
	assert_true(t.insn[0].hits == 8 && t.insn[0].latency_clk == 160 && t.insn[0].stall_clk == 32 && t.insn[0].idle_clk == 3);
	assert_true(t.insn[1].vaddr == 4104);
	trace_free(&t);
	diag_free(&d);
}

static void test_stats_csv(void **unused)
{
	static const char text[] =
		"\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\",\"Source\"\r\n"
		"1,4096,\"; gemm\",0,0,0,0,\"gemm\"\r\n"
		"1,4096,\"v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]\",64,1024,0,0,\"a, \"\"b\"\".cpp:3\"\r\n";
	struct trace t;
	struct diag d;

	(void)unused;
	assert_int_equal(parse(&t, text, &d), 0);
	assert_int_equal(t.ninsns, 1);
	assert_string_equal(t.insn[0].text, "v_mfma_f32_16x16x16_f16 v[0:3], v[4:5], v[6:7], v[0:3]");
	assert_true(t.insn[0].hits == 64 && t.insn[0].latency_clk == 1024);
	trace_free(&t);
	diag_free(&d);
}

static void test_kernel_csv(void **unused)
{
	static const char text[] =
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Stream_Id\",\"Thread_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Correlation_Id\","
		"\"Start_Timestamp\",\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_Count\",\"SGPR_Count\","
		"\"Workgroup_Size_X\",\"Workgroup_Size_Y\",\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
		"\"KERNEL_DISPATCH\",\"Agent 5\",1,0,10,1,9,\"void f<float>(float*, int)\",1,1000,1100,2048,0,64,0,80,64,2,1,16384,8,1\n"
		"\"KERNEL_DISPATCH\",\"Agent 5\",1,0,10,2,9,\"g\",2,2000,2250,2048,0,64,0,80,512,1,1,131072,1,1\n";
	struct trace t;
	struct diag d;

	(void)unused;
	assert_int_equal(parse(&t, text, &d), 0);
	assert_int_equal(t.kind, TRACE_DISPATCHES);
	assert_int_equal(t.ndispatches, 2);
	assert_string_equal(t.dispatch[0].kernel, "void f<float>(float*, int)");
	assert_true(t.dispatch[0].ns == 100 && t.dispatch[1].ns == 250);
	assert_true(t.dispatch[0].workgroup[1] == 2 && t.dispatch[1].grid[0] == 131072);
	trace_free(&t);
	diag_free(&d);
}

static void refused(const char *text, unsigned line, const char *says)
{
	struct trace t;
	struct diag d;
	unsigned l, c;

	assert_int_equal(parse(&t, text, &d), -1);
	assert_int_equal(d.list[0].code, DIAG_SAMPLES);
	src_line_col(d.list[0].loc.src, d.list[0].loc.begin, &l, &c);
	if (l != line || !strstr(d.list[0].message, says))
		fail_msg("%u: %s (expected %u: ... %s)", l, d.list[0].message, line, says);
	trace_free(&t);
	diag_free(&d);
}

#define STATS "CodeObj,Vaddr,Instruction,Hitcount,Latency,Stall,Idle,Source\n"

static void test_refused(void **unused)
{
	(void)unused;
	refused("", 1, "empty");
	refused("a,b,c\n1,2,3\n", 1, "neither");
	refused(STATS, 1, "empty");
	refused(STATS "1,2\n", 2, "fields");
	refused(STATS "1,2,\"s_nop 0,3,4\n", 2, "quote");
	refused(STATS "1,2,s_nop 0,x,4,0,0,\n", 2, "'Hitcount' is 'x'");
	refused(STATS "1,2,s_nop 0,1,-4,0,0,\n", 2, "between");
	refused(STATS "1,2,s_nop 0,1,nan,0,0,\n", 2, "Latency");
	refused(STATS "1,2,s_nop 0,1,4\n", 2, "no 'Stall'");
	refused("{\"code\": 3}", 1, "no list 'code'");
	refused("{\"code\": [3]}", 1, "entry 0");
	refused("{\"code\": [[\"a\",0,0,\"\",0,0,0,0]]}", 1, "entry 0");
	refused("{\"code\": [[\"a\",0,0,\"\",0,0,0,\"x\",0,0]]}", 1, "'Latency'");
	refused("{\"code\": [[\"a\",0,0,\"\",0,0,-1,0,0,0]]}", 1, "between");
	refused("{\n\"code\": [\n}", 3, "no JSON");
	refused("Kernel_Name,Start_Timestamp,End_Timestamp\nk,20,10\n", 2, "ends before");
	refused("Kernel_Name,Start_Timestamp,End_Timestamp\nk,20,30\n", 2, "no 'Grid_Size_X'");
}

/* Bytes changed at random never do more than a finding. */
static void test_random(void **unused)
{
	static const char good[] = STATS "1,4096,\"v_add_f32 v0, v1, v2\",4,16,0,0,\"a:1\"\n1,4100,s_endpgm,1,4,0,0,\n";
	static const char json[] = "{\"code\": [[\"s_nop 0\",0,1,\"\",1,4096,8,32,0,0]]}";
	uint64_t state = 7;

	(void)unused;
	for (int i = 0; i < 4000; i++) {
		char text[sizeof(good) > sizeof(json) ? sizeof(good) : sizeof(json)];
		struct trace t;
		struct diag d;
		size_t n;

		strcpy(text, i % 2 ? good : json);
		n = strlen(text);
		for (int k = 0; k < 1 + i % 4; k++) {
			state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			text[(state >> 33) % n] = (char)(1 + (state >> 20) % 127);
		}
		(void)parse(&t, text, &d);
		trace_free(&t);
		diag_free(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json), cmocka_unit_test(test_stats_csv), cmocka_unit_test(test_kernel_csv),
		cmocka_unit_test(test_refused), cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
