/* A door: one protocol that clients speak with this server, as a table. It says which paths are its own, how its
 * clients show who they are, how strictly they are read, and in what form answers about failures and streams leave. The
 * commands and queries behind all doors are the same. Doors stand in src/doors/NAME; main lists them. */
#ifndef API_DOOR_H
#define API_DOOR_H

#include "api/core/route.h"
#include "fanout/frame.h"

struct exchange;
struct request;

enum presented_kind {
    PRESENTED_NOTHING,
    PRESENTED_UNUSABLE, /* something, but none of these */
    PRESENTED_TOKEN,
    PRESENTED_TICKET, /* once */
    PRESENTED_COOKIE, /* by a browser, which adds it to requests of any page */
};

struct presented_credential {
    enum presented_kind kind;
    struct slice secret;
};

struct door {
    const char *name;
    const char *prefix;               /* of its paths: "/anthropic"; "" = all that no other door has */
    const struct route_table *tables; /* of its routes; end with NULL rows */
    /* Any thread; the query may not be read yet. */
    struct presented_credential (*credential)(const struct request *request);
    const char *unauthenticated; /* a sentence: what to show */
    /* Fills the exchange's answer, dropping whatever was there. `members` are further members of a JSON object, or
     * absent; a protocol that has no place for them leaves them out. */
    void (*refuse)(struct exchange *exchange, const struct failure *failure, struct slice members);
    bool ignores_unknown; /* members and parameters; else they are refused */
    /* Answers a path that has no route, when the client is a browser that wants a page; NULL = never. */
    bool (*serve_page)(struct request *request);
    /* Of streams that show events as they are. What has to keep something from one frame to the next, such as which
     * parts are open, watches with a sink that takes frames. */
    const struct encoder *sse, *websocket;
};

/* The doors of a server, their routes ready to be searched. `table` ends with NULL; the last door has the prefix "". */
struct doors;
struct doors *doors_new(const struct door *const *table);
void doors_free(struct doors *doors); /* accepts NULL */
/* The door that a path (as it was sent) leads to, and the index of its routes. */
const struct door *doors_find(const struct doors *doors, struct slice path, const struct route_index **out_routes);

#endif
