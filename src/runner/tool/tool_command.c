#include "runner/tool/tool_call.h"

#include "runner/tool/command_line.h"

static struct slice refusal(struct arena *arena, const struct agent *agent, struct slice line)
{
    struct buffer list = {0};
    for (size_t i = 0; i < agent->command_count && i < 20; i++) {
        buffer_format(&list, "%s%.*s", i ? "; " : "", SLICE_ARG(agent->commands[i]));
    }
    struct slice text =
        agent->command_count == 0
            ? SLICE("This agent may run no commands.")
            : arena_format(arena, "The command \"%.*s\" is not one this agent may run. Allowed (* is any text): %.*s.",
                           SLICE_ARG(line), SLICE_ARG(buffer_slice(&list)));
    buffer_release(&list);
    return text;
}

/* Inside the sandbox: its tree unless said otherwise. False when it leads above the top. */
static bool read_directory(struct arena *arena, struct slice directory, const char **out)
{
    struct slice clean;
    bool is_absolute = slice_starts(directory, SLICE("/"));
    if (!slice_present(directory)) {
        return true;
    }
    if (!path_clean(arena, directory, &clean)) {
        return false;
    }
    *out = arena_format(arena, "%s/%.*s", is_absolute ? "" : TOOL_MOUNT, SLICE_ARG(clean)).ptr;
    return true;
}

/* A shell's own name in the list is the operator's way to allow one: nothing else puts a shell in between. */
TOOL_RUN(run_command_run)
{
    struct arena arena = {0};
    struct slice line = slice_trim(json_text_of(call->arguments, "command"));
    struct slice directory = json_text_of(call->arguments, "directory");
    struct tool_steps steps = {
        .count = 1,
        .time_ms_max = json_i64_of(call->arguments, "timeout_ms"),
        .when_empty = "(no output)",
        .streams = true,
    };
    struct failure failure = {0};
    void *running = NULL;
    if (!command_line_is_allowed(line, place->agent->commands, place->agent->command_count)) {
        tool_refuse(then, TURN_TOOL_DENIED, refusal(&arena, place->agent, line));
    } else if (!read_directory(&arena, directory, &steps.directory)) {
        tool_refuse(then, TURN_VALIDATION, SLICE("The directory leads above the top of the tree."));
    } else if (command_line_split(&arena, line, &steps.argv[0], &failure) != STATUS_OK) {
        tool_refuse(then, TURN_VALIDATION, slice_of(failure.detail));
    } else {
        running = tool_process_start(place, call, then, &steps);
    }
    arena_release(&arena);
    return running;
}
