#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/client_commands.h"
#include "cli/remote.h"

struct export_options {
    const char *output;
    bool force;
};

/* clang-format off */
static const struct option export_table[] = {
    {.name = "The file", .type = OPTION_SECTION},
    {.name = "output", .type = OPTION_TEXT, .offset = OPTION_FIELD(struct export_options, output, const char *),
     .value = "FILE", .help = "Write to this file, which must not exist. Default: standard output."},
    {.name = "force", .type = OPTION_SWITCH, .offset = OPTION_FIELD(struct export_options, force, bool),
     .help = "Overwrite an existing file."},
    {0},
};
/* clang-format on */

const struct option *const export_tables[] = {export_table, output_option_table, remote_option_table, NULL};

static int refuse_file(const char *path, int error)
{
    fprintf(stderr, "sojourn: %s can't be written: %s%s\n", path, strerror(error),
            error == EEXIST ? " (--force writes over it)" : "");
    return EXIT_REFUSED;
}

/* Beside the file, which is replaced when all of it is on disk. */
static int write_file(const char *path, struct slice text, struct arena *arena)
{
    const char *beside = arena_format(arena, "%s.part", path).ptr;
    FILE *file = fopen(beside, "w");
    bool written =
        file && fwrite(text.ptr, 1, text.len, file) == text.len && fflush(file) == 0 && fsync(fileno(file)) == 0;
    written = file && fclose(file) == 0 && written && rename(beside, path) == 0;
    int error = errno;
    if (!written && file) {
        (void)unlink(beside);
    }
    return written ? EXIT_DONE : refuse_file(path, error);
}

static int show(struct remote *remote, const struct json *answer, const struct export_options *options)
{
    struct slice document = json_text_of(answer, "document");
    if (options->output) {
        return write_file(options->output, document, remote->arena);
    }
    return remote_print(remote->wants_json ? answer->raw : document);
}

static int export_session(struct remote *remote, const struct export_options *options)
{
    const struct json *answer;
    struct buffer body = {0};
    struct json_out out = json_out_to(&body);
    struct slice session = slice_of(remote->invocation->arguments->positionals[0]);
    if (options->output && !options->force && access(options->output, F_OK) == 0) {
        return refuse_file(options->output, EEXIST);
    }
    json_begin_object(&out);
    json_maybe_text(&out, "path", slice_of(options->output));
    json_end_object(&out);
    struct client_request request = {
        .method = "POST", .target = remote_path(remote, "sessions", session, "/export"), .body = buffer_slice(&body)};
    int code = remote_call_json(remote, &request, &answer);
    code = code == EXIT_DONE ? show(remote, answer, options) : code;
    buffer_release(&body);
    return code;
}

int command_export(const struct invocation *invocation)
{
    struct remote remote;
    struct export_options options = {0};
    struct remote_setup setup = {.table = export_table, .values = &options, .stop_fd = -1};
    int code = remote_open(invocation, &setup, &remote);
    code = code == EXIT_DONE ? export_session(&remote, &options) : code;
    remote_close(&remote);
    return code;
}
