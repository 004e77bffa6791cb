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
    RUN_BY_METHOD, /* a GET on a reader, all else on the writer */
    RUN_LOOP,      /* answered at once, touches no store */
    RUN_READER,    /* a query */
    RUN_WRITER,    /* a command */
};

enum route_auth {
    AUTH_NEEDED,  /* token or cookie */
    AUTH_NONE,    /* open to all */
    AUTH_TICKET,  /* token, cookie or a one-use ticket in the query */
    AUTH_UPGRADE, /* token or cookie; who wants a WebSocket may show a ticket too, and needs the scope to write */
};

/* Of a route that any scope may call; bits above those of enum scope. */
enum { SCOPE_ANY = 1 << 16 };

/* Headers of requests that only some routes read, as bits. */
enum route_header {
    HEADER_PREFER = 1,      /* return=minimal */
    HEADER_IF_SEQUENCE = 2, /* append only where the log ends */
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
/* The body of a route that takes none: nothing, or an object without members. */
extern const struct field empty_body[];

enum { ROUTE_PARAMS_MAX = 2 };

/* A row says method, path and handler, and then by name what differs from the common case, which is zero. */
struct route {
    enum http_method method;
    const char *path; /* "/api/sessions/{id}/events"; a last "{rest}" stands for any further path, or none */
    enum status (*handle)(struct request *request);
    enum route_thread run_on;
    enum route_auth auth;
    unsigned scope;            /* of enum scope; zero = read for GET, write for all else */
    unsigned headers;          /* of enum route_header */
    bool idempotent;           /* honours Idempotency-Key */
    const struct field *query; /* NULL = none is taken */
    const struct field *body;  /* NULL = none is taken, or {} */
    /* Runs first, on a reader thread: what is slow and needs no transaction. */
    enum status (*prepare)(struct request *request);
    int success;         /* the usual status; zero = 200 */
    const char *answer;  /* name of the answer's schema in the OpenAPI document; NULL = none */
    const char *summary; /* one sentence */
    const char *tag;     /* of its table; rows leave it out */
};

/* The rows of one resource, in the file of their handlers; they end with a NULL path. */
struct route_table {
    const char *tag; /* what they are about, for the documents: "Sessions" */
    const struct route *rows;
};

extern const struct route_table route_tables[]; /* of the native API; end with NULL rows */

/* The routes of some tables, their patterns cut into segments, so that a request only compares. Two rows for the same
 * method and path are a bug: it asserts that there are none. The tables end with NULL rows and outlive the index. */
struct route_index;
struct route_index *route_index_new(const struct route_table *tables);
void route_index_free(struct route_index *index); /* accepts NULL */
/* All rows with their defaults filled in: scope 0 = any scope, and a method that sends a body has one. They end with a
 * NULL path. */
const struct route *route_index_rows(const struct route_index *index);

/* The route for method and path; NULL with *out_allowed = bits (1 << enum http_method) of the methods the path has
 * (0 = no such path). Whatever the order of the rows, a fixed segment wins over a parameter. */
const struct route *route_find(const struct route_index *index, enum http_method method, const struct path *path,
                               struct slice params[ROUTE_PARAMS_MAX], unsigned *out_allowed);
/* Is it about one session, the first parameter of its path? */
bool route_names_session(const struct route *route);

#endif
