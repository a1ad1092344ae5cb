#ifndef CARPOOL_CJANSSON_SHIM_H
#define CARPOOL_CJANSSON_SHIM_H

#include <jansson.h>

// json_typeof is a function-like macro, which Swift cannot call.
static inline json_type CJansson_typeof(const json_t *value) { return json_typeof(value); }

// json_error_code is both an enum tag and a function, which Swift cannot tell apart.
static inline int CJansson_error_code(const json_error_t *error) { return (int)json_error_code(error); }

#endif
