#include "cli/confirm.h"

#include <stdio.h>

#include "cli/option_layers.h"
#include "cli/terminal.h"

enum { NAMES_SHOWN_MAX = 5 };

struct confirm_options {
    bool yes;
};

/* clang-format off */
const struct option confirm_table[] = {
    {.name = "yes", .type = OPTION_SWITCH, .offset = OPTION_FIELD(struct confirm_options, yes, bool),
     .help = "Do not ask for confirmation."},
    {0},
};
/* clang-format on */

static void write_question(const struct arguments *arguments, const char *verb, const char *rest, struct buffer *out)
{
    buffer_format(out, "%s ", verb);
    for (size_t i = 0; i < arguments->positional_count && i < NAMES_SHOWN_MAX; i++) {
        buffer_add(out, i ? SLICE(", ") : SLICE(""));
        text_add_plain(out, slice_of(arguments->positionals[i]));
    }
    if (arguments->positional_count > NAMES_SHOWN_MAX) {
        buffer_format(out, " and %zu more", arguments->positional_count - NAMES_SHOWN_MAX);
    }
    buffer_format(out, " %s", rest);
    buffer_add_byte(out, '\0');
}

static int refuse_short_ids(const struct invocation *invocation)
{
    struct failure failure;
    (void)failure_set(&failure, STATUS_INVALID, "short_id",
                      "with --yes give whole ids: %s can't be undone, and a shortened one may mean something else",
                      invocation->command->name);
    return command_refuse(invocation->command, &failure);
}

int confirm(const struct invocation *invocation, const struct remote_deed *deed, bool was_shortened)
{
    struct failure failure;
    struct confirm_options options = {0};
    struct option_target target = {confirm_table, &options, invocation->arena, NULL};
    if (options_read_arguments(&target, invocation->arguments, &failure) != STATUS_OK) {
        return command_refuse(invocation->command, &failure);
    }
    if (options.yes) {
        return was_shortened ? refuse_short_ids(invocation) : EXIT_DONE;
    }
    if (!terminal_can_ask()) {
        (void)failure_set(&failure, STATUS_INVALID, "needs_yes", "%s can't be undone; without a terminal give --yes",
                          invocation->command->name);
        return command_refuse(invocation->command, &failure);
    }
    struct buffer question = {0};
    write_question(invocation->arguments, deed->verb, deed->rest, &question);
    bool agreed = terminal_confirm(question.ptr);
    buffer_release(&question);
    if (!agreed) {
        fprintf(stderr, "nothing was changed\n");
    }
    return agreed ? EXIT_DONE : EXIT_REFUSED;
}
