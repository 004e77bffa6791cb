#include <stdlib.h>

#include "service/remote/runner_internal.h"

/* From the socket to the runners. */
enum line_news { LINE_OPENED, LINE_SAID, LINE_CLOSED };

struct heard {
    struct loop_message message;
    struct runner_connection *line;
    enum line_news news;
    size_t len;
    char text[];
};

/* From the runners to the socket. */
struct told {
    struct loop_message message;
    struct runner_connection *line;
    int code; /* of the close; 0 = a message */
    size_t len;
    char text[];
};

static struct runner_connection *line_ref(struct runner_connection *line)
{
    atomic_fetch_add(&line->holders, 1);
    return line;
}

void runner_connection_unref(struct runner_connection *line)
{
    if (line && atomic_fetch_sub(&line->holders, 1) == 1) {
        arena_release(&line->arena);
        free(line);
    }
}

/* --- to the runners --- */

static void take_opened(struct runner_connection *line)
{
    struct runners *runners = line->runners;
    if (runners->closed) {
        runner_connection_end(line, CLOSE_GOING_AWAY, "server_stopping");
        return;
    }
    runner_joins(runner_obtain(runners, &line->hello), line_ref(line));
}

static void on_heard(struct loop_message *message)
{
    struct heard *heard = (struct heard *)message;
    struct runner_connection *line = heard->line;
    switch (heard->news) {
    case LINE_OPENED:
        take_opened(line);
        break;
    case LINE_SAID:
        if (line->runner) {
            runner_on_frame(line->runner, slice_from(heard->text, heard->len));
        }
        break;
    case LINE_CLOSED:
        if (line->runner) {
            runner_leaves(line->runner, "connection_closed");
        }
        break;
    }
    runner_connection_unref(line);
    free(heard);
}

static void post_news(struct runner_connection *line, enum line_news news, struct slice text)
{
    struct heard *heard = memory_alloc(sizeof *heard + text.len);
    *heard = (struct heard){{.run = on_heard}, line_ref(line), news, text.len};
    if (text.len > 0) {
        memcpy(heard->text, text.ptr, text.len);
    }
    loop_post(line->runners->options.loop, &heard->message);
}

struct runner_connection *runner_connection_open(struct runners *runners, struct loop *loop,
                                                 const struct runner_hello *hello, const struct runner_sink *sink)
{
    struct runner_connection *line = memory_zeroed(sizeof *line);
    atomic_init(&line->holders, 1);
    line->runners = runners;
    line->loop = loop;
    line->sink = *sink;
    line->hello = *hello;
    line->hello.session_id = arena_copy(&line->arena, hello->session_id);
    line->hello.actor = arena_copy(&line->arena, hello->actor);
    post_news(line, LINE_OPENED, SLICE(""));
    return line;
}

void runner_connection_hear(struct runner_connection *line, struct slice text)
{
    post_news(line, LINE_SAID, text);
}

void runner_connection_close(struct runner_connection *line)
{
    line->sink.owner = NULL;
    post_news(line, LINE_CLOSED, SLICE(""));
    runner_connection_unref(line);
}

/* --- to the socket --- */

static void on_told(struct loop_message *message)
{
    struct told *told = (struct told *)message;
    const struct runner_sink *sink = &told->line->sink;
    struct slice text = slice_from(told->text, told->len);
    if (sink->owner && told->code) {
        sink->end(sink->owner, told->code, text);
    } else if (sink->owner) {
        sink->send(sink->owner, text);
    }
    runner_connection_unref(told->line);
    free(told);
}

static void post_told(struct runner_connection *line, int code, struct slice text)
{
    struct told *told = memory_alloc(sizeof *told + text.len);
    *told = (struct told){{.run = on_told}, line_ref(line), code, text.len};
    memcpy(told->text, text.ptr, text.len);
    loop_post(line->loop, &told->message);
}

void runner_connection_tell(struct runner_connection *line, struct slice text)
{
    post_told(line, 0, text);
}

void runner_connection_end(struct runner_connection *line, int code, const char *reason)
{
    post_told(line, code, slice_of(reason));
}
