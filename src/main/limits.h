/* What the options say, as each room wants to hear it. */
#ifndef MAIN_LIMITS_H
#define MAIN_LIMITS_H

#include "main/options.h"
#include "net/server.h"
#include "service/core/service.h"

/* Without clock and ids. */
struct service limits_of_service(const struct options *options);
struct server_limits limits_of_server(const struct options *options);
/* Where files of sessions are kept; `directory` is borrowed. */
struct blob_place blobs_of(const struct options *options, const char *directory);

#endif
