#pragma once

#include <zlib.h>

// deflateInit2 is a macro over the structure's size, which Swift cannot call. windowBits chooses the wrapping: 15 is zlib's, 31 is gzip's.
static inline int CZlib_deflateInit(z_streamp stream, int level, int windowBits) {
  return deflateInit2(stream, level, Z_DEFLATED, windowBits, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
}

// The same for inflateInit2; -15 is a stream without wrapping.
static inline int CZlib_inflateInit(z_streamp stream, int windowBits) { return inflateInit2(stream, windowBits); }
