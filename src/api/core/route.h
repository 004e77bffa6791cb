/* The route table: every path that a door answers, who may call it, where it runs and what it takes. Dispatch, the
 * OpenAPI document and the tests all read this one table. */
#ifndef API_ROUTE_H
#define API_ROUTE_H

#include "base/status.h"
#include "base/enum_names.h"
#include "wire/http.h"
#include "wire/url.h"

struct request;

enum route_thread {
    RUN_LOOP,   /* answered at once, touches no store */
    RUN_READER, /* a query */
    RUN_WRITER, /* a command */
};

enum route_auth {
    AUTH_NONE,    /* open to all */
    AUTH_NEEDED,  /* token or cookie */
    AUTH_TICKET,  /* token, cookie or a one-use ticket in the query */
    AUTH_UPGRADE, /* token or cookie; who wants a WebSocket may show a ticket too, and needs the scope to write */
};

enum field_kind {
    FIELD_STRING,  /* min..max characters */
    FIELD_INTEGER, /* min..max */
    FIELD_BOOLEAN,
    FIELD_OBJECT,
    FIELD_LIST,
    FIELD_TEXTS, /* a list of strings; of `words` when they are named. What stands in it is checked by the handler */
    FIELD_WORD,  /* one of `words` */
    FIELD_TIMESTAMP,
    FIELD_ANY,
    FIELD_LABEL, /* query only: every parameter that begins with `name` */
};

/* One member of a body or one query parameter. A list of them ends with a NULL name. */
struct field {
    const char *name;
    enum field_kind kind;
    bool required;
    const char *text; /* one sentence for people */
    const struct enum_names *words;
    int64_t min, max; /* both 0 = no bound */
};

/* The query of a route that takes any parameter, and the body of one that reads it by itself. */
extern const struct field any_query[], any_body[];

enum { ROUTE_PARAMS_MAX = 2 };

struct route {
    enum http_method method;
    const char *path; /* "/api/sessions/{id}/events"; a last "{rest}" stands for any further path, or none */
    enum route_thread run_on;
    enum route_auth auth;
    unsigned scope;  /* of enum scope; 0 = any */
    bool idempotent; /* honours Idempotency-Key */
    int success;     /* the usual status */
    const struct field *query;
    const struct field *body; /* NULL = none is taken */
    const char *answer;       /* name of the answer's schema in the OpenAPI document; NULL = none */
    const char *summary;
    /* Runs first, on a reader thread: what is slow and needs no transaction. */
    enum status (*prepare)(struct request *request);
    enum status (*handle)(struct request *request);
};

/* Of the native API; ends with a NULL path. */
extern const struct route routes[];

/* A table of routes whose patterns are cut into segments, so that a request only compares. */
struct route_index;
/* The table ends with a NULL path and outlives the index. */
struct route_index *route_index_new(const struct route *table);
void route_index_free(struct route_index *index); /* accepts NULL */

/* What the route is about, for the OpenAPI document: "Sessions". */
const char *route_tag(const struct route *route);

/* The route for method and path; NULL with *out_allowed = bits (1 << enum http_method) of the methods the path has
 * (0 = no such path). The first match in the table wins; fixed segments stand before parameters. */
const struct route *route_find(const struct route_index *index, enum http_method method, const struct path *path,
                               struct slice params[ROUTE_PARAMS_MAX], unsigned *out_allowed);
/* Is it about one session, the first parameter of its path? */
bool route_names_session(const struct route *route);

#endif
