/* The running server. */
#ifndef MAIN_SERVE_H
#define MAIN_SERVE_H

#include "main/options.h"

/* Starts everything, waits for SIGTERM or SIGINT, stops everything. Returns the exit code. What the environment has of
 * our name and nobody reads is logged. */
int serve(const struct options *options, char *const *environment);

#endif
