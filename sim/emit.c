#include "emit.h"

#include <stdlib.h>
#include <string.h>

int emit_kernel(const struct program *p, const struct emit_options *o, struct kernel_text *out, struct diag *d)
{
	memset(out, 0, sizeof(*out));
	if (target_is_ptx(p->target))
		return emit_ptx(p, o, out, d);
	return p->gemm ? emit_amd(p, o, out, d) : emit_amd_plain(p, o, out, d);
}

void kernel_text_free(struct kernel_text *k)
{
	free(k->text);
	free(k->kernel);
	free(k->stamp_stage);
	free(k->scale_map_a);
	free(k->scale_map_b);
	memset(k, 0, sizeof(*k));
}
