/* What a command line runs, as far as it can be read without running it: rules about commands look at that, so that
 * another spelling of the same command leads past none of them. Pure. */
#ifndef DOMAIN_COMMAND_H
#define DOMAIN_COMMAND_H

#include "base/json.h"

enum { COMMAND_FORMS_MAX = 512, COMMAND_INNER_BLANK = 0x1F };

/* A command as words with single spaces between them, without quotes. */
struct command_form {
    struct slice text;
    /* For rules that allow: `sh 'a b'` is not "sh a b". A blank inside a word is COMMAND_INNER_BLANK, and so is an
     * empty word, so that of a pattern only "*" covers them. */
    struct slice exact;
    /* It stands in the line itself; the forms behind it, up to the next plain one, are other names of the same: without
     * a path, without options before what it is to do, without what only starts it (env, sudo, sh -c …). */
    bool is_plain;
};

struct command_reading {
    struct command_form *forms; /* in the arena */
    size_t count;
    /* True only when every part of the line is understood: then it runs what the forms say and nothing else. A file
     * that the line reads or writes is a form, too: "< path", "> path". */
    bool is_certain;
};

/* The command lines for a shell among the arguments of a call: `command`, `cmd` or `script`, a text or a list of words.
 * False when there is none. */
bool command_read_call(struct arena *arena, const struct json *arguments, struct command_reading *out);

#endif
