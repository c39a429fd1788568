/*
 * NVIDIA: the driver's own interface (libcuda.so.1). Types and numbers below are those of its binary
 * interface, which later drivers keep; functions are looked up by their exported names.
 */
#include "hw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dl.h"
#include "driver.h"

typedef int cu_result;

enum { /* CUdevice_attribute */
	ATTR_WARP_SIZE = 10, ATTR_CLOCK_KHZ = 13, ATTR_UNITS = 16, ATTR_MAJOR = 75, ATTR_MINOR = 76,
	ATTR_SHARED_OPTIN = 97
};
enum { FUNC_MAX_THREADS = 0, FUNC_SHARED = 1, FUNC_LOCAL = 3, FUNC_REGISTERS = 4, FUNC_MAX_DYNAMIC_SHARED = 8 };
enum { JIT_INFO_LOG = 3, JIT_INFO_LOG_BYTES = 4, JIT_ERROR_LOG = 5, JIT_ERROR_LOG_BYTES = 6 };
struct cu_api {
	cu_result (*init)(unsigned flags);
	cu_result (*error_string)(cu_result r, const char **text);
	cu_result (*error_name)(cu_result r, const char **text);
	cu_result (*driver_version)(int *version);
	cu_result (*device_count)(int *n);
	cu_result (*device_get)(int *device, int ordinal);
	cu_result (*device_name)(char *name, int len, int device);
	cu_result (*device_attribute)(int *value, int attribute, int device);
	cu_result (*device_memory)(size_t *bytes, int device);
	cu_result (*context_retain)(void **context, int device);
	cu_result (*context_release)(int device);
	cu_result (*context_set)(void *context);
	cu_result (*module_load)(void **module, const void *image, unsigned noptions, int *options, void **values);
	cu_result (*module_unload)(void *module);
	cu_result (*module_function)(void **function, void *module, const char *name);
	cu_result (*function_get)(int *value, int attribute, void *function);
	cu_result (*function_set)(void *function, int attribute, int value);
	cu_result (*mem_alloc)(unsigned long long *address, size_t bytes);
	cu_result (*mem_free)(unsigned long long address);
	cu_result (*copy_to)(unsigned long long to, const void *from, size_t bytes);
	cu_result (*copy_from)(void *to, unsigned long long from, size_t bytes);
	cu_result (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
			    unsigned shared_bytes, void *stream, void **args, void **extra);
	cu_result (*launch_ex)(const struct driver_launch *config, void *function, void **args, void **extra);
	cu_result (*event_create)(void **event, unsigned flags);
	cu_result (*event_record)(void *event, void *stream);
	cu_result (*event_query)(void *event);
	cu_result (*event_ms)(float *ms, void *begin, void *end);
	cu_result (*event_destroy)(void *event);
};

#define SYMBOL(field, name, optional) { name, offsetof(struct cu_api, field), optional }
static const struct dl_symbol symbols[] = {
	SYMBOL(init, "cuInit", false),
	SYMBOL(error_string, "cuGetErrorString", false),
	SYMBOL(error_name, "cuGetErrorName", false),
	SYMBOL(driver_version, "cuDriverGetVersion", false),
	SYMBOL(device_count, "cuDeviceGetCount", false),
	SYMBOL(device_get, "cuDeviceGet", false),
	SYMBOL(device_name, "cuDeviceGetName", false),
	SYMBOL(device_attribute, "cuDeviceGetAttribute", false),
	SYMBOL(device_memory, "cuDeviceTotalMem_v2", false),
	SYMBOL(context_retain, "cuDevicePrimaryCtxRetain", false),
	SYMBOL(context_release, "cuDevicePrimaryCtxRelease_v2", false),
	SYMBOL(context_set, "cuCtxSetCurrent", false),
	SYMBOL(module_load, "cuModuleLoadDataEx", false),
	SYMBOL(module_unload, "cuModuleUnload", false),
	SYMBOL(module_function, "cuModuleGetFunction", false),
	SYMBOL(function_get, "cuFuncGetAttribute", false),
	SYMBOL(function_set, "cuFuncSetAttribute", false),
	SYMBOL(mem_alloc, "cuMemAlloc_v2", false),
	SYMBOL(mem_free, "cuMemFree_v2", false),
	SYMBOL(copy_to, "cuMemcpyHtoD_v2", false),
	SYMBOL(copy_from, "cuMemcpyDtoH_v2", false),
	SYMBOL(launch, "cuLaunchKernel", false),
	SYMBOL(launch_ex, "cuLaunchKernelEx", true),
	SYMBOL(event_create, "cuEventCreate", false),
	SYMBOL(event_record, "cuEventRecord", false),
	SYMBOL(event_query, "cuEventQuery", false),
	SYMBOL(event_ms, "cuEventElapsedTime", false),
	SYMBOL(event_destroy, "cuEventDestroy_v2", false),
};

#define LIBRARY_WHAT "the CUDA driver"

struct hw_context {
	struct cu_api api;
	void *library;
	int device;
	void *context;
	void *begin, *end; /* events */
	bool lost;         /* a launch did not end, or failed inside: the driver must not be asked any more */
	char jit_log[16384];
};

struct cu_function {
	void *module, *function;
};

static int fail_cu(struct hw_context *c, cu_result r, const char *what, struct hw_error *e)
{
	const char *text = NULL, *name = NULL;

	if (c->api.error_string(r, &text) != DRIVER_SUCCESS)
		text = NULL;
	if (c->api.error_name(r, &name) != DRIVER_SUCCESS)
		name = NULL;
	/* An error inside a kernel (700 and up: bad address, trap, time-out) poisons the context. */
	if (r >= 700 && r < 800)
		c->lost = true;
	return hw_fail(e, "%s failed: %s (%s, %d)", what, text ? text : "no text for this error", name ? name : "?", r);
}

#define TRY(call, what) do { \
		cu_result r_ = c->api.call; \
		if (r_ != DRIVER_SUCCESS) \
			return fail_cu(c, r_, what, e); \
	} while (0)

static void cuda_close(struct hw_context *c)
{
	if (!c)
		return;
	if (c->context && !c->lost) {
		if (c->begin)
			c->api.event_destroy(c->begin);
		if (c->end)
			c->api.event_destroy(c->end);
		c->api.context_release(c->device);
	}
	/* The library stays open: it has threads and exit handlers of its own. */
	free(c);
}

static int open_device(struct hw_context *c, unsigned device, struct hw_error *e)
{
	int n = 0;
	cu_result r = c->api.init(0);

	if (r == DRIVER_NO_DEVICE)
		return hw_fail(e, "the CUDA driver is here, but no NVIDIA GPU");
	if (r != DRIVER_SUCCESS)
		return fail_cu(c, r, "starting the CUDA driver (cuInit)", e);
	TRY(device_count(&n), "counting GPUs (cuDeviceGetCount)");
	if (n <= 0)
		return hw_fail(e, "the CUDA driver is here, but no NVIDIA GPU");
	if (device >= (unsigned)n)
		return hw_fail(e, "there is no GPU %u: the CUDA driver has %d, counted from 0", device, n);
	TRY(device_get(&c->device, (int)device), "choosing a GPU (cuDeviceGet)");
	TRY(context_retain(&c->context, c->device), "opening the GPU (cuDevicePrimaryCtxRetain)");
	TRY(context_set(c->context), "using the GPU's context (cuCtxSetCurrent)");
	TRY(event_create(&c->begin, 0), "making an event (cuEventCreate)");
	TRY(event_create(&c->end, 0), "making an event (cuEventCreate)");
	return 0;
}

static int cuda_open(struct hw_context **out, unsigned device, struct hw_error *e)
{
	/* The last is where containers put the driver of their host. */
	static const char *const names[] = { "libcuda.so.1", "libcuda.so", "/usr/local/nvidia/lib64/libcuda.so.1", NULL };
	struct hw_context *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return hw_fail(e, "no memory for a CUDA context");
	c->library = dl_open(names, LIBRARY_WHAT, e);
	if (!c->library ||
	    dl_symbols(c->library, LIBRARY_WHAT, symbols, sizeof(symbols) / sizeof(symbols[0]), &c->api, e) != 0) {
		dl_close(c->library);
		free(c);
		return -1;
	}
	if (open_device(c, device, e) != 0) {
		cuda_close(c);
		return -1;
	}
	*out = c;
	return 0;
}

static int attribute(struct hw_context *c, int which, int *value, struct hw_error *e)
{
	*value = 0;
	TRY(device_attribute(value, which, c->device), "asking for a property of the GPU (cuDeviceGetAttribute)");
	return 0;
}

static int cuda_describe(struct hw_context *c, struct hw_device *out, struct hw_error *e)
{
	int major, minor, units, warp, khz, shared, version = 0;
	size_t memory = 0;

	memset(out, 0, sizeof(*out));
	TRY(device_name(out->name, sizeof(out->name), c->device), "asking for the GPU's name (cuDeviceGetName)");
	out->name[sizeof(out->name) - 1] = '\0';
	TRY(device_memory(&memory, c->device), "asking for the GPU's memory (cuDeviceTotalMem)");
	TRY(driver_version(&version), "asking for the driver's version (cuDriverGetVersion)");
	if (attribute(c, ATTR_MAJOR, &major, e) != 0 || attribute(c, ATTR_MINOR, &minor, e) != 0 ||
	    attribute(c, ATTR_UNITS, &units, e) != 0 || attribute(c, ATTR_WARP_SIZE, &warp, e) != 0 ||
	    attribute(c, ATTR_SHARED_OPTIN, &shared, e) != 0)
		return -1;
	if (attribute(c, ATTR_CLOCK_KHZ, &khz, e) != 0)
		khz = 0; /* not told by every driver */
	snprintf(out->arch, sizeof(out->arch), "sm_%d%d", major, minor);
	snprintf(out->driver, sizeof(out->driver), "CUDA %d.%d", version / 1000, version % 1000 / 10);
	out->units = (unsigned)units;
	out->wave_size = (unsigned)warp;
	out->clock_mhz = (unsigned)(khz / 1000);
	out->shared_bytes = (unsigned)shared;
	out->memory_bytes = memory;
	return 0;
}

/* The compiler's first complaint, or the first line of its log. */
static const char *first_complaint(char *log)
{
	char *at = strstr(log, "error");

	if (!at)
		at = log;
	else
		while (at > log && at[-1] != '\n')
			at--;
	at[strcspn(at, "\n")] = '\0';
	return at;
}

static int load_module(struct hw_context *c, const char *text, void **module, struct hw_error *e)
{
	char info[4096] = "";
	int options[] = { JIT_INFO_LOG, JIT_INFO_LOG_BYTES, JIT_ERROR_LOG, JIT_ERROR_LOG_BYTES };
	void *values[] = { info, (void *)sizeof(info), c->jit_log, (void *)(sizeof(c->jit_log) - 1) };
	cu_result r;

	c->jit_log[0] = '\0';
	r = c->api.module_load(module, text, sizeof(options) / sizeof(options[0]), options, values);
	c->jit_log[sizeof(c->jit_log) - 1] = '\0';
	if (r == DRIVER_SUCCESS)
		return 0;
	if (c->jit_log[0])
		return hw_fail(e, "the driver's compiler refuses the kernel (%d): %s", r, first_complaint(c->jit_log));
	return fail_cu(c, r, "loading the kernel (cuModuleLoadDataEx)", e);
}

static int find_function(struct hw_context *c, void *module, const char *kernel, void **function, struct hw_error *e)
{
	cu_result r = c->api.module_function(function, module, kernel);

	if (r == DRIVER_SUCCESS)
		return 0;
	fail_cu(c, r, "finding the kernel in its module (cuModuleGetFunction)", e);
	return -1;
}

static int cuda_load(struct hw_context *c, const void *image, size_t bytes, const char *kernel, void **function,
		     struct hw_error *e)
{
	struct cu_function *f = calloc(1, sizeof(*f));
	char *text = malloc(bytes + 1);
	int rc;

	*function = NULL;
	if (!f || !text) {
		free(f);
		free(text);
		return hw_fail(e, "no memory to load a kernel of %zu bytes", bytes);
	}
	memcpy(text, image, bytes);
	text[bytes] = '\0'; /* PTX is read up to a zero */
	rc = load_module(c, text, &f->module, e);
	free(text);
	if (rc == 0 && find_function(c, f->module, kernel, &f->function, e) != 0) {
		c->api.module_unload(f->module);
		rc = -1;
	}
	if (rc != 0) {
		free(f);
		return -1;
	}
	*function = f;
	return 0;
}

static int cuda_inspect(struct hw_context *c, void *function, struct hw_function *out, struct hw_error *e)
{
	struct cu_function *f = function;
	int registers = 0, local = 0, shared = 0, threads = 0;

	TRY(function_get(&registers, FUNC_REGISTERS, f->function), "asking for a kernel's registers");
	TRY(function_get(&local, FUNC_LOCAL, f->function), "asking for a kernel's local memory");
	TRY(function_get(&shared, FUNC_SHARED, f->function), "asking for a kernel's shared memory");
	TRY(function_get(&threads, FUNC_MAX_THREADS, f->function), "asking for a kernel's threads");
	*out = (struct hw_function){ (unsigned)registers, (unsigned)local, (unsigned)shared, (unsigned)threads };
	return 0;
}

static void cuda_unload(struct hw_context *c, void *function)
{
	struct cu_function *f = function;

	if (f && !c->lost)
		c->api.module_unload(f->module);
	free(f);
}

static int cuda_alloc(struct hw_context *c, uint64_t bytes, uint64_t *address, struct hw_error *e)
{
	unsigned long long p = 0;
	cu_result r = c->api.mem_alloc(&p, bytes);

	*address = p;
	if (r != DRIVER_SUCCESS) {
		char what[96];

		snprintf(what, sizeof(what), "taking %llu bytes of GPU memory (cuMemAlloc)", (unsigned long long)bytes);
		return fail_cu(c, r, what, e);
	}
	return 0;
}

static void cuda_release(struct hw_context *c, uint64_t address)
{
	if (address && !c->lost)
		c->api.mem_free(address);
}

static int cuda_copy_to(struct hw_context *c, uint64_t address, const void *from, uint64_t bytes, struct hw_error *e)
{
	TRY(copy_to(address, from, bytes), "copying to the GPU (cuMemcpyHtoD)");
	return 0;
}

static int cuda_copy_from(struct hw_context *c, void *to, uint64_t address, uint64_t bytes, struct hw_error *e)
{
	TRY(copy_from(to, address, bytes), "copying from the GPU (cuMemcpyDtoH)");
	return 0;
}

static int launch(struct hw_context *c, void *function, const struct hw_launch *l, struct hw_error *e)
{
	void **args = (void **)(uintptr_t)l->args; /* the driver reads them only */
	struct driver_attribute attr;
	struct driver_launch config;

	if (!launch_clustered(l)) {
		TRY(launch(function, l->grid[0], l->grid[1], l->grid[2], l->block[0], l->block[1], l->block[2],
			   l->shared_bytes, NULL, args, NULL), "launching the kernel (cuLaunchKernel)");
		return 0;
	}
	if (!c->api.launch_ex)
		return hw_fail(e, "this CUDA driver can't launch clusters: it has no cuLaunchKernelEx");
	driver_launch_set(&config, &attr, l);
	TRY(launch_ex(&config, function, args, NULL), "launching the kernel in clusters (cuLaunchKernelEx)");
	return 0;
}

/* Until the end event has passed. */
static int wait_for_end(struct hw_context *c, double timeout_s, struct hw_error *e)
{
	cu_result r;

	switch (driver_wait_event(c->api.event_query, c->end, timeout_s, &r, e)) {
	case WAIT_ENDED: return 0;
	case WAIT_FAILED: return fail_cu(c, r, "the kernel", e);
	default: c->lost = true; return -1;
	}
}

static int cuda_run(struct hw_context *c, void *function, const struct hw_launch *l, double *ms, struct hw_error *e)
{
	struct cu_function *f = function;
	float elapsed = 0;

	if (c->lost)
		return hw_fail(e, "an earlier kernel hung or failed inside the GPU: start wpsim anew");
	if (l->shared_bytes > 0)
		TRY(function_set(f->function, FUNC_MAX_DYNAMIC_SHARED, (int)l->shared_bytes),
		    "asking for the kernel's shared memory (cuFuncSetAttribute)");
	TRY(event_record(c->begin, NULL), "recording an event (cuEventRecord)");
	if (launch(c, f->function, l, e) != 0)
		return -1;
	TRY(event_record(c->end, NULL), "recording an event (cuEventRecord)");
	if (wait_for_end(c, l->timeout_s, e) != 0)
		return -1;
	TRY(event_ms(&elapsed, c->begin, c->end), "reading the time (cuEventElapsedTime)");
	*ms = elapsed;
	return 0;
}

const struct hw_backend hw_cuda = {
	.name = "cuda",
	.library = "libcuda.so.1",
	.open = cuda_open,
	.close = cuda_close,
	.describe = cuda_describe,
	.load = cuda_load,
	.inspect = cuda_inspect,
	.unload = cuda_unload,
	.alloc = cuda_alloc,
	.release = cuda_release,
	.copy_to = cuda_copy_to,
	.copy_from = cuda_copy_from,
	.run = cuda_run,
};
