/* Error answers: application/problem+json with a stable `code`. */
#ifndef API_PROBLEM_H
#define API_PROBLEM_H

#include "net/exchange.h"

/* Fills the exchange's answer, dropping whatever was there. `members` are further ones of the object, or absent. */
void problem_answer(struct exchange *exchange, const struct failure *failure, struct slice members);

#endif
