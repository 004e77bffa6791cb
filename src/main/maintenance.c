#include "main/maintenance.h"

#include <stdio.h>
#include <unistd.h>

#include "cli/terminal.h"
#include "main/limits.h"
#include "main/master_key.h"
#include "main/options.h"
#include "store/blob/blob.h"
#include "store/store.h"

/* clang-format off */
static const struct option maintenance_table[] = {
    {.name = "data", .type = OPTION_TEXT, .value = "DIR", .help = "The data directory of the server."},
    {.name = "database", .type = OPTION_TEXT, .value = "URL", .help = "The PostgreSQL database of the server."},
    {.name = "master-key-file", .type = OPTION_TEXT, .value = "FILE",
     .help = "The master key of the server, when its content is encrypted; or SOJOURN_MASTER_KEY."},
    {.name = "config", .type = OPTION_TEXT, .value = "FILE",
     .help = "The configuration file of the server, which names them."},
    {0},
};
/* clang-format on */

const struct option *const maintenance_tables[] = {maintenance_table, NULL};

enum status maintenance_load(const struct invocation *invocation, struct options *out, struct failure *failure)
{
    struct arguments arguments = *invocation->arguments;
    struct invocation as_server = *invocation;
    arguments.given = arena_array(invocation->arena, arguments.given_count + 1, sizeof *arguments.given);
    for (size_t i = 0; i < arguments.given_count; i++) {
        const struct argument *given = &invocation->arguments->given[i];
        arguments.given[i] = (struct argument){option_find(server_options, slice_of(given->option->name)), given->text};
    }
    as_server.arguments = &arguments;
    return options_load(&as_server, out, NULL, failure);
}

static int fail(const struct failure *failure)
{
    fprintf(stderr, "sojourn: %s\n", failure->detail);
    return failure->status == STATUS_NOT_FOUND ? EXIT_MISSING : EXIT_REFUSED;
}

static struct db_options describe(const struct options *options, const char *file, const struct master_key *key)
{
    return (struct db_options){
        .engine = db_engine_of(file ? NULL : options->database),
        .path = file,
        .url = options->database,
        .read_only = true,
        .master_key = key && key->given ? key->bytes : NULL,
        .busy_ms = options->sqlite_busy_ms,
        .postgres_connect_ms = options->postgres_connect_ms,
        .postgres_durability_elsewhere = options->postgres_durability_elsewhere,
        .cache_kib = options->sqlite_cache_kib,
    };
}

/* The file to read; NULL for PostgreSQL. */
static enum status find_file(const struct invocation *invocation, const struct options *options, const char *named,
                             const char **out, struct failure *failure)
{
    *out = NULL;
    if (!named && options->database) {
        return STATUS_OK;
    }
    const char *file = named ? named : arena_format(invocation->arena, "%s/sojourn.db", options->data).ptr;
    if (access(file, R_OK) != 0) {
        return failure_set(failure, STATUS_NOT_FOUND, "no_database",
                           "There is no %s that can be read; --data names the data directory of the server.", file);
    }
    *out = file;
    return STATUS_OK;
}

static void on_progress(void *owner, int64_t done, int64_t total)
{
    progress_show(owner, done, total);
}

static const char *blobs_beside(const struct invocation *invocation, const char *path, const char *end)
{
    return arena_format(invocation->arena, "%s%s", path, end).ptr;
}

/* --- backup --- */

int command_backup(const struct invocation *invocation)
{
    struct options options;
    struct failure failure;
    const char *to_path = invocation->arguments->positionals[0], *file;
    struct progress progress = {.what = "copying"};
    if (maintenance_load(invocation, &options, &failure) != STATUS_OK) {
        return command_refuse(invocation->command, &failure);
    }
    enum status status = find_file(invocation, &options, NULL, &file, &failure);
    if (status == STATUS_OK) {
        struct db_options from = describe(&options, file, NULL);
        status = store_backup(&from, to_path, on_progress, &progress, &failure);
    }
    progress_end(&progress);
    if (status == STATUS_OK) {
        struct blob_place blobs = blobs_of(&options, blobs_beside(invocation, options.data, "/blobs"));
        status = blob_copy_all(&blobs, blobs_beside(invocation, to_path, ".blobs"), &failure);
    }
    if (status != STATUS_OK) {
        return fail(&failure);
    }
    printf("%s holds a copy of %s\n", to_path, file);
    return EXIT_DONE;
}

/* --- compact --- */

int command_compact(const struct invocation *invocation)
{
    struct options options;
    struct failure failure;
    struct progress progress = {.what = "copying"};
    const char *file = NULL;
    int lock_fd = -1;
    if (maintenance_load(invocation, &options, &failure) != STATUS_OK) {
        return command_refuse(invocation->command, &failure);
    }
    enum status status = find_file(invocation, &options, NULL, &file, &failure);
    if (status == STATUS_OK) {
        status = store_lock_directory(options.data, &lock_fd, &failure);
    }
    if (status == STATUS_OK) {
        struct db_options store = describe(&options, file, NULL);
        status = store_compact(&store, on_progress, &progress, &failure);
    }
    progress_end(&progress);
    store_unlock_directory(lock_fd);
    if (status != STATUS_OK) {
        return fail(&failure);
    }
    printf("%s holds nothing any more that was deleted\n", file);
    return EXIT_DONE;
}

/* --- verify --- */

static void on_problem(void *owner, const char *sentence)
{
    struct buffer line = {0};
    progress_end(owner);
    text_add_plain(&line, slice_of(sentence));
    printf("%.*s\n", SLICE_ARG(buffer_slice(&line)));
    buffer_release(&line);
}

static int verify(const struct db_options *options, const struct blob_place *blobs)
{
    struct db *db;
    struct failure failure;
    struct progress progress = {.what = "checking"};
    struct verify_report report = {.blobs = blobs, .progress = on_progress, .problem = on_problem, .owner = &progress};
    enum status status = db_open(options, &db, &failure);
    if (status == STATUS_OK) {
        status = store_verify(db, &report, &failure);
        db_close(db);
    }
    progress_end(&progress);
    if (status != STATUS_OK) {
        return fail(&failure);
    }
    printf("checked %lld sessions, %lld events: %lld problems\n", (long long)report.sessions, (long long)report.events,
           (long long)report.problems);
    return report.problems ? EXIT_REFUSED : EXIT_DONE;
}

int command_verify(const struct invocation *invocation)
{
    struct options options;
    struct failure failure;
    struct master_key key;
    const struct arguments *arguments = invocation->arguments;
    const char *file;
    if (maintenance_load(invocation, &options, &failure) != STATUS_OK) {
        return command_refuse(invocation->command, &failure);
    }
    const char *named = arguments->positional_count ? arguments->positionals[0] : NULL;
    if (find_file(invocation, &options, named, &file, &failure) != STATUS_OK ||
        master_key_load(&options, &key, &failure) != STATUS_OK) {
        return fail(&failure);
    }
    struct db_options from = describe(&options, file, &key);
    struct blob_place blobs = blobs_of(&options, named ? blobs_beside(invocation, named, ".blobs")
                                                       : blobs_beside(invocation, options.data, "/blobs"));
    int code = verify(&from, &blobs);
    master_key_forget(&key);
    return code;
}

/* --- rekey and seal --- */

/* What a change of the whole store needs. The data directory is locked: a server that runs would go on as before. */
struct overhaul {
    struct options options;
    struct master_key key;
    struct db *db;
    int lock_fd;
};

static enum status overhaul_begin(const struct invocation *invocation, struct overhaul *out, struct failure *failure)
{
    const char *file;
    enum status status = find_file(invocation, &out->options, NULL, &file, failure);
    if (status == STATUS_OK) {
        status = master_key_load(&out->options, &out->key, failure);
    }
    if (status == STATUS_OK) {
        status = store_lock_directory(out->options.data, &out->lock_fd, failure);
    }
    if (status == STATUS_OK) {
        struct db_options store = describe(&out->options, file, &out->key);
        store.read_only = false;
        status = db_open(&store, &out->db, failure);
    }
    return status;
}

static void overhaul_end(struct overhaul *overhaul)
{
    if (overhaul->db) {
        db_close(overhaul->db);
    }
    store_unlock_directory(overhaul->lock_fd);
    master_key_forget(&overhaul->key);
}

int command_rekey(const struct invocation *invocation)
{
    struct overhaul overhaul = {.lock_fd = -1};
    struct failure failure;
    struct master_key fresh = {0};
    int64_t count = 0;
    if (maintenance_load(invocation, &overhaul.options, &failure) != STATUS_OK) {
        return command_refuse(invocation->command, &failure);
    }
    enum status status = master_key_read(invocation->arguments->positionals[0], &fresh, &failure);
    if (status == STATUS_OK) {
        status = overhaul_begin(invocation, &overhaul, &failure);
    }
    if (status == STATUS_OK) {
        status = store_rekey(overhaul.db, fresh.bytes, &count, &failure);
    }
    overhaul_end(&overhaul);
    master_key_forget(&fresh);
    if (status != STATUS_OK) {
        return fail(&failure);
    }
    printf("the keys of %lld sessions are wrapped by the new master key; start the server with it\n", (long long)count);
    return EXIT_DONE;
}

int command_seal(const struct invocation *invocation)
{
    struct overhaul overhaul = {.lock_fd = -1};
    struct failure failure;
    struct reseal_report report;
    if (maintenance_load(invocation, &overhaul.options, &failure) != STATUS_OK) {
        return command_refuse(invocation->command, &failure);
    }
    struct blob_place blobs = blobs_of(&overhaul.options, blobs_beside(invocation, overhaul.options.data, "/blobs"));
    enum status status = overhaul_begin(invocation, &overhaul, &failure);
    if (status == STATUS_OK) {
        status = store_reseal(overhaul.db, &blobs, &report, &failure);
    }
    overhaul_end(&overhaul);
    if (status != STATUS_OK) {
        return fail(&failure);
    }
    printf("%lld sessions from before the master key are encrypted now, %lld texts in all\n",
           (long long)report.sessions, (long long)report.texts);
    return EXIT_DONE;
}
