/* The server's own API: paths under /api and the dashboard, bearer tokens, tickets and cookies, problem+json. */
#ifndef DOORS_NATIVE_NATIVE_H
#define DOORS_NATIVE_NATIVE_H

#include "api/core/door.h"

extern const struct door native_door;

#endif
