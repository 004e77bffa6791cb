/* A stream being followed: tail.c keeps it connected, tail_frames.c prints what comes. */
#ifndef CLI_TAIL_H
#define CLI_TAIL_H

#include "cli/event_line.h"
#include "cli/remote.h"
#include "wire/sse.h"

enum { FRAME_BYTES_MAX = 64 * 1024 * 1024 };

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
};

/* Bytes of the stream, in any pieces; `owner` is the struct tail. False when the tail is over, and `code` says how. */
bool tail_take_bytes(void *owner, struct slice bytes);

#endif
