/* URLs (RFC 3986): percent-encoding, query strings, paths, and the addresses that options and clients take. */
#ifndef WIRE_URL_H
#define WIRE_URL_H

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"

enum { QUERY_PARAMS_MAX = 64, PATH_SEGMENTS_MAX = 32 };

/* Strict: every % needs two hex digits, and the result must be UTF-8 without a zero byte; otherwise false, with *out
 * untouched. The result points into `text` when nothing had to be decoded. */
MUST_CHECK bool url_decode(struct arena *arena, struct slice text, struct slice *out);
/* The same for a form or query, where + means a space. */
MUST_CHECK bool form_decode(struct arena *arena, struct slice text, struct slice *out);

/* Everything but letters, digits and -._~ becomes %XX. */
void url_encode(struct buffer *buffer, struct slice text);
/* Appends name=value, with & before it unless the buffer is empty or ends with ? or &. */
void form_add(struct buffer *buffer, struct slice name, struct slice value);

struct query_param {
    struct slice name;
    struct slice value; /* empty when there was no "=" */
};

struct url_query {
    struct query_param params[QUERY_PARAMS_MAX];
    size_t count;
};

/* `text` is what follows the question mark. Empty parts ("a=1&&b=2") are passed over; a name may come more than once.
 */
MUST_CHECK enum status url_query_parse(struct arena *arena, struct slice text, struct url_query *out,
                                       struct failure *failure);
/* The value of the first parameter of that name; absent when there is none. */
struct slice url_query_get(const struct url_query *query, const char *name);

struct path {
    struct slice segments[PATH_SEGMENTS_MAX];
    size_t count;
};

/* "/api/sessions/a%2Fb" → api, sessions, a/b. "/" has no segments; a trailing slash gives an empty last one. "." and
 * ".." are refused in whatever spelling, and so is a path that does not begin with a slash. */
MUST_CHECK enum status path_split(struct arena *arena, struct slice text, struct path *out, struct failure *failure);

enum url_scheme {
    URL_HTTP,
    URL_HTTPS,
    URL_WS,
    URL_WSS,
    URL_UNIX,
    URL_POSTGRES,
    URL_SCHEME_COUNT,
};

/* Slices point into the parsed text or the arena. */
struct url {
    enum url_scheme scheme;
    bool tls;
    struct slice user; /* decoded; absent when there is none */
    struct slice password;
    struct slice host; /* without the brackets of an IPv6 address; of unix: absent */
    int port;          /* the scheme's own when the text names none; of unix: 0 */
    struct slice path; /* as written, at least "/"; of unix: the socket's file name, decoded */
    struct slice query;
};

/* "http(s)://", "ws(s)://" and "postgres(ql)://" with host, or "unix:PATH". A fragment is refused. */
MUST_CHECK enum status url_parse(struct arena *arena, struct slice text, struct url *out, struct failure *failure);
/* The text with its password, if any, replaced by ***, for logs and messages. Works for what url_parse refuses too. */
struct slice url_without_password(struct arena *arena, struct slice text);

#endif
