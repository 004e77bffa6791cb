/* Counts failed sign-ins per address and per email, so that guessing is slow. Any thread. */
#ifndef API_SIGNIN_GUARD_H
#define API_SIGNIN_GUARD_H

#include "base/slice.h"

struct signin_guard;

struct signin_guard *signin_guard_new(int64_t attempts_max, int64_t window_ms);
void signin_guard_free(struct signin_guard *guard);
/* How long the caller must wait; 0 = go on. Counts the attempt. */
int64_t signin_guard_enter(struct signin_guard *guard, struct slice peer, struct slice email, int64_t now_ms);
/* The attempt was right: it is not counted, and what was counted for the email is forgotten. */
void signin_guard_passed(struct signin_guard *guard, struct slice peer, struct slice email);

#endif
