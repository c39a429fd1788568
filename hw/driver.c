#include "driver.h"

#include <string.h>

void driver_launch_set(struct driver_launch *d, struct driver_attribute *a, const struct hw_launch *l)
{
	memset(a, 0, sizeof(*a));
	memset(d, 0, sizeof(*d));
	a->id = LAUNCH_ATTR_CLUSTER;
	memcpy(a->value.cluster, l->cluster, sizeof(a->value.cluster));
	memcpy(d->grid, l->grid, sizeof(d->grid));
	memcpy(d->block, l->block, sizeof(d->block));
	d->shared_bytes = l->shared_bytes;
	d->attrs = a;
	d->nattrs = 1;
}

enum driver_wait driver_wait_event(int (*query)(void *event), void *event, double timeout_s, int *result,
				   struct hw_error *e)
{
	double start = hw_now_s();

	for (;;) {
		double waited = hw_now_s() - start;

		*result = query(event);
		if (*result == DRIVER_SUCCESS)
			return WAIT_ENDED;
		if (*result != DRIVER_NOT_READY)
			return WAIT_FAILED;
		if (hw_interrupted()) {
			hw_fail(e, "interrupted while the kernel ran");
			return WAIT_GIVEN_UP;
		}
		if (timeout_s > 0 && waited > timeout_s) {
			hw_fail(e, "the kernel did not end within %.3g s: it hangs, or is far slower than expected",
				timeout_s);
			return WAIT_GIVEN_UP;
		}
		hw_nap(waited);
	}
}
