/* What options mean together. */
#ifndef MAIN_LIMITS_H
#define MAIN_LIMITS_H

#include "main/options.h"
#include "store/blob/blob.h"

/* Where files of sessions are kept; `directory` is borrowed. */
struct blob_place blobs_of(const struct options *options, const char *directory);

#endif
