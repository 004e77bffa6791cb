/* Numbers with a unit, as people write them in files and options: 15m, 512MiB. */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

#include "base/buffer.h"

enum quantity_unit { UNIT_NONE, UNIT_MS /* ms s m h d */, UNIT_BYTES /* KiB MiB GiB */ };

/* A whole number, with a suffix of the unit or without. False, with *out untouched, when anything else stands there or
 * it does not fit. */
bool quantity_parse(struct slice text, enum quantity_unit unit, int64_t *out);
/* With the largest suffix that divides it. */
void quantity_show(int64_t number, enum quantity_unit unit, struct buffer *out);

#endif
