/* Outgoing HTTP for commands: one request at a time, in a straight line, over TCP, TLS or a unix socket. Redirects are
 * not followed: a token is sent to the address that was named and nowhere else. Used by one thread. */
#ifndef NET_CLIENT_H
#define NET_CLIENT_H

#include "base/buffer.h"
#include "base/status.h"

struct client;

struct client_options {
    const char *url;     /* http://HOST:PORT, https://…, with an optional path in front of every request; unix:PATH */
    const char *token;   /* sent as Authorization: Bearer; NULL = none */
    const char *ca_file; /* certificates to trust besides the system's; NULL = none */
    int64_t connect_ms;
    int64_t answer_ms;       /* how long a whole answer may take; streams are not measured by it */
    int64_t silence_ms;      /* how long a stream may say nothing before it counts as lost */
    size_t answer_bytes_max; /* of an answer that is no stream */
    int stop_fd;             /* a call or stream ends when it becomes readable; -1 = none */
};

enum { CLIENT_HEADERS_MAX = 4, CLIENT_WATCHES_MAX = 4 };

struct client_header {
    const char *name;
    struct slice value; /* absent = not sent */
};

/* Something else that is waited for while a stream runs, in the same thread. */
struct client_watch {
    int fd;                        /* -1 = not now; looked at anew every time */
    bool (*on_ready)(void *owner); /* false ends the stream */
    void *owner;
};

struct client_request {
    const char *method;
    struct slice target; /* "/api/sessions?limit=3" */
    struct slice body;   /* JSON; absent = none */
    struct client_header headers[CLIENT_HEADERS_MAX];
    /* For streams: called with the bytes of a successful answer as they come, while none is gathered in the body;
     * false ends the stream. */
    bool (*on_bytes)(void *owner, struct slice bytes);
    void *owner;
    const struct client_watch *watches; /* at most CLIENT_WATCHES_MAX */
    size_t watch_count;
};

/* Owned by the caller, who releases the body. */
struct client_answer {
    int status;
    int retry_after_s; /* 0 = not said */
    struct buffer body;
};

/* INVALID names what is wrong with the URL. The options are copied. */
MUST_CHECK enum status client_open(const struct client_options *options, struct client **out, struct failure *failure);
/* Accepts NULL. */
void client_close(struct client *client);
/* OK whatever the server answered; a stream is OK when the server, or on_bytes, ended it. UNAVAILABLE: no connection,
 * or it was lost; TIMEOUT: no answer in time; GONE: stop_fd became readable; TOO_LARGE. The failure is one sentence
 * that names the address. */
MUST_CHECK enum status client_send(struct client *client, const struct client_request *request,
                                   struct client_answer *out, struct failure *failure);
/* The address as people write it, without a password. */
const char *client_address(const struct client *client);

#endif
