/* From a schedule to a measured sample: lower, emit, assemble, run at two lengths of the loop. */
#ifndef WPSIM_HW_JOB_H
#define WPSIM_HW_JOB_H

#include "cmd_run.h"
#include "emit.h"
#include "hw.h"
#include "measure.h"
#include "samples.h"

struct hw_session {
	const struct hw_backend *b;  /* NULL: not open yet */
	struct hw_context *c;
	struct hw_device device;
	unsigned warmup, repeat;
	double timeout_s;
	const char *hidden;          /* sim backend: the model that plays the hardware; NULL: the schedule's */
	double noise;                /* sim backend: relative */
};

/* Defaults from the options and the environment. */
void hw_session_init(struct hw_session *s, const struct cmd_options *o);
/* Open the backend that o names, or the first with a device of t. 0, or STATUS_NO_BACKEND or another after a message. */
int hw_session_open(struct hw_session *s, const struct cmd_options *o, const struct target *t);
void hw_session_close(struct hw_session *s);

struct hw_job { /* one schedule; each part is there when its step succeeded */
	struct arena *arena;
	struct kernel_text text;
	bool emitted;
	void *image;          /* NULL: the text itself is loaded */
	size_t image_bytes;
	char hash[17];
	struct program *shorter; /* the same kernel with fewer trips; NULL: none */
	struct schedule *shorter_schedule;
	struct measurement m;
	bool measured;
	struct sample sample; /* of strings in arena and of others' */
};

/* The program's kernel as text and image. 0, or a status after a finding or message. timing_only: a backend that
 * runs no text is satisfied with the launch alone. */
int hw_job_emit(struct hw_job *j, const struct run *r, bool timing_only, struct diag *d);
/*
 * Measure. 0; STATUS_FINDINGS when the result is wrong (E_WRONG); STATUS_NO_BACKEND after a message; others as their
 * findings say. j->sample is complete when j->measured.
 */
int hw_job_measure(struct hw_job *j, struct hw_session *s, struct run *r, const struct cmd_options *o);
void hw_job_free(struct hw_job *j);

/* The schedule of p with about half the trips, lowered for t; NULL when it has none to spare. *schedule owns its text and
 * must outlive it; both are the caller's. */
struct program *lower_shorter(const struct schedule *s, const struct program *p, const struct target *t,
			      struct schedule **schedule);

/*
 * A sample's figure as the model has it: clk of a K-step, from two lengths of the loop when it was measured so, and
 * the launch's time, at the clock that was measured. pr: the whole prediction, to be freed when 0 is returned.
 */
int predict_sample(const struct program *p, const struct program *shorter, const struct sample *s, double *clk, double *us,
		   struct prediction *pr, struct diag *d);
/* clk of one passage of a stage by a wave of group; 0: the stage is not in the steady loop. */
double predict_stage_clk(const struct prediction *pr, const char *stage, unsigned group);
/* The hash that a sample of p would have; false when p can't be emitted. */
bool hw_job_hash(const struct program *p, bool timing_only, char out[17]);

/* Trips of the main loop of group 0; 0: none. */
uint64_t program_trips(const struct program *p);
unsigned program_trip_steps(const struct program *p);

/* Ctrl-C ends the launch or the series in hand; a second one the process. */
void hw_catch_interrupt(void);

#endif
