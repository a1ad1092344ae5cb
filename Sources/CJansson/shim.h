#ifndef CARPOOL_CJANSSON_SHIM_H
#define CARPOOL_CJANSSON_SHIM_H

#include <jansson.h>

// json_typeof is a function-like macro, which Swift cannot call.
static inline json_type CJansson_typeof(const json_t *value) { return json_typeof(value); }

#endif
