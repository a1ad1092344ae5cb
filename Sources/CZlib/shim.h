#pragma once

#include <zlib.h>

// deflateInit2 is a macro over the structure's size, which Swift cannot call.
static inline int CZlib_deflateInit(z_streamp stream, int level) {
  return deflateInit2(stream, level, Z_DEFLATED, MAX_WBITS, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
}
