/*
 * AMD: the HIP runtime (libamdhip64.so), release 5 and later. No HIP header is needed: the types and
 * numbers below are those of its binary interface and did not change over these releases. The one
 * structure that did, the properties of a device, is not laid out here: see find_arch.
 */
#include "hw.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dl.h"
#include "driver.h"

typedef int hip_result;

enum { /* hipDeviceAttribute_t */
	ATTR_CLOCK_KHZ = 5, ATTR_UNITS = 63, ATTR_SHARED = 74, ATTR_WARP_SIZE = 87
};
enum { FUNC_MAX_THREADS = 0, FUNC_SHARED = 1, FUNC_LOCAL = 3, FUNC_REGISTERS = 4 };

#define PROPERTIES_BYTES 16384 /* far more than any release's structure */

struct hip_api {
	hip_result (*init)(unsigned flags);
	const char *(*error_string)(hip_result r);
	const char *(*error_name)(hip_result r);
	hip_result (*runtime_version)(int *version);
	hip_result (*device_count)(int *n);
	hip_result (*device_set)(int device);
	hip_result (*device_name)(char *name, int len, int device);
	hip_result (*device_attribute)(int *value, int attribute, int device);
	hip_result (*device_memory)(size_t *bytes, int device);
	hip_result (*properties)(void *properties, int device);      /* up to release 5 */
	hip_result (*properties_r0600)(void *properties, int device); /* from release 6 on */
	hip_result (*module_load)(void **module, const void *image);
	hip_result (*module_unload)(void *module);
	hip_result (*module_function)(void **function, void *module, const char *name);
	hip_result (*function_get)(int *value, int attribute, void *function);
	hip_result (*mem_alloc)(void **address, size_t bytes);
	hip_result (*mem_free)(void *address);
	hip_result (*copy_to)(void *to, void *from, size_t bytes);
	hip_result (*copy_from)(void *to, void *from, size_t bytes);
	hip_result (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
			     unsigned bz, unsigned shared_bytes, void *stream, void **args, void **extra);
	hip_result (*launch_ex)(const struct driver_launch *config, void *function, void **args, void **extra);
	hip_result (*event_create)(void **event);
	hip_result (*event_record)(void *event, void *stream);
	hip_result (*event_query)(void *event);
	hip_result (*event_ms)(float *ms, void *begin, void *end);
	hip_result (*event_destroy)(void *event);
};

#define SYMBOL(field, name, optional) { name, offsetof(struct hip_api, field), optional }
static const struct dl_symbol symbols[] = {
	SYMBOL(init, "hipInit", false),
	SYMBOL(error_string, "hipGetErrorString", false),
	SYMBOL(error_name, "hipGetErrorName", false),
	SYMBOL(runtime_version, "hipRuntimeGetVersion", false),
	SYMBOL(device_count, "hipGetDeviceCount", false),
	SYMBOL(device_set, "hipSetDevice", false),
	SYMBOL(device_name, "hipDeviceGetName", false),
	SYMBOL(device_attribute, "hipDeviceGetAttribute", false),
	SYMBOL(device_memory, "hipDeviceTotalMem", false),
	SYMBOL(properties_r0600, "hipGetDevicePropertiesR0600", true),
	SYMBOL(properties, "hipGetDeviceProperties", true),
	SYMBOL(module_load, "hipModuleLoadData", false),
	SYMBOL(module_unload, "hipModuleUnload", false),
	SYMBOL(module_function, "hipModuleGetFunction", false),
	SYMBOL(function_get, "hipFuncGetAttribute", false),
	SYMBOL(mem_alloc, "hipMalloc", false),
	SYMBOL(mem_free, "hipFree", false),
	SYMBOL(copy_to, "hipMemcpyHtoD", false),
	SYMBOL(copy_from, "hipMemcpyDtoH", false),
	SYMBOL(launch, "hipModuleLaunchKernel", false),
	SYMBOL(launch_ex, "hipDrvLaunchKernelEx", true),
	SYMBOL(event_create, "hipEventCreate", false),
	SYMBOL(event_record, "hipEventRecord", false),
	SYMBOL(event_query, "hipEventQuery", false),
	SYMBOL(event_ms, "hipEventElapsedTime", false),
	SYMBOL(event_destroy, "hipEventDestroy", false),
};

#define LIBRARY_WHAT "the HIP runtime"

struct hw_context {
	struct hip_api api;
	void *library;
	int device;
	void *begin, *end; /* events */
	bool lost;         /* a launch did not end, or failed inside: the runtime must not be asked any more */
};

struct hip_function {
	void *module, *function;
};

static int fail_hip(struct hw_context *c, hip_result r, const char *what, struct hw_error *e)
{
	const char *text = c->api.error_string(r), *name = c->api.error_name(r);

	if (r >= 700 && r < 800)
		c->lost = true;
	return hw_fail(e, "%s failed: %s (%s, %d)", what, text ? text : "no text for this error", name ? name : "?", r);
}

#define TRY(call, what) do { \
		hip_result r_ = c->api.call; \
		if (r_ != DRIVER_SUCCESS) \
			return fail_hip(c, r_, what, e); \
	} while (0)

static void hip_close(struct hw_context *c)
{
	if (!c)
		return;
	if (!c->lost) {
		if (c->begin)
			c->api.event_destroy(c->begin);
		if (c->end)
			c->api.event_destroy(c->end);
	}
	/* The library stays open: it has threads and exit handlers of its own. */
	free(c);
}

static int open_device(struct hw_context *c, unsigned device, struct hw_error *e)
{
	int n = 0;
	hip_result r = c->api.init(0);

	if (r == DRIVER_SUCCESS)
		r = c->api.device_count(&n);
	/* Without a device release 5 says "invalid device". */
	if (r == DRIVER_NO_DEVICE || r == DRIVER_INVALID_DEVICE || (r == DRIVER_SUCCESS && n <= 0))
		return hw_fail(e, "the HIP runtime is here, but no AMD GPU");
	if (r != DRIVER_SUCCESS)
		return fail_hip(c, r, "starting the HIP runtime (hipInit)", e);
	if (device >= (unsigned)n)
		return hw_fail(e, "there is no GPU %u: the HIP runtime has %d, counted from 0", device, n);
	c->device = (int)device;
	TRY(device_set(c->device), "choosing a GPU (hipSetDevice)");
	TRY(event_create(&c->begin), "making an event (hipEventCreate)");
	TRY(event_create(&c->end), "making an event (hipEventCreate)");
	return 0;
}

static int hip_open(struct hw_context **out, unsigned device, struct hw_error *e)
{
	static const char *const names[] = { "libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
					     "/opt/rocm/lib/libamdhip64.so", NULL };
	struct hw_context *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return hw_fail(e, "no memory for a HIP context");
	c->library = dl_open(names, LIBRARY_WHAT, e);
	if (!c->library ||
	    dl_symbols(c->library, LIBRARY_WHAT, symbols, sizeof(symbols) / sizeof(symbols[0]), &c->api, e) != 0) {
		dl_close(c->library);
		free(c);
		return -1;
	}
	if (open_device(c, device, e) != 0) {
		hip_close(c);
		return -1;
	}
	*out = c;
	return 0;
}

static int attribute(struct hw_context *c, int which, int *value, struct hw_error *e)
{
	*value = 0;
	TRY(device_attribute(value, which, c->device), "asking for a property of the GPU (hipDeviceGetAttribute)");
	return 0;
}

/*
 * The architecture is text, and stands in the properties at a place that moved between releases. It is
 * the only text there of the form gfx, then digits and small hexadecimal letters, perhaps with features
 * behind colons: it is searched.
 */
static int find_arch(struct hw_context *c, char *arch, size_t bytes, struct hw_error *e)
{
	char *p = calloc(1, PROPERTIES_BYTES);
	hip_result r = DRIVER_SUCCESS;
	size_t n = 0;

	if (!p)
		return hw_fail(e, "no memory for the GPU's properties");
	if (c->api.properties_r0600)
		r = c->api.properties_r0600(p, c->device);
	else if (c->api.properties)
		r = c->api.properties(p, c->device);
	for (size_t i = 0; r == DRIVER_SUCCESS && n == 0 && i + 64 < PROPERTIES_BYTES; i++) {
		if (memcmp(p + i, "gfx", 3) != 0 || !isdigit((unsigned char)p[i + 3]))
			continue;
		for (n = 3; isxdigit((unsigned char)p[i + n]) && n + 1 < bytes; n++)
			;
		memcpy(arch, p + i, n);
		arch[n] = '\0';
	}
	free(p);
	if (r != DRIVER_SUCCESS)
		return fail_hip(c, r, "asking for the GPU's properties (hipGetDeviceProperties)", e);
	return n ? 0 : hw_fail(e, "the HIP runtime does not tell the GPU's architecture");
}

static int hip_describe(struct hw_context *c, struct hw_device *out, struct hw_error *e)
{
	int units, warp, khz, shared, version = 0;
	size_t memory = 0;

	memset(out, 0, sizeof(*out));
	TRY(device_name(out->name, sizeof(out->name), c->device), "asking for the GPU's name (hipDeviceGetName)");
	out->name[sizeof(out->name) - 1] = '\0';
	if (find_arch(c, out->arch, sizeof(out->arch), e) != 0)
		return -1;
	TRY(device_memory(&memory, c->device), "asking for the GPU's memory (hipDeviceTotalMem)");
	TRY(runtime_version(&version), "asking for the runtime's version (hipRuntimeGetVersion)");
	if (attribute(c, ATTR_UNITS, &units, e) != 0 || attribute(c, ATTR_WARP_SIZE, &warp, e) != 0 ||
	    attribute(c, ATTR_SHARED, &shared, e) != 0 || attribute(c, ATTR_CLOCK_KHZ, &khz, e) != 0)
		return -1;
	snprintf(out->driver, sizeof(out->driver), "HIP %d.%d.%d", version / 10000000, version / 100000 % 100,
		 version % 100000);
	out->units = (unsigned)units;
	out->wave_size = (unsigned)warp;
	out->clock_mhz = (unsigned)(khz / 1000);
	out->shared_bytes = (unsigned)shared;
	out->memory_bytes = memory;
	return 0;
}

static int hip_load(struct hw_context *c, const void *image, size_t bytes, const char *kernel, void **function,
		    struct hw_error *e)
{
	struct hip_function *f = calloc(1, sizeof(*f));
	hip_result r;

	*function = NULL;
	if (!f)
		return hw_fail(e, "no memory to load a kernel");
	if (bytes < 4 || memcmp(image, "\177ELF", 4) != 0) {
		free(f);
		return hw_fail(e, "HIP loads code objects, and this is none");
	}
	r = c->api.module_load(&f->module, image);
	if (r != DRIVER_SUCCESS) {
		free(f);
		return fail_hip(c, r, "loading the code object (hipModuleLoadData)", e);
	}
	r = c->api.module_function(&f->function, f->module, kernel);
	if (r != DRIVER_SUCCESS) {
		c->api.module_unload(f->module);
		free(f);
		return fail_hip(c, r, "finding the kernel in its code object (hipModuleGetFunction)", e);
	}
	*function = f;
	return 0;
}

static int hip_inspect(struct hw_context *c, void *function, struct hw_function *out, struct hw_error *e)
{
	struct hip_function *f = function;
	int registers = 0, local = 0, shared = 0, threads = 0;

	TRY(function_get(&registers, FUNC_REGISTERS, f->function), "asking for a kernel's registers");
	TRY(function_get(&local, FUNC_LOCAL, f->function), "asking for a kernel's scratch memory");
	TRY(function_get(&shared, FUNC_SHARED, f->function), "asking for a kernel's LDS");
	TRY(function_get(&threads, FUNC_MAX_THREADS, f->function), "asking for a kernel's threads");
	*out = (struct hw_function){ (unsigned)registers, (unsigned)local, (unsigned)shared, (unsigned)threads };
	return 0;
}

static void hip_unload(struct hw_context *c, void *function)
{
	struct hip_function *f = function;

	if (f && !c->lost)
		c->api.module_unload(f->module);
	free(f);
}

static int hip_alloc(struct hw_context *c, uint64_t bytes, uint64_t *address, struct hw_error *e)
{
	void *p = NULL;
	hip_result r = c->api.mem_alloc(&p, bytes);
	char what[96];

	*address = (uintptr_t)p;
	if (r == DRIVER_SUCCESS)
		return 0;
	snprintf(what, sizeof(what), "taking %llu bytes of GPU memory (hipMalloc)", (unsigned long long)bytes);
	return fail_hip(c, r, what, e);
}

static void hip_release(struct hw_context *c, uint64_t address)
{
	if (address && !c->lost)
		c->api.mem_free((void *)(uintptr_t)address);
}

static int hip_copy_to(struct hw_context *c, uint64_t address, const void *from, uint64_t bytes, struct hw_error *e)
{
	TRY(copy_to((void *)(uintptr_t)address, (void *)(uintptr_t)from, bytes), "copying to the GPU (hipMemcpyHtoD)");
	return 0;
}

static int hip_copy_from(struct hw_context *c, void *to, uint64_t address, uint64_t bytes, struct hw_error *e)
{
	TRY(copy_from(to, (void *)(uintptr_t)address, bytes), "copying from the GPU (hipMemcpyDtoH)");
	return 0;
}

static int launch(struct hw_context *c, void *function, const struct hw_launch *l, struct hw_error *e)
{
	void **args = (void **)(uintptr_t)l->args; /* the runtime reads them only */
	struct driver_attribute attr;
	struct driver_launch config;

	if (!launch_clustered(l)) {
		TRY(launch(function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
			   l->shared_bytes, NULL, args, NULL), "launching the kernel (hipModuleLaunchKernel)");
		return 0;
	}
	if (!c->api.launch_ex)
		return hw_fail(e, "this HIP runtime can't launch clusters: it has no hipDrvLaunchKernelEx");
	driver_launch_set(&config, &attr, l);
	TRY(launch_ex(&config, function, args, NULL), "launching the kernel in clusters (hipDrvLaunchKernelEx)");
	return 0;
}

static int hip_run(struct hw_context *c, void *function, const struct hw_launch *l, double *ms, struct hw_error *e)
{
	struct hip_function *f = function;
	float elapsed = 0;
	hip_result r;

	if (c->lost)
		return hw_fail(e, "an earlier kernel hung or failed inside the GPU: start wpsim anew");
	TRY(event_record(c->begin, NULL), "recording an event (hipEventRecord)");
	if (launch(c, f->function, l, e) != 0)
		return -1;
	TRY(event_record(c->end, NULL), "recording an event (hipEventRecord)");
	switch (driver_wait_event(c->api.event_query, c->end, l->timeout_s, &r, e)) {
	case WAIT_ENDED: break;
	case WAIT_FAILED: return fail_hip(c, r, "the kernel", e);
	default: c->lost = true; return -1;
	}
	TRY(event_ms(&elapsed, c->begin, c->end), "reading the time (hipEventElapsedTime)");
	*ms = elapsed;
	return 0;
}

const struct hw_backend hw_hip = {
	.name = "hip",
	.library = "libamdhip64.so",
	.open = hip_open,
	.close = hip_close,
	.describe = hip_describe,
	.load = hip_load,
	.inspect = hip_inspect,
	.unload = hip_unload,
	.alloc = hip_alloc,
	.release = hip_release,
	.copy_to = hip_copy_to,
	.copy_from = hip_copy_from,
	.run = hip_run,
};
