/* The dashboard's files, bundled by tools/embed when the program is built. */
#ifndef API_DASHBOARD_H
#define API_DASHBOARD_H

#include "base/slice.h"

struct dashboard_asset {
    const char *name; /* holds a hash of the content, so that it never changes under its name */
    const char *content_type;
    struct slice plain;
    struct slice gzip;
};

extern const struct dashboard_asset dashboard_index;
extern const struct dashboard_asset dashboard_assets[]; /* ends with a NULL name */

#endif
