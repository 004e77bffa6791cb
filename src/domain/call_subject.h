/* What a tool call is about, as the server itself saw it. Each driver says what it knows (struct call_facts); this is
 * the one place that makes typed subjects of it: tools, commands, paths, hosts. Rules of agents (agent_permission.c)
 * and what people allow for longer (ask_grant.h) are compared with these and with nothing else. Pure. */
#ifndef DOMAIN_CALL_SUBJECT_H
#define DOMAIN_CALL_SUBJECT_H

#include "base/buffer.h"
#include "domain/call_host.h"
#include "domain/call_path.h"
#include "domain/command.h"

enum { CALL_WORDS_MAX = 4, CALL_PATHS_MAX = 512, CALL_HOSTS_MAX = 512 };

struct call_facts {
    struct slice tool; /* its programmatic name; absent when the driver knows only words of the agent */
    struct slice words[CALL_WORDS_MAX]; /* what the agent calls it: title, kind. They tighten and never allow. */
    size_t word_count;
    struct slice arguments; /* JSON; absent = not seen, which is uncertain for every rule about them */
    bool is_cut;            /* not seen whole */
    bool runs_command;      /* by the agent's words; where no command was seen, there is one that nobody saw */
    bool is_uncertain;      /* it names places that could not be looked up */
    bool needs_name;        /* only a rule that names this tool allows it */
    bool shows_more;        /* places and texts beside the arguments, which these do not hold */
    struct call_place place;
    const struct slice *paths; /* named beside the arguments: locations, diffs, where a link leads */
    size_t path_count;
};

struct call_subject {
    struct slice tool;
    struct slice names[CALL_WORDS_MAX + 1]; /* the tool, then the words */
    size_t name_count;
    bool needs_name;
    bool is_seen;                 /* the arguments, whole */
    bool shows_more;              /* the same arguments may be another call */
    const struct json *arguments; /* NULL when they are not JSON */
    struct slice compact, sorted; /* without white space; and with members in order */
    bool has_command;
    bool is_command_seen; /* false: it may run one that was not seen */
    struct slice line;    /* the command as it was written */
    struct command_reading command;
    struct call_path *paths;
    size_t path_count;
    struct call_host *hosts;
    size_t host_count;
    bool is_overfull; /* more paths or hosts than are looked at */
};

/* Strings borrow from the facts or live in the arena. */
void call_subject_read(struct arena *arena, const struct call_facts *facts, struct call_subject *out);
/* One command against a pattern: "git push *" is "git push" as well. */
bool call_command_matches(struct slice pattern, struct slice command);
/* Is the pattern, without any "*", the line itself? Such a line is allowed whatever it is. */
bool call_line_is(struct slice pattern, const struct call_subject *about);
/* Does the pattern match every command of a line that was read with certainty? */
bool call_line_matches(struct slice pattern, const struct call_subject *about);
/* What is kept with an ask besides its tool and arguments; and back. Of an ask without it (asked over the API) the name
 * of the tool counts, and arguments that are there are what was seen. */
void call_facts_write(struct buffer *to, const struct call_facts *facts);
void call_facts_read(struct arena *arena, struct slice fields, struct slice tool, struct slice arguments,
                     struct call_facts *out);
/* JSON without white space and needless escapes, members in the order of their names: two texts that mean the same come
 * out alike. In the arena. */
struct slice call_json_sorted(struct arena *arena, const struct json *value);

#endif
