/* Questions about text. */
#ifndef DOMAIN_TEXT_H
#define DOMAIN_TEXT_H

#include "base/slice.h"

/* Characters, not bytes, of valid UTF-8. */
size_t text_chars(struct slice text);
/* 8-4-4-4-12 hexadecimal digits. */
bool text_is_uuid(struct slice text);

#endif
