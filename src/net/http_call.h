/* What the files of outgoing calls (http_client.c, http_call*.c, http_upgrade.c) share; nobody else includes it. */
#ifndef NET_HTTP_CALL_H
#define NET_HTTP_CALL_H

#include <curl/curl.h>

#include "base/buffer.h"
#include "loop/timer.h"
#include "net/http_client.h"
#include "net/socket_set.h"

struct http_upgrade;

struct http_client {
    struct loop *loop;
    struct http_client_options options;
    CURLM *multi;
    uv_timer_t timer;
    struct socket_set sockets;
    int parts_open;          /* timer and sockets: with the last one the client is freed */
    struct loop_timer *kick; /* settles soon: a call was resumed */
    struct http_call *calls;
    unsigned inside;  /* curl is on the stack: no handle may be added or removed */
    bool is_stopping; /* nothing new is started */
    bool is_settling;
    bool is_unsettled; /* a call was started, cancelled or resumed meanwhile */
};

/* In the order of their lives. */
enum call_stage {
    CALL_WAITING, /* curl does not know it yet */
    CALL_RUNNING,
    CALL_UPGRADING, /* connected: curl only carries bytes */
    CALL_CANCELLED, /* freed as soon as curl is off the stack */
    CALL_ENDED,     /* its handler is told */
};

/* Owned by the client's list. */
struct http_call {
    struct http_client *client;
    struct http_call *next, **link;
    struct http_call_handler handler;
    enum call_stage stage;
    CURL *easy;
    struct curl_slist *headers;
    char error[CURL_ERROR_SIZE];
    bool (*allow_address)(void *owner, const struct sockaddr *address);
    void *address_owner;
    int redirects_left;
    bool is_paused, is_held; /* held: curl keeps bytes until it is resumed */
    uv_timer_t *silence;
    int64_t silence_ms;
    uint64_t heard_ms; /* when the last bytes came */
    size_t body_bytes, body_bytes_max;
    struct buffer head; /* the lines of the answer's head */
    bool is_headed;
    const char *broken;           /* our own reason to end it, a code; NULL = curl's */
    struct http_upgrade *upgrade; /* NULL = the call does not leave HTTP */
    bool is_over;                 /* it left HTTP, and the other side ended it */
};

/* Runs what waited until curl was off the stack: ends, starts, cancellations. */
void http_client_run_deferred(struct http_client *client);
void http_client_close_socket(struct http_client *client, curl_socket_t fd);

/* Curl must not watch the socket any more. */
void http_client_forget_socket(struct http_client *client, curl_socket_t fd);

/* Bytes came, or something else that is no silence. */
void http_call_heard(struct http_call *call);
/* Without a byte for so long the call ends; 0 = never. */
void http_call_watch_silence(struct http_call *call, int64_t silence_ms);
/* What curl has to tell goes to the call. */
void http_call_listen(struct http_call *call);
void http_call_add(struct http_call *call);
void http_call_finish(struct http_call *call, CURLcode result);
void http_call_free(struct http_call *call);

/* Composes the request that is sent once there is a connection. */
struct http_upgrade *http_upgrade_new(const struct http_call_spec *spec, const char *user_agent);
/* Closes its handles; accepts NULL. */
void http_upgrade_free(struct http_upgrade *upgrade);
/* The connection is there. */
void http_upgrade_begin(struct http_call *call);
/* Derives from the call's state what is watched. */
void http_upgrade_watch(struct http_call *call);
void http_upgrade_resume(struct http_call *call);

#endif
