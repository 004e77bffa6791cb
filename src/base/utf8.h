/* One character as UTF-8. What whole texts are is asked of a slice: slice_is_utf8, slice_utf8_prefix. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

enum { UTF8_BYTES_MAX = 4 };

/* Returns how many bytes were written. The code is below 0x200000 and no surrogate. */
size_t utf8_put(uint32_t code, char out[UTF8_BYTES_MAX]);

#endif
