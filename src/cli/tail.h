/* A stream being followed: tail.c keeps it connected, tail_frames.c prints what comes, or an ear takes it. */
#ifndef CLI_TAIL_H
#define CLI_TAIL_H

#include "cli/event_line.h"
#include "cli/remote.h"
#include "wire/sse.h"

enum { FRAME_BYTES_MAX = 64 * 1024 * 1024 };

/* Takes the frames instead of standard output. */
struct tail_ear {
    void *owner;
    /* `data` is NULL when it is no JSON. */
    void (*on_frame)(void *owner, const struct sse_event *frame, const struct json *data);
    void (*on_lost)(void *owner); /* the connection; another is tried */
};

/* Over as many connections as it takes. On the command's stack. */
struct tail {
    struct remote remote;
    int stop_fd; /* readable after SIGINT or SIGTERM */
    struct slice target;
    struct buffer cursor; /* behind what was printed; empty = where the target says */
    struct sse_decoder decoder;
    struct event_line_style style;
    bool was_connected; /* a frame came on some connection */
    bool heard;         /* a frame came on this connection */
    bool is_in_delta;   /* the line of live output is not ended */
    bool is_over;
    int code;
    const struct tail_ear *ear;                      /* NULL = frames are printed */
    struct client_watch watches[CLIENT_WATCHES_MAX]; /* also served while there is no connection */
    size_t watch_count;
};

/* Follows `target` until the tail is over. */
void tail_follow(struct tail *tail);
/* The frame as a line of JSON: an event as it is, others as {"frame": NAME, "data": {}}. */
void tail_write_json(const struct sse_event *frame, struct buffer *line);

/* Bytes of the stream, in any pieces; `owner` is the struct tail. False when the tail is over, and `code` says how. */
bool tail_take_bytes(void *owner, struct slice bytes);

#endif
