/* Private to the engine: the steady window's figures. */
#ifndef WPSIM_ENGINE_WINDOW_H
#define WPSIM_ENGINE_WINDOW_H

#include "engine_internal.h"

void window_finish(struct engine *e, struct stats *out);

#endif
