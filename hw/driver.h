/* What the CUDA and HIP drivers have in common: the shape of a launch with attributes, and waiting for an event. */
#ifndef WPSIM_DRIVER_H
#define WPSIM_DRIVER_H

#include "hw.h"

#define DRIVER_SUCCESS 0
#define DRIVER_NO_DEVICE 100
#define DRIVER_INVALID_DEVICE 101
#define DRIVER_NOT_READY 600

#define LAUNCH_ATTR_CLUSTER 4

struct driver_attribute {
	int id;
	char pad[8 - sizeof(int)];
	union { unsigned cluster[3]; char room[64]; } value;
};
struct driver_launch {
	unsigned grid[3], block[3], shared_bytes;
	void *stream;
	struct driver_attribute *attrs;
	unsigned nattrs;
};

static inline bool launch_clustered(const struct hw_launch *l)
{
	return l->cluster[0] > 1 || l->cluster[1] > 1 || l->cluster[2] > 1;
}

/* Fill in *d with one attribute, *a: the size of a cluster. */
void driver_launch_set(struct driver_launch *d, struct driver_attribute *a, const struct hw_launch *l);

enum driver_wait { WAIT_ENDED, WAIT_FAILED, WAIT_GIVEN_UP };
/* Ask query(event) until it is no longer "not ready". *result: its last answer. GIVEN_UP: *e says why. */
enum driver_wait driver_wait_event(int (*query)(void *event), void *event, double timeout_s, int *result,
				   struct hw_error *e);

#endif
