/* A server as the commands see it: its address and token, one call after the other, errors said to the person. */
#ifndef CLI_REMOTE_H
#define CLI_REMOTE_H

#include "base/json.h"
#include "cli/command.h"
#include "cli/option_layers.h"
#include "cli/table.h"
#include "net/client.h"

struct remote_options {
    const char *url, *token, *token_file, *ca_file;
    int64_t timeout_ms;
};

/* --url, --token, --token-file, --ca-file, --timeout-ms; also from the environment. */
extern const struct option remote_option_table[];
/* --json */
extern const struct option output_option_table[];

enum { REMOTE_OPTIONS_MAX = 16 };

/* On the command's stack. */
struct remote {
    const struct invocation *invocation;
    struct arena *arena; /* the invocation's */
    struct remote_options options;
    bool wants_json;
    struct client *client;
    int64_t now_ms;                                 /* wall, for relative times */
    FILE *errors;                                   /* where refusals are said; standard error */
    enum option_origin origins[REMOTE_OPTIONS_MAX]; /* of each row of the table */
    const char *token_source;                       /* "token-file (command line)" */
    bool was_shortened;                             /* a word of the command stood for a longer id */
};

/* Each returns an exit code, and has said what is wrong unless it is EXIT_DONE. */

/* What a command adds: a table of its own that fills `values`, and a descriptor as in struct client_options. */
struct remote_setup {
    const struct option *table; /* NULL = none */
    void *values;
    int stop_fd;
    const int64_t *silence_ms; /* in `values`; NULL = no streams */
};
/* remote_options.c: the values of the tables, and the token. */
MUST_CHECK enum status remote_read_options(struct remote *remote, const struct remote_setup *setup,
                                           struct failure *failure);
/* Reads the tables and gets ready to connect. */
MUST_CHECK int remote_open(const struct invocation *invocation, const struct remote_setup *setup, struct remote *out);
MUST_CHECK int remote_open_plain(const struct invocation *invocation, struct remote *out);
/* Whatever remote_open returned. */
void remote_close(struct remote *remote);
/* What was given of a table of options that are passed on (cli/forwarded_options.h). */
MUST_CHECK int remote_query(struct remote *remote, const struct option *table, struct buffer *query);
MUST_CHECK int remote_members(struct remote *remote, const struct option *table, struct json_out *out);
/* The answer's body, in the arena; empty when there is none. */
MUST_CHECK int remote_call(struct remote *remote, const struct client_request *request, struct slice *out_body);
/* The same, read as JSON. */
MUST_CHECK int remote_call_json(struct remote *remote, const struct client_request *request, const struct json **out);
/* A question of the command's own: any answer is fine. *out is NULL when it is not JSON. */
MUST_CHECK int remote_ask(struct remote *remote, const char *path, int *out_status, const struct json **out);
/* Says that there was no answer. */
int remote_unreached(const struct remote *remote, const struct failure *failure);
/* Says what the server answered instead of what was asked for. */
int remote_refused(const struct remote *remote, const struct client_answer *answer);

/* Prints the answer as it is with --json; else `show` prints what people want of it. */
MUST_CHECK int remote_show(struct remote *remote, const struct client_request *request,
                           int (*show)(struct remote *remote, const struct json *answer, const void *detail),
                           const void *detail);
/* For remote_show: the text of the member named by `key`, a const char *. */
int remote_print_member(struct remote *remote, const struct json *answer, const void *key);

/* Something done to each thing that the command names. */
struct remote_deed {
    const char *method;
    const char *collection;  /* "sessions" */
    const char *tail;        /* of the path: "/archive" */
    const char *done;        /* what is said afterwards: "archived" */
    const char *verb, *rest; /* what is asked first: "Delete" names "with all events?"; NULL = nothing */
};
/* A whole command. Goes on when one is refused; the exit code is that of the first that was. */
MUST_CHECK int remote_do_each(const struct invocation *invocation, const struct remote_deed *deed);

/* "/api/sessions/ID" or "/api/sessions/ID/events"; `tail` may be empty. */
struct slice remote_path(struct remote *remote, const char *collection, struct slice id, const char *tail);
/* path?query; just the path when there is no query. */
struct slice remote_target(struct remote *remote, struct slice path, const struct buffer *query);

/* Standard output. Text of others is not to steer a terminal: there it is exact, with what steers or hides written out;
 * elsewhere it is as it is. */
int remote_print(struct slice text);
int remote_print_line(struct slice text);
/* Text with colours of ours, in which everything else was made plain or exact before. */
int remote_print_drawn(struct slice text);
/* Fitted to the terminal. When there is no row, `nothing` is said on standard error. */
int remote_print_table(const struct table *table, const char *nothing);
/* Says a failure on standard error; the exit code that fits its status. */
int remote_fail(const struct failure *failure);

#endif
