/* Cookies (RFC 6265): reading what a browser sends, writing what it shall keep. */
#ifndef WIRE_COOKIE_H
#define WIRE_COOKIE_H

#include "base/buffer.h"
#include "base/status.h"

struct cookie {
    struct slice name;
    struct slice value; /* without surrounding quotes */
};

/* Takes the next well-formed pair off *rest (at first the whole header value); false at the end. Malformed pairs are
 * passed over: other programs of the same site may have set them. Slices point into the header. */
bool cookie_next(struct slice *rest, struct cookie *out);
/* The first cookie of that name, which is the one with the most specific path; absent when there is none. */
struct slice cookie_find(struct slice header, const char *name);

enum same_site { SAME_SITE_LAX, SAME_SITE_STRICT, SAME_SITE_NONE };

struct set_cookie {
    const char *name;
    struct slice value;
    const char *path;  /* NULL = "/" */
    int64_t max_age_s; /* 0 removes the cookie, negative ends it with the browser session */
    enum same_site same_site;
    bool http_only;
    bool secure;
};

/* Appends the value of a Set-Cookie header. False, with nothing appended, when name, value or path hold a character
 * that does not belong there. */
MUST_CHECK bool set_cookie_write(struct buffer *buffer, const struct set_cookie *cookie);

#endif
