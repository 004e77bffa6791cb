/* Base64 (RFC 4648), strict both ways: the standard alphabet is always padded, the URL alphabet never is. */
#ifndef WIRE_BASE64_H
#define WIRE_BASE64_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"

enum base64_alphabet { BASE64_STANDARD, BASE64_URL };

/* Characters that `bytes` bytes take, padding included. */
#define BASE64_ROOM(bytes) (((bytes) + 2) / 3 * 4)

void base64_encode(struct buffer *buffer, struct slice bytes, enum base64_alphabet alphabet);
/* The same into `out`, which has BASE64_ROOM(bytes.len); returns the number of characters. No zero byte follows. */
size_t base64_encode_to(char *out, struct slice bytes, enum base64_alphabet alphabet);

/* False, with *out untouched, for foreign characters, wrong padding or bits left over. */
MUST_CHECK bool base64_decode(struct arena *arena, struct slice text, enum base64_alphabet alphabet, struct slice *out);

#endif
