/* How a listing's kernel is started: its descriptor's directives, and the arguments of its metadata. */
#include "listing_internal.h"

#include <string.h>

static bool is(const char *s, size_t n, const char *word)
{
	return strlen(word) == n && !memcmp(s, word, n);
}

void launch_defaults(const struct reader *r, struct listing_launch *l)
{
	(void)r;
	l->kernarg_ptr = true;
	l->workgroup_id[0] = l->workgroup_id[1] = l->workgroup_id[2] = true;
	l->workitem_dims = 2;
	l->float_mode = 0xf0; /* round to nearest, denormals kept */
}

/* What a descriptor means where it does not say. */
static void begin_descriptor(struct listing_launch *l)
{
	if (l->described)
		return;
	l->described = true;
	l->kernarg_ptr = l->workgroup_id[1] = l->workgroup_id[2] = false;
	l->workitem_dims = 0;
	l->float_mode = 0xc0; /* the assembler's default flushes 32-bit denormals */
}

bool launch_directive(struct listing_launch *l, const char *key, size_t n, int64_t v)
{
	struct { const char *key; bool *flag; unsigned *number; } rows[] = {
		{ ".amdhsa_user_sgpr_private_segment_buffer", &l->private_buffer, NULL },
		{ ".amdhsa_user_sgpr_dispatch_ptr", &l->dispatch_ptr, NULL },
		{ ".amdhsa_user_sgpr_queue_ptr", &l->queue_ptr, NULL },
		{ ".amdhsa_user_sgpr_kernarg_segment_ptr", &l->kernarg_ptr, NULL },
		{ ".amdhsa_user_sgpr_dispatch_id", &l->dispatch_id, NULL },
		{ ".amdhsa_user_sgpr_flat_scratch_init", &l->flat_scratch_init, NULL },
		{ ".amdhsa_user_sgpr_private_segment_size", &l->private_size, NULL },
		{ ".amdhsa_user_sgpr_count", NULL, &l->user_sgprs },
		{ ".amdhsa_user_sgpr_kernarg_preload_length", NULL, &l->preload_length },
		{ ".amdhsa_user_sgpr_kernarg_preload_offset", NULL, &l->preload_offset },
		{ ".amdhsa_kernarg_size", NULL, &l->kernarg_bytes },
		{ ".amdhsa_system_sgpr_workgroup_id_x", &l->workgroup_id[0], NULL },
		{ ".amdhsa_system_sgpr_workgroup_id_y", &l->workgroup_id[1], NULL },
		{ ".amdhsa_system_sgpr_workgroup_id_z", &l->workgroup_id[2], NULL },
		{ ".amdhsa_system_sgpr_workgroup_info", &l->workgroup_info, NULL },
		{ ".amdhsa_enable_private_segment", &l->private_wave_offset, NULL },
		{ ".amdhsa_system_sgpr_private_segment_wavefront_offset", &l->private_wave_offset, NULL },
		{ ".amdhsa_system_vgpr_workitem_id", NULL, &l->workitem_dims },
		{ ".amdhsa_named_barrier_count", NULL, &l->named_barriers },
	};
	static const struct { const char *key; unsigned shift; } modes[] = {
		{ ".amdhsa_float_round_mode_32", 0 }, { ".amdhsa_float_round_mode_16_64", 2 },
		{ ".amdhsa_float_denorm_mode_32", 4 }, { ".amdhsa_float_denorm_mode_16_64", 6 },
	};

	begin_descriptor(l);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (!is(key, n, rows[i].key))
			continue;
		if (rows[i].flag)
			*rows[i].flag = v != 0;
		else
			*rows[i].number = (unsigned)v;
		return true;
	}
	for (size_t i = 0; i < ARRAY_LEN(modes); i++)
		if (is(key, n, modes[i].key)) {
			l->float_mode = (l->float_mode & ~(3u << modes[i].shift)) | ((unsigned)v & 3) << modes[i].shift;
			return true;
		}
	return false;
}

/* ---- metadata ---- */

void launch_arg_begin(struct listing_launch *l)
{
	if (l->nargs < LISTING_MAX_ARGS)
		l->arg[l->nargs] = (struct listing_arg){ .name = "" };
	l->nargs++; /* more than fit are dropped at the end */
}

static void value_kind(struct reader *r, struct listing_arg *a, const char *s, size_t n)
{
	if (n > 7 && !memcmp(s, "hidden_", 7)) {
		a->kind = LARG_HIDDEN;
		a->name = arena_strndup(r->arena, s, n > 64 ? 64 : n);
	} else if (is(s, n, "global_buffer") || is(s, n, "dynamic_shared_pointer") || is(s, n, "image") || is(s, n, "pipe") ||
		   is(s, n, "sampler") || is(s, n, "queue")) {
		a->kind = LARG_POINTER;
	}
}

void launch_arg_value(struct reader *r, struct listing_launch *l, const char *key, size_t n, const char *s, size_t len)
{
	struct symtab none = { 0 };
	struct listing_arg *a;
	int64_t v;

	if (!l->nargs || l->nargs > LISTING_MAX_ARGS)
		return;
	a = &l->arg[l->nargs - 1];
	if (len > 1 && (s[0] == '\'' || s[0] == '"') && s[len - 1] == s[0]) {
		s++;
		len -= 2;
	}
	if (is(key, n, ".value_kind"))
		value_kind(r, a, s, len);
	else if (is(key, n, ".name") && a->kind != LARG_HIDDEN)
		a->name = arena_strndup(r->arena, s, len > 256 ? 256 : len);
	else if (is(key, n, ".actual_access") || is(key, n, ".access"))
		a->read_only = is(s, len, "read_only");
	else if (is(key, n, ".is_const") && is(s, len, "true"))
		a->read_only = true;
	if (expr_eval(&none, s, len, &v) < 0 || v < 0 || v > 1 << 20)
		return;
	if (is(key, n, ".offset"))
		a->offset = (unsigned)v;
	else if (is(key, n, ".size"))
		a->size = (unsigned)v;
}

void launch_size(unsigned size[3], unsigned *dim, const char *s, size_t n)
{
	struct symtab none = { 0 };
	int64_t v;

	if (*dim < 3 && expr_eval(&none, s, n, &v) == 0 && v > 0 && v <= 1 << 16)
		size[(*dim)++] = (unsigned)v;
}

void launch_merge(struct listing_launch *to, const struct listing_launch *meta)
{
	size_t n = meta->nargs < LISTING_MAX_ARGS ? meta->nargs : LISTING_MAX_ARGS;

	if (meta->kernarg_bytes)
		to->kernarg_bytes = meta->kernarg_bytes;
	memcpy(to->reqd_size, meta->reqd_size, sizeof(to->reqd_size));
	memcpy(to->cluster, meta->cluster, sizeof(to->cluster));
	memcpy(to->arg, meta->arg, n * sizeof(to->arg[0]));
	to->nargs = n;
}
