/* The protocols that this server speaks with clients. */
#ifndef MAIN_DOORS_H
#define MAIN_DOORS_H

#include "api/core/door.h"

/* Ends with NULL; the native API, which has all paths that no other door has, comes last. */
extern const struct door *const server_doors[];

#endif
