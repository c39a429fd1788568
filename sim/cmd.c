#include "cmd.h"

#ifdef HAVE_CONFIG_H
#include "config.h"
#endif

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "annotate.h"
#include "util.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "unknown"
#endif

const char *argp_program_version = "wpsim " PACKAGE_VERSION;

enum {
	FOR_PREDICT = 1, FOR_CHECK = 2, FOR_EMIT = 4, FOR_TARGETS = 8, FOR_EXPLAIN = 16,
	FOR_HELP = 32, FOR_ANNOTATE = 64, FOR_EXEC = 1 << 15,
	FOR_RUN = 4096, FOR_CALIBRATE = 8192, FOR_COMPARE = 16384
};

/* commands[0] runs when no command is named. */
static const struct command commands[] = {
	{ "wpsim", "SCHEDULE...", "Predict how many cycles a staged schedule takes, and check it.",
	  "A SCHEDULE is a schedule.xml; \"-\" reads standard input. The report goes to standard "
	  "output, findings go to standard error (inside the document with --format json or "
	  "jsonl). Listings and code objects are for check, annotate and exec.\n\n"
	  "Examples:\n"
	  "  wpsim kernels/mi355x-f16-8wave/schedule.xml\n"
	  "  wpsim --clock 1400 --formulas schedule.xml\n"
	  "  wpsim --format jsonl kernels/*/schedule.xml > all.jsonl",
	  FOR_PREDICT, true, "schedule", cmd_predict },
	{ "check", "FILE...", "Check waits, barriers and data of a schedule or a listing.",
	  "A FILE is a schedule.xml, a listing (assembler text of a kernel), a code object, or a folder with such "
	  "files. For a schedule, prints a table of all waits with the loosest value that is right; findings go to "
	  "standard error. --fix and --place-waits write a mended schedule instead (to standard output without -o).\n\n"
	  "A listing is checked for missing wait states and waits, on every path. Then its waves are followed, and the "
	  "order of what they do in LDS is judged; with --exec they run with the arguments given, and what they compute "
	  "is watched as well.\n\n"
	  "Examples:\n"
	  "  wpsim check schedule.xml\n"
	  "  wpsim check --price --format jsonl kernels\n"
	  "  wpsim check --fix -o mended.xml schedule.xml\n"
	  "  wpsim check --target gfx950 --kernel gemm kernels.s\n"
	  "  wpsim check --exec --arg rand-f16:65536 --arg out:4096 kernel.co",
	  FOR_CHECK, true, "schedule, listing, code object or folder", cmd_check },
	{ "annotate", "LISTING...", "Time a listing: what each line of its hot loop costs.",
	  "A LISTING is assembler text of a kernel, or a code object. The waves of one workgroup run it; the hot loop "
	  "is printed with the issue, the stall and its reason beside each instruction. What the text does not say is "
	  "assumed, and said to be so; with --exec trips, branches and LDS addresses are those of the launch given.\n\n"
	  "Examples:\n"
	  "  wpsim annotate kernel.s\n"
	  "  wpsim annotate --trip .LBB0_2=64 --bank-conflicts 2 kernel.s\n"
	  "  wpsim annotate --target gfx950 --waves 8 --format json snippet.s\n"
	  "  wpsim annotate --exec --arg rand-f16:65536 --arg out:4096 kernel.co",
	  FOR_ANNOTATE, true, "listing or code object", cmd_annotate },
	{ "emit", "FILE", "Print the runnable kernel of a schedule, or its program.",
	  "A FILE is a schedule.xml: its kernel is printed as text for clang, or with --object assembled to a code "
	  "object by $WPSIM_CLANG, clang-22 or clang; for NVIDIA it is PTX. With --listing the lowered program is printed "
	  "instead, and the FILE may be a listing or a code object too.\n\n"
	  "Examples:\n"
	  "  wpsim emit kernels/mi355x-f16-8wave/schedule.xml -o kernel.s\n"
	  "  wpsim emit --object --size 512x512x1024 schedule.xml -o kernel.co\n"
	  "  wpsim emit --listing schedule.xml -o program.txt\n"
	  "  wpsim emit --listing --target gfx942 kernel.s",
	  FOR_EMIT, true, "schedule or listing", cmd_emit },
	{ "exec", "FILE", "Execute a kernel on the CPU and look for faults.",
	  "A FILE is a listing or a code object, whose arguments are given in their order with --arg; or a "
	  "schedule.xml: then its kernel is emitted, executed on random matrices and compared with a "
	  "reference product. Every access and every wait is watched: use of data in flight, races, "
	  "uninitialised values, accesses outside of memory.\n\n"
	  "An argument is TYPE:VALUE with one of i8 to i64, u8 to u64, f16, bf16, f32, f64; buf:BYTES or out:BYTES for "
	  "memory that nobody has written, zero:BYTES, buf:FILE, or rand-f16:COUNT, rand-f32:COUNT and so on "
	  "for random numbers.\n\n"
	  "Examples:\n"
	  "  wpsim exec --grid 4 --arg rand-f32:1024 --arg out:4096 kernel.s\n"
	  "  wpsim exec --order random --seed 7 kernels/mi355x-f16-8wave/schedule.xml\n"
	  "  wpsim exec --size 512x512x256 --all-workgroups schedule.xml",
	  FOR_EXEC, true, "listing, code object or schedule", cmd_exec },
	{ "run", "FILE...", "Run a schedule's kernel on a GPU, verify it and measure it.",
	  "A FILE is a schedule.xml. Its kernel is emitted, loaded, launched and verified; then it is timed, and "
	  "the clk of its loop are printed beside the prediction. Without --backend the first of cuda and hip "
	  "that has a device of the schedule's target is taken.\n\n"
	  "Examples:\n"
	  "  wpsim run kernels/h200-f16-8warp/schedule.xml\n"
	  "  wpsim run --repeat 50 --samples h200.jsonl kernels/h200-*/schedule.xml\n"
	  "  wpsim run --dry kernels/mi355x-f16-8wave/schedule.xml",
	  FOR_RUN, true, "schedule", cmd_run },
	{ "calibrate", "[FILE...]", "Measure what a model's values rest on; write a new model.",
	  "Runs the calibration kernels of a target (kernels/calibrate-*, or the FILEs) on hardware, or reads what "
	  "others measured (--from), and fits the values of the model that they identify. The new model goes to -o: "
	  "values that nothing identifies stay as they are.\n\n"
	  "Examples:\n"
	  "  wpsim calibrate --target sm_90 --samples h200.jsonl -o my-sm_90.xml\n"
	  "  wpsim calibrate --target gfx950 --from mi355x.jsonl -o my-gfx950.xml",
	  FOR_CALIBRATE, false, "schedule", cmd_calibrate },
	{ "compare", "[FILE...]", "Compare predictions with measurements.",
	  "A FILE is a schedule.xml whose samples are in --samples; without one, all samples whose schedule can be "
	  "found are compared. With --published the published measurements are. With --trace the FILE is a "
	  "listing, compared line by line with a trace of the profiler.\n\n"
	  "Examples:\n"
	  "  wpsim compare --samples h200.jsonl kernels/h200-f16-8warp/schedule.xml\n"
	  "  wpsim compare --samples h200.jsonl --tolerance 5 --svg h200.svg\n"
	  "  wpsim compare --published\n"
	  "  wpsim compare --trace ui_output/code.json kernel.s",
	  FOR_COMPARE, false, "schedule", cmd_compare },
	{ "targets", "[TARGET...]", "List the machine models, or print one.",
	  "A TARGET is a name (gfx950) or the file of a model.\n\n"
	  "Examples:\n"
	  "  wpsim targets\n"
	  "  wpsim targets gfx950\n"
	  "  wpsim targets ./my-model.xml",
	  FOR_TARGETS, false, "target", cmd_targets },
	{ "explain", "[CODE...]", "Say what a finding means and what to do, or list all.",
	  "Examples:\n"
	  "  wpsim explain\n"
	  "  wpsim explain E-DEADLOCK",
	  FOR_EXPLAIN, false, "code", cmd_explain },
	{ "help", "[COMMAND]", "Print the help of a command.",
	  "Examples:\n"
	  "  wpsim help\n"
	  "  wpsim help emit",
	  FOR_HELP, false, "command", cmd_help },
};

enum {
	KEY_FORMAT = 256, KEY_TARGET, KEY_VARIANT, KEY_CLOCK, KEY_COLOUR, KEY_NO_TIMELINE,
	KEY_FORMULAS, KEY_MODELS, KEY_LISTING, KEY_PRICE, KEY_WERROR, KEY_FIX, KEY_PLACE_WAITS,
	KEY_KERNEL, KEY_UNKNOWN, KEY_TRIP, KEY_WAVES, KEY_CONFLICTS,
	KEY_BACKEND, KEY_DEVICE, KEY_REPEAT, KEY_SAMPLES, KEY_FROM, KEY_DRY, KEY_TIMEOUT, KEY_TOLERANCE, KEY_SVG,
	KEY_PUBLISHED, KEY_TRACE, KEY_SIZE, KEY_OBJECT, KEY_STAMPS,
	KEY_GRID, KEY_BLOCK, KEY_ARG, KEY_DUMP, KEY_ORDER, KEY_SEED, KEY_THREADS, KEY_COUNTS, KEY_ALL, KEY_EXEC
};

#define HARDWARE (FOR_RUN | FOR_CALIBRATE | FOR_COMPARE)
#define ALL_SCHEDULES (FOR_PREDICT | FOR_CHECK | FOR_EMIT | FOR_ANNOTATE | FOR_EXEC | HARDWARE)

static const struct {
	struct argp_option o;
	unsigned commands;
} option_table[] = {
	{ { "format", KEY_FORMAT, "FORMAT", 0,
	    "text (default), json, jsonl: one document a line, for check sarif, for compare csv", 0 },
	  FOR_PREDICT | FOR_CHECK | FOR_ANNOTATE | FOR_COMPARE },
	{ { "price", KEY_PRICE, NULL, 0,
	    "say what a finding costs; look for spare barriers and early waits too", 0 },
	  FOR_PREDICT | FOR_CHECK },
	{ { "werror", KEY_WERROR, NULL, 0, "warnings make the exit status 1", 0 },
	  FOR_PREDICT | FOR_CHECK },
	{ { "fix", KEY_FIX, NULL, 0,
	    "write the schedule with waits and barriers mended where that is safe", 0 },
	  FOR_CHECK },
	{ { "place-waits", KEY_PLACE_WAITS, NULL, 0,
	    "write the schedule with its waits replaced by the latest and loosest that are safe", 0 },
	  FOR_CHECK },
	{ { "kernel", KEY_KERNEL, "NAME", 0, "kernel to take from a listing that has several; with emit, the name of the kernel", 0 },
	  FOR_CHECK | FOR_EMIT | FOR_ANNOTATE | FOR_EXEC },
	{ { "unknown", KEY_UNKNOWN, "WHAT", 0,
	    "unknown instructions of a listing: error (default), or warn and pass over them", 0 },
	  FOR_CHECK | FOR_EMIT | FOR_ANNOTATE },
	{ { "trip", KEY_TRIP, "LABEL=N", 0,
	    "the loop at LABEL, or whose first instruction stands in that line, makes N trips", 0 },
	  FOR_ANNOTATE },
	{ { "waves", KEY_WAVES, "N", 0,
	    "waves of a workgroup (default: as the text says, or 4)", 0 },
	  FOR_ANNOTATE },
	{ { "bank-conflicts", KEY_CONFLICTS, "N", 0,
	    "every LDS access takes N times its array time (default: 1)", 0 },
	  FOR_ANNOTATE },
	{ { "backend", KEY_BACKEND, "NAME", 0,
	    "cuda, hip, fake (a script, see docs/hardware.md) or sim (wpsim's own engine)", 0 },
	  FOR_RUN | FOR_CALIBRATE },
	{ { "device", KEY_DEVICE, "N", 0, "the N-th device of the backend, from 0 (default: 0)", 0 },
	  FOR_RUN | FOR_CALIBRATE },
	{ { "repeat", KEY_REPEAT, "N", 0, "launches that are measured (default: 20)", 0 },
	  FOR_RUN | FOR_CALIBRATE },
	{ { "timeout", KEY_TIMEOUT, "S", 0, "seconds until a launch counts as hung (default: 10)", 0 },
	  FOR_RUN | FOR_CALIBRATE },
	{ { "samples", KEY_SAMPLES, "FILE", 0,
	    "file of measurements: run and calibrate append to it and pass over what is in it", 0 },
	  FOR_RUN | FOR_CALIBRATE | FOR_COMPARE },
	{ { "from", KEY_FROM, "FILE", 0, "fit to the measurements in FILE; nothing is run", 0 },
	  FOR_CALIBRATE },
	{ { "dry", KEY_DRY, NULL, 0, "emit and assemble only", 0 },
	  FOR_RUN },
	{ { "tolerance", KEY_TOLERANCE, "PERCENT", 0,
	    "largest error of a prediction; beyond it the exit status is 4", 0 },
	  FOR_COMPARE },
	{ { "svg", KEY_SVG, "FILE", 0, "write a figure of predicted against measured clk", 0 },
	  FOR_COMPARE },
	{ { "published", KEY_PUBLISHED, NULL, 0, "compare with the published measurements of models/evidence", 0 },
	  FOR_COMPARE },
	{ { "trace", KEY_TRACE, "FILE", 0,
	    "trace of the profiler (code.json, or a CSV) to compare the listing with", 0 },
	  FOR_COMPARE },
	{ { "listing", KEY_LISTING, NULL, 0,
	    "a readable listing with stages, registers and waits", 0 },
	  FOR_EMIT },
	{ { "size", KEY_SIZE, "MxNxK", 0, "matrix sizes instead of the schedule's own", 0 },
	  FOR_EMIT | FOR_RUN | FOR_EXEC },
	{ { "exec", KEY_EXEC, NULL, 0,
	    "execute the listing with the arguments given by --arg: exact trips, LDS addresses and branches", 0 },
	  FOR_CHECK | FOR_ANNOTATE },
	{ { "grid", KEY_GRID, "X[,Y[,Z]]", 0, "workgroups of the launch (default: 1)", 0 },
	  FOR_EXEC | FOR_CHECK | FOR_ANNOTATE },
	{ { "block", KEY_BLOCK, "X[,Y[,Z]]", 0, "threads of a workgroup (default: as the kernel says)", 0 },
	  FOR_EXEC | FOR_CHECK | FOR_ANNOTATE },
	{ { "arg", KEY_ARG, "TYPE:VALUE", 0, "the kernel's next argument; 'wpsim help exec' has the types", 0 },
	  FOR_EXEC | FOR_CHECK | FOR_ANNOTATE },
	{ { "dump", KEY_DUMP, "ARG=FILE", 0, "write the buffer of argument ARG, a number or name, to FILE afterwards", 0 },
	  FOR_EXEC },
	{ { "order", KEY_ORDER, "ORDER", 0, "whose turn it is among waves: rr (default) or random", 0 },
	  FOR_EXEC },
	{ { "seed", KEY_SEED, "N", 0, "seed of random data and of a random order (default: 0)", 0 },
	  FOR_EXEC | FOR_CHECK | FOR_ANNOTATE },
	{ { "threads", KEY_THREADS, "N", 0, "workgroups executed at a time (default: one a processor)", 0 },
	  FOR_EXEC },
	{ { "counts", KEY_COUNTS, NULL, 0, "how often each instruction was executed, and its LDS time", 0 },
	  FOR_EXEC },
	{ { "all-workgroups", KEY_ALL, NULL, 0, "of a schedule's kernel all workgroups, not just the first one", 0 },
	  FOR_EXEC },
	{ { "object", KEY_OBJECT, NULL, 0, "assemble the kernel: the result is a code object", 0 },
	  FOR_EMIT },
	{ { "stamps", KEY_STAMPS, NULL, 0,
	    "the kernel notes the clock at each stage of the loop's last trip", 0 },
	  FOR_EMIT },
	{ { "target", KEY_TARGET, "TARGET", 0,
	    "machine model to use instead of the file's own: a name or a file", 0 },
	  ALL_SCHEDULES },
	{ { "variant", KEY_VARIANT, "OPTION", 0,
	    "option of the model's choice, where it offers one", 0 },
	  ALL_SCHEDULES | FOR_TARGETS },
	{ { "clock", KEY_CLOCK, "CLOCK", 0,
	    "clock of the prediction: a name of the model's clock list, or MHz", 0 },
	  FOR_PREDICT | FOR_CHECK | FOR_ANNOTATE | FOR_COMPARE },
	{ { "no-timeline", KEY_NO_TIMELINE, NULL, 0,
	    "leave out the timeline of one K-step", 0 },
	  FOR_PREDICT },
	{ { "formulas", KEY_FORMULAS, NULL, 0,
	    "show the constants and the formula behind every percentage", 0 },
	  FOR_PREDICT },
	{ { "models", KEY_MODELS, "DIR", 0,
	    "folder of the machine models (default: $WPSIM_MODELS)", 0 },
	  ALL_SCHEDULES | FOR_TARGETS },
	{ { "color", KEY_COLOUR, "WHEN", 0,
	    "auto (default: on a terminal, unless NO_COLOR is set), always or never", 0 },
	  ALL_SCHEDULES | FOR_TARGETS },
	{ { "output", 'o', "FILE", 0,
	    "write the result to FILE, which is replaced only when complete", 0 },
	  ALL_SCHEDULES | FOR_TARGETS | FOR_EXPLAIN },
};

int cmd_error(const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("wpsim: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return STATUS_BAD_INPUT;
}

int cmd_status_of_code(enum diag_code c)
{
	if (diag_code_severity(c) != SEV_ERROR)
		return STATUS_CLEAN;
	return c <= DIAG_LIMIT ? STATUS_BAD_INPUT : STATUS_FINDINGS; /* the order of diag.def */
}

int cmd_status_of(const struct diag *d)
{
	int status = d->errors ? STATUS_FINDINGS : STATUS_CLEAN;

	for (size_t i = 0; i < d->n; i++) {
		int s = cmd_status_of_code(d->list[i].code);

		if (d->list[i].severity != SEV_ERROR)
			continue;
		status = s > status ? s : status;
	}
	return status;
}

const struct command *cmd_find(const char *name)
{
	for (size_t i = 1; i < ARRAY_LEN(commands); i++)
		if (strcmp(name, commands[i].name) == 0)
			return &commands[i];
	return NULL;
}

const struct command *cmd_default(void)
{
	return commands;
}

static const char *nearest_command(const char *word)
{
	const char *names[ARRAY_LEN(commands)];

	for (size_t i = 1; i < ARRAY_LEN(commands); i++)
		names[i - 1] = commands[i].name;
	return word_nearest(word, names, ARRAY_LEN(commands) - 1);
}

int cmd_unknown(const char *word)
{
	const char *near = nearest_command(word);

	return near ? cmd_error("unknown command '%s'; did you mean '%s'?", word, near) :
		      cmd_error("unknown command '%s'; 'wpsim help' lists all", word);
}

static void set_colour(struct cmd_options *o, const char *when)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	bool may = !(no && *no) && !(term && strcmp(term, "dumb") == 0);
	bool always = when && strcmp(when, "always") == 0;
	bool never = when && strcmp(when, "never") == 0;

	o->colour_out = always || (!never && may && isatty(STDOUT_FILENO));
	o->colour_err = always || (!never && may && isatty(STDERR_FILENO));
}

/* Index of arg in words, or a usage error that names them. */
static int word_of(const char *option, const char *arg, const char *const *words, size_t n,
		   struct argp_state *state)
{
	struct strbuf b = { 0 };

	for (size_t i = 0; i < n; i++)
		if (strcmp(arg, words[i]) == 0)
			return (int)i;
	for (size_t i = 0; i < n; i++)
		strbuf_add(&b, "%s%s", i == 0 ? "" : i + 1 < n ? ", " : " or ", words[i]);
	argp_error(state, "--%s takes %s, not '%s'", option, b.s, arg);
	strbuf_free(&b);
	return -1;
}

static void add_word(struct cmd_options *o, char *arg)
{
	o->words = xgrow(o->words, o->nwords, &o->capwords, sizeof(*o->words));
	o->words[o->nwords++] = arg;
}

static void set_models(const char *dir, struct argp_state *state)
{
	struct stat st;

	if (stat(dir, &st) != 0 || !S_ISDIR(st.st_mode))
		argp_error(state, "--models: '%s' is no folder", dir);
	setenv("WPSIM_MODELS", dir, 1);
}

#define MAX_TRIPS (INT64_C(1) << 40)
#define MAX_REPEAT 1000 /* launches, as hw/measure.h has it */
#define MAX_CONFLICTS 64 /* as many lanes as there are */

static error_t add_trip(struct cmd_options *o, char *arg, struct argp_state *state)
{
	char *eq = strrchr(arg, '=');
	int64_t n;

	if (!eq || eq == arg || parse_int64(eq + 1, 1, MAX_TRIPS, &n) != 0) {
		argp_error(state, "--trip takes LABEL=N, N at least 1, not '%s'", arg);
		return EINVAL;
	}
	*eq = '\0';
	o->trips = xgrow(o->trips, o->ntrips, &o->captrips, sizeof(*o->trips));
	o->trips[o->ntrips++] = (struct annotate_trips){ arg, (uint64_t)n };
	return 0;
}

static error_t set_number_from(unsigned *to, const char *option, unsigned least, unsigned most, const char *arg,
			       struct argp_state *state)
{
	int64_t n;

	if (parse_int64(arg, least, most, &n) != 0) {
		argp_error(state, "--%s takes a number from %u to %u, not '%s'", option, least, most, arg);
		return EINVAL;
	}
	*to = (unsigned)n;
	return 0;
}

static error_t set_number(unsigned *to, const char *option, unsigned most, const char *arg,
			  struct argp_state *state)
{
	return set_number_from(to, option, 1, most, arg, state);
}

static error_t set_percent(double *to, const char *option, const char *arg, struct argp_state *state)
{
	double v;

	if (parse_double(arg, &v) != 0 || !(v >= 0 && v <= 1000)) {
		argp_error(state, "--%s takes a percentage from 0 to 1000, not '%s'", option, arg);
		return EINVAL;
	}
	*to = v;
	return 0;
}

static error_t set_size(struct cmd_options *o, char *arg, struct argp_state *state)
{
	char *part = arg, *rest;

	for (int i = 0; i < 3; i++, part = rest + 1) {
		size_t len = strcspn(part, "x");

		rest = part + len;
		if ((*rest == 'x') != (i < 2))
			break;
		*rest = '\0';
		if (parse_int64(part, 1, INT32_MAX, &o->size[i]) != 0)
			break;
		if (i == 2)
			return 0;
		*rest = 'x';
	}
	argp_error(state, "--size takes MxNxK, three numbers of at least 1, as in 512x512x1024");
	return EINVAL;
}

/* "X", "X,Y" or "X,Y,Z"; what is not written is 1. */
static error_t set_dims(unsigned dims[3], const char *option, unsigned most, char *arg, struct argp_state *state)
{
	char *part = arg;

	dims[0] = dims[1] = dims[2] = 1;
	for (int i = 0; i < 3; i++) {
		size_t len = strcspn(part, ",");
		bool last = part[len] == '\0';
		int64_t n;

		part[len] = '\0';
		if (parse_int64(part, 1, most, &n) != 0)
			break;
		dims[i] = (unsigned)n;
		if (last)
			return 0;
		part += len + 1;
	}
	argp_error(state, "--%s takes X, X,Y or X,Y,Z, numbers from 1 to %u", option, most);
	return EINVAL;
}

static error_t set_seed(struct cmd_options *o, const char *arg, struct argp_state *state)
{
	int64_t n;

	if (parse_int64(arg, 0, INT64_MAX, &n) != 0) {
		argp_error(state, "--seed takes a whole number of at least 0, not '%s'", arg);
		return EINVAL;
	}
	o->seed = (uint64_t)n;
	return 0;
}

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	static const char *const formats[] = { "text", "json", "jsonl", "sarif", "csv" };
	static const char *const whens[] = { "auto", "always", "never" };
	static const char *const unknowns[] = { "error", "warn" };
	static const char *const orders[] = { "rr", "random" };
	struct cmd_options *o = state->input;
	int i;

	switch (key) {
	case KEY_FORMAT:
		i = word_of("format", arg, formats, ARRAY_LEN(formats), state);
		if (i < 0)
			return EINVAL;
		o->format = (enum cmd_format)i;
		return 0;
	case KEY_COLOUR:
		i = word_of("color", arg, whens, ARRAY_LEN(whens), state);
		if (i < 0)
			return EINVAL;
		set_colour(o, whens[i]);
		return 0;
	case KEY_UNKNOWN:
		i = word_of("unknown", arg, unknowns, ARRAY_LEN(unknowns), state);
		if (i < 0)
			return EINVAL;
		o->unknown_warns = i == 1;
		return 0;
	case KEY_TRIP: return add_trip(o, arg, state);
	case KEY_WAVES: return set_number(&o->waves, "waves", PROG_MAX_WAVES, arg, state);
	case KEY_CONFLICTS: return set_number(&o->bank_conflicts, "bank-conflicts", MAX_CONFLICTS, arg, state);
	case KEY_KERNEL: o->kernel = arg; return 0;
	case KEY_TARGET: o->target = arg; return 0;
	case KEY_VARIANT: o->variant = arg; return 0;
	case KEY_CLOCK: o->clock = arg; return 0;
	case KEY_NO_TIMELINE: o->timeline = false; return 0;
	case KEY_FORMULAS: o->formulas = true; return 0;
	case KEY_LISTING: o->listing = true; return 0;
	case KEY_OBJECT: o->object = true; return 0;
	case KEY_STAMPS: o->stamps = true; return 0;
	case KEY_SIZE: return set_size(o, arg, state);
	case KEY_GRID: return set_dims(o->grid, "grid", INT32_MAX, arg, state);
	case KEY_BLOCK: return set_dims(o->block, "block", 1024, arg, state);
	case KEY_ARG:
		o->args = xgrow(o->args, o->nargs, &o->capargs, sizeof(*o->args));
		o->args[o->nargs++] = arg;
		return 0;
	case KEY_DUMP:
		o->dumps = xgrow(o->dumps, o->ndumps, &o->capdumps, sizeof(*o->dumps));
		o->dumps[o->ndumps++] = arg;
		return 0;
	case KEY_ORDER:
		i = word_of("order", arg, orders, ARRAY_LEN(orders), state);
		o->random_order = i == 1;
		return i < 0 ? EINVAL : 0;
	case KEY_SEED: return set_seed(o, arg, state);
	case KEY_THREADS: return set_number(&o->threads, "threads", 256, arg, state);
	case KEY_EXEC: o->exec = true; return 0;
	case KEY_COUNTS: o->counts = true; return 0;
	case KEY_ALL: o->all_workgroups = true; return 0;
	case KEY_BACKEND: o->backend = arg; return 0;
	case KEY_DEVICE: return set_number_from(&o->device, "device", 0, 1023, arg, state);
	case KEY_REPEAT: return set_number(&o->repeat, "repeat", MAX_REPEAT, arg, state);
	case KEY_TIMEOUT: return set_number(&o->timeout_s, "timeout", 86400, arg, state);
	case KEY_SAMPLES: o->samples = arg; return 0;
	case KEY_FROM: o->from = arg; return 0;
	case KEY_DRY: o->dry = true; return 0;
	case KEY_TOLERANCE: return set_percent(&o->tolerance, "tolerance", arg, state);
	case KEY_SVG: o->svg = arg; return 0;
	case KEY_PUBLISHED: o->published = true; return 0;
	case KEY_TRACE: o->trace = arg; return 0;
	case KEY_PRICE: o->price = true; return 0;
	case KEY_WERROR: o->werror = true; return 0;
	case KEY_FIX: o->fix = true; return 0;
	case KEY_PLACE_WAITS: o->place_waits = true; return 0;
	case KEY_MODELS: set_models(arg, state); return 0;
	case 'o': o->output = arg; return 0;
	case ARGP_KEY_ARG: add_word(o, arg); return 0;
	default: return ARGP_ERR_UNKNOWN;
	}
}

/* The argp description of a command: its part of the option table, and its texts. */
struct description {
	struct argp argp;
	struct argp_option options[ARRAY_LEN(option_table) + 1];
	struct strbuf doc;
};

static void describe(const struct command *c, struct description *d)
{
	size_t n = 0;

	memset(d, 0, sizeof(*d));
	for (size_t i = 0; i < ARRAY_LEN(option_table); i++)
		if (option_table[i].commands & c->letter)
			d->options[n++] = option_table[i].o;
	strbuf_add(&d->doc, "%s", c->summary);
	if (c == commands) {
		strbuf_add(&d->doc, "\n\nCommands:\n");
		for (size_t i = 1; i < ARRAY_LEN(commands); i++)
			strbuf_add(&d->doc, "  %-10s%s\n", commands[i].name, commands[i].summary);
	}
	strbuf_add(&d->doc, "\v%s", c->text);
	d->argp = (struct argp){
		.options = d->options, .parser = parse_option, .args_doc = c->args, .doc = d->doc.s
	};
}

void cmd_print_help(const struct command *c)
{
	struct description d;
	struct cmd_options unused = { 0 };
	char *name = c == commands ? xstrdup("wpsim") : xasprintf("wpsim %s", c->name);
	char help[] = "--help", *argv[] = { name, help, NULL };

	describe(c, &d);
	argp_parse(&d.argp, 2, argv, ARGP_NO_EXIT, NULL, &unused);
	free(name);
	strbuf_free(&d.doc);
}

static const struct argp_option *find_long(const struct argp_option *opts, const char *name,
					   size_t len)
{
	const struct argp_option *prefix = NULL;

	for (; opts->name; opts++) {
		if (strncmp(opts->name, name, len) != 0)
			continue;
		if (opts->name[len] == '\0')
			return opts;
		prefix = opts;
	}
	return prefix;
}

/* Judge one long option; *skip when the next word is its value. */
static int refuse_unknown_option(const char *arg, const char *program,
				 const struct argp_option *opts, const char *const *words,
				 size_t n, bool *skip)
{
	char *name = xstrdup(arg + 2);
	size_t len = strcspn(name, "=");
	bool value = name[len] == '=', known = false;
	const struct argp_option *o;
	int status = 0;

	name[len] = '\0';
	for (size_t j = 0; j < n && !known; j++)
		known = strncmp(words[j], name, len) == 0;
	if (!known) {
		const char *near = word_nearest(name, words, n);
		status = cmd_error("unknown option '--%s'%s%s%s\nTry '%s --help'.", name,
				   near ? "; did you mean '--" : "", near ? near : "",
				   near ? "'?" : "", program);
	}
	o = find_long(opts, name, len);
	*skip = o && o->arg && !value;
	free(name);
	return status;
}

/* argp's own message for an unknown option names no neighbour, so unknown ones are found first. */
static int refuse_unknown_options(int argc, char **argv, const struct argp_option *opts)
{
	static const char *const built_in[] = { "help", "usage", "version" };
	const char *words[ARRAY_LEN(option_table) + ARRAY_LEN(built_in)];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(built_in); i++)
		words[n++] = built_in[i];
	for (size_t i = 0; opts[i].name; i++)
		words[n++] = opts[i].name;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		bool skip = strcmp(argv[i], "-o") == 0;
		if (strncmp(argv[i], "--", 2) == 0 &&
		    refuse_unknown_option(argv[i], argv[0], opts, words, n, &skip) != 0)
			return STATUS_BAD_INPUT;
		i += skip;
	}
	return 0;
}

/* A first word that is no file may be a mistyped command. */
static int refuse_unknown_command(const struct cmd_options *o)
{
	for (size_t i = 0; i < o->nwords; i++) {
		const char *w = o->words[i];
		if (strcmp(w, "-") == 0 || strpbrk(w, "/.") || access(w, F_OK) == 0)
			continue;
		if (cmd_find(w))
			return cmd_error("'%s' is a command: write it first, as in 'wpsim %s ...'",
					 w, w);
		if (i == 0 && nearest_command(w))
			return cmd_unknown(w);
	}
	return 0;
}

int cmd_main(int argc, char **argv)
{
	const struct command *c = argc > 1 ? cmd_find(argv[1]) : NULL;
	struct cmd_options o = { .timeline = true, .tolerance = -1 };
	struct description d;
	char *name;
	int status;

	output_init();
	argp_err_exit_status = STATUS_BAD_INPUT;
	/* The note about arguments of short options is of no use: only one option has both. */
	setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
	if (c) {
		argv++;
		argc--;
		name = xasprintf("wpsim %s", c->name);
	} else {
		c = commands;
		name = xstrdup("wpsim");
	}
	if (argc > 0)
		argv[0] = name;
	set_colour(&o, NULL);
	describe(c, &d);
	status = refuse_unknown_options(argc, argv, d.options);
	if (!status)
		status = argp_parse(&d.argp, argc, argv, 0, NULL, &o) ? STATUS_BAD_INPUT : 0;
	if (!status && c == commands)
		status = refuse_unknown_command(&o);
	if (!status && o.format == FORMAT_CSV && c->letter != FOR_COMPARE)
		status = cmd_error("--format csv is for 'wpsim compare'");
	if (!status && c->needs_words && o.nwords == 0)
		status = cmd_error("give at least one %s, or - for standard input\n"
				   "Try '%s --help'.", c->words, name);
	if (!status)
		status = c->run(&o);
	free(o.words);
	free(o.args);
	free(o.dumps);
	free(o.trips);
	strbuf_free(&d.doc);
	free(name);
	return status;
}
