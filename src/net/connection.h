/* One accepted socket and the requests in flight on it. Loop thread only.
 *
 * The loop watches the socket itself (uv_poll) and reads and writes it directly: one read and one gathered write per
 * request, no write requests to allocate, and nothing to remember for a connection that is idle.
 *
 * Bytes come in through connection_read (connection_read.c), which cuts them into exchanges and hands these out; what
 * was answered leaves through connection_flush (connection_write.c) in the order the requests came. After every event
 * connection_update_watches derives from the state which events are watched and which deadline runs, so no other place
 * has to. A connection ends in connection_finish (politely) or connection_close (at once).
 *
 *   FRESH ──→ OPEN ←──→ UPGRADING                 the first head; a request that may leave HTTP, and its answer
 *     │        │           │
 *     ├────────┼───────────┤
 *     ▼        │           ▼
 *    LAST ─────┴────→ STREAMING ──→ ENDING        stream_accept; stream_end, or the peer's close frame
 *     │                                │
 *     └────────→ LINGERING ←───────────┘          connection_finish; so do FRESH, OPEN and UPGRADING in a drain
 *
 *   any but these two ──→ BROKEN ──→ CLOSED       a write failed; connection_flush
 *   any ──→ CLOSED                                connection_close
 *
 * state      what is read                                   | left by
 * FRESH      requests; none came yet                        | take_head; connection_refuse
 * OPEN       requests                                       | dispatch, connection_refuse, server_loop_drain
 * UPGRADING  nothing: the next bytes may not be HTTP        | after_last_answer, stream_accept
 * LAST       and ignored: it ends with the last answer      | connection_flush, stream_accept
 * STREAMING  what the stream's owner, or its WebSocket, gets | stream_end, websocket_feed
 * ENDING     and ignored; what was taken is still sent      | stream_on_flushed
 * LINGERING  and ignored, until the peer closes             | connection_read, connection_expire
 * BROKEN     and ignored; closes with the next flush        | connection_flush
 * CLOSED     nothing; it is freed when its handle is closed | –
 *
 * Whether the peer closed its side, and whether the socket is full, are facts of their own: each may come in any state
 * that is not CLOSED. */
#ifndef NET_CONNECTION_H
#define NET_CONNECTION_H

#include <sys/uio.h>

#include "net/exchange.h"
#include "net/stream.h"
#include "wire/http.h"

struct tls;
struct server_loop;

/* What a connection is waiting for: each kind has its own timeout. */
enum connection_wait {
    WAIT_NOTHING, /* a handler is at work, or a stream is quiet */
    WAIT_IDLE,    /* for the next request */
    WAIT_HEAD,
    WAIT_BODY,
    WAIT_WRITE,  /* for the peer to read */
    WAIT_LINGER, /* for the peer to close after us */
    WAIT_KIND_COUNT
};

enum input_stage {
    INPUT_HEAD,
    INPUT_ADMITTING, /* on_head is asked whether the body may come; nothing is read */
    INPUT_BODY,
    INPUT_COMPLETE, /* it waits for its turn; nothing is read */
};

/* A request of which only a part is here, or which must wait for an earlier one. Gone when there is none. */
struct input {
    struct buffer held; /* bytes not looked at yet, or an incomplete head */
    struct http_scan scan;
    struct exchange *exchange; /* the head is complete */
    uint8_t stage;             /* enum input_stage */
    bool body_began;           /* some of it came with the head */
    char *body;                /* in the exchange's arena, content_length bytes */
    size_t body_bytes;         /* received so far */
    struct http_chunks chunks;
    struct buffer chunked_body;
};

struct websocket;

struct stream {
    const struct stream_handler *handler; /* NULL: the connection is not a stream */
    void *owner;
    struct websocket *websocket; /* NULL: server-sent events */
    struct byte_hold hold;       /* of what comes in */
    uint8_t kind;
    bool blocked;   /* stream_write took less than offered */
    bool mid_frame; /* and stopped inside what was offered */
    bool paused;    /* nothing is read */
};

enum connection_state {
    CONNECTION_FRESH,
    CONNECTION_OPEN,
    CONNECTION_UPGRADING,
    CONNECTION_LAST,
    CONNECTION_STREAMING,
    CONNECTION_ENDING,
    CONNECTION_LINGERING,
    CONNECTION_BROKEN,
    CONNECTION_CLOSED,
    CONNECTION_STATE_COUNT
};

struct connection {
    uv_poll_t poll;
    struct server_loop *home;
    struct connection *previous, *next; /* in home->waiting[wait] */
    struct connection *dirty_next;
    struct exchange *first, *last; /* dispatched or to be written, oldest first */
    struct input *input;
    struct tls *tls;
    struct stream stream;
    int64_t wait_since_ms;
    int fd;
    uint16_t in_flight; /* exchanges in the list above */
    uint8_t wait;
    uint8_t watched;  /* UV_READABLE, UV_WRITABLE */
    uint8_t state;    /* enum connection_state; set by connection_enter alone */
    bool dirty;       /* in home->dirty */
    bool peer_closed; /* the peer sends nothing more */
    bool write_blocked;
    char peer[46];
};

/* Asserts that the edge exists and that what the state promises holds. */
void connection_enter(struct connection *connection, enum connection_state state);
/* Unless it is so already: whatever comes is ignored, and the connection ends with the last answer. */
void connection_take_no_more(struct connection *connection);
/* A write failed: nothing can be done with it any more. */
void connection_break(struct connection *connection);
/* Further requests are, or will be, taken from it. */
static inline bool connection_takes_requests(const struct connection *connection)
{
    return connection->state <= CONNECTION_UPGRADING;
}
/* Takes the socket over. NULL when it cannot be watched. */
struct connection *connection_open(struct server_loop *home, int fd, struct tls *tls, const char *peer);
void connection_read(struct connection *connection);
/* Goes on with held bytes once earlier requests are answered. */
void connection_resume(struct connection *connection);
void connection_flush(struct connection *connection);
static inline bool connection_input_waits(const struct connection *connection)
{
    const struct input *input = connection->input;
    return input && (input->stage == INPUT_ADMITTING || input->stage == INPUT_COMPLETE);
}
/* The request whose head is here: its body may come; or it is answered without it, and the connection ends. */
void connection_admit(struct connection *connection);
void connection_answer_head(struct connection *connection);
/* Whether on_head still has the exchange of the input. */
bool connection_is_admitting(const struct connection *connection, const struct exchange *exchange);
/* Writes what is ready, in order; true when it went out completely. Calls nobody back. */
bool connection_write_ready(struct connection *connection);
/* The peer took something: the write timeout begins anew. */
void connection_note_progress(struct connection *connection);
void connection_update_watches(struct connection *connection);
/* Sends end of file and waits a moment for the peer's, so that it can read the last answer. */
void connection_finish(struct connection *connection);
void connection_close(struct connection *connection);
/* The deadline passed. */
void connection_expire(struct connection *connection);
int64_t connection_deadline_ms(const struct connection *connection);
/* Queues an answer of net's own; the connection ends after it. */
void connection_refuse(struct connection *connection, int status, const char *code, const char *detail);
void connection_enqueue(struct connection *connection, struct exchange *exchange);
struct exchange *connection_dequeue(struct connection *connection);
void connection_drop_input(struct connection *connection);
/* Keeps nothing that will not be needed. */
void connection_tidy_input(struct connection *connection);

/* Like read and writev on a non-blocking socket, through TLS when there is some: -1 with errno EAGAIN, or another errno
 * when the connection is lost; 0 from read is the end. */
ssize_t connection_receive(struct connection *connection, char *bytes, size_t room);
/* Whether more can be received at once although the socket will not announce it. */
bool connection_has_unread(const struct connection *connection);
ssize_t connection_transmit(struct connection *connection, const struct iovec *parts, int count);
/* Whether bytes taken by connection_transmit are still on their way out of this process. */
bool connection_has_unsent(const struct connection *connection);

/* stream.c: see stream.h for the owner's side. */
void stream_on_readable(struct connection *connection);
void stream_on_flushed(struct connection *connection);
void stream_on_lost(struct connection *connection);
/* What was taken is still sent. */
void connection_end_stream(struct connection *connection);

/* stream_websocket.c: what a WebSocket does besides carrying the owner's frames. */
/* The head of the 101 answer into `out`; false, with the exchange filled with a refusal, when the handshake is bad. */
MUST_CHECK bool websocket_compose_head(struct exchange *exchange, struct buffer *out);
struct websocket *websocket_new(size_t message_bytes_max);
void websocket_free(struct websocket *websocket);
void websocket_feed(struct connection *connection, struct slice bytes);
/* Queues a close frame, unless there is one already. */
void websocket_say_close(struct websocket *websocket, int code, struct slice reason);
/* Writes queued control frames, but not inside a frame of the owner; false when the socket takes no more. */
bool websocket_write_control(struct connection *connection);
bool websocket_has_control(const struct websocket *websocket);

/* exchange.c */
struct exchange *exchange_take_spare(struct server_loop *home);
void exchange_recycle(struct exchange *exchange);
void exchange_compose_head(struct exchange *exchange, bool keep_alive);
/* The headers that every answer has, and those of the handler. */
void exchange_write_common(struct exchange *exchange, struct buffer *out);
void exchange_set_problem(struct exchange *exchange, int status, const char *code, const char *detail);
/* With the head read: request id and peer. */
void exchange_identify(struct exchange *exchange);

#endif
