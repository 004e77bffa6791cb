#include <stdio.h>

#include "cli/client_commands.h"
#include "cli/confirm.h"
#include "cli/listed.h"
#include "cli/forwarded_options.h"

static const char *const kind_names[] = {"user", "worker", "runner", "sandbox", "channel"};
static const char *const role_names[] = {"member", "admin", "owner"};
static const struct enum_names kind_enum = {kind_names, 5}, role_enum = {role_names, 3};

/* clang-format off */
static const struct option token_table[] = {
    {.name = "The token", .type = OPTION_SECTION},
    PASS_CHOICE("kind", kind_enum, "The kind of client. Default: user."),
    PASS_WORDS("scopes", "SCOPES", "Scopes, separated by commas: read, write, claim, admin. Default: all of your own."),
    PASS_TEXT("id-prefix", "PREFIX", "Only for sessions whose id begins with this, such as telegram:"),
    PASS_TEXT("session-id", "SESSION", "Only for this session."),
    PASS_TEXT("user-id", "USER", "The user it acts for. Default: you."),
    PASS_TEXT("expires-at", "MOMENT", "Expiry, such as 2027-01-01T00:00:00Z. Default: never."),
    {0},
};
static const struct option user_table[] = {
    {.name = "The user", .type = OPTION_SECTION},
    PASS_TEXT("name", "NAME", "The display name."),
    PASS_CHOICE("role", role_enum, "The role in the tenant."),
    PASS_NUMBER("sessions-max", 0, 1000000, "Maximum active sessions of the user; 0 = the server's limit."),
    {0},
};
static const struct option tenant_table[] = {
    PASS_TEXT("name", "NAME", "The display name."),
    {0},
};
/* clang-format on */

const struct option *const plain_tables[] = {output_option_table, remote_option_table, NULL};
static const struct option token_list_table[] = {
    PASS_SWITCH("revoked", "Include revoked and expired tokens."),
    {0},
};

const struct option *const tokens_list_tables[] = {token_list_table, output_option_table, remote_option_table, NULL};
const struct option *const tokens_create_tables[] = {token_table, output_option_table, remote_option_table, NULL};
const struct option *const users_create_tables[] = {user_table, output_option_table, remote_option_table, NULL};
const struct option *const users_update_tables[] = {user_table, output_option_table, remote_option_table, NULL};
const struct option *const users_remove_tables[] = {confirm_table, output_option_table, remote_option_table, NULL};
const struct option *const tenants_create_tables[] = {tenant_table, output_option_table, remote_option_table, NULL};

/* --- lists --- */

static const struct table_column token_columns[] = {
    {"TOKEN", false, 0},  {"NAME", false, 2},   {"KIND", false, 0},   {"SCOPES", false, 3}, {"USER", false, 1},
    {"PREFIX", false, 4}, {"CREATED", true, 0}, {"EXPIRES", true, 0}, {"REVOKED", true, 0}, {0},
};
static const char *const token_keys[] = {"id",        "name",       "kind",       "scopes",    "user_id",
                                         "id_prefix", "created_at", "expires_at", "revoked_at"};
static const struct listed token_lists[] = {
    {"tokens", token_columns, token_keys, "no tokens; make one with: sojourn tokens create NAME"}, {0}};

static const struct table_column user_columns[] = {
    {"USER", false, 0},
    {"EMAIL", false, 2},
    {"NAME", false, 1},
    {"ROLE", false, 0},
    {"SESSIONS MAX", true, 0},
    {"CREATED", true, 0},
    {0},
};
static const char *const user_keys[] = {"id", "email", "name", "role", "sessions_max", "created_at"};
static const struct listed user_lists[] = {
    {"users", user_columns, user_keys, "no users; add one with: sojourn users create EMAIL"}, {0}};

static const struct table_column tenant_columns[] = {
    {"TENANT", false, 0}, {"NAME", false, 1}, {"YOUR ROLE", false, 0}, {"CREATED", true, 0}, {0},
};
static const char *const tenant_keys[] = {"id", "name", "role", "created_at"};
static const struct listed tenant_lists[] = {{"tenants", tenant_columns, tenant_keys, "no tenants"}, {0}};

static const struct table_column queue_columns[] = {
    {"AGENT", false, 1}, {"PENDING", true, 0}, {"CLAIMED", true, 0}, {"OLDEST", true, 0}, {0},
};
static const char *const queue_keys[] = {"agent", "pending", "leased", "oldest_queued_at"};
static const struct table_column worker_columns[] = {
    {"WORKER", false, 1},
    {"CLAIMED", true, 0},
    {"HEARTBEAT", true, 0},
    {0},
};
static const char *const worker_keys[] = {"worker", "leases", "last_heartbeat_at"};
static const struct listed queue_lists[] = {
    {"queues", queue_columns, queue_keys, "nothing waits for workers; sojourn sessions list shows what there is"},
    {"workers", worker_columns, worker_keys, "no workers"},
    {0}};

int command_tokens_list(const struct invocation *invocation)
{
    return listed_show_with(invocation, "/api/tokens", token_list_table, token_lists);
}

int command_users_list(const struct invocation *invocation)
{
    return listed_show(invocation, "/api/users", user_lists);
}

int command_tenants_list(const struct invocation *invocation)
{
    return listed_show(invocation, "/api/tenants", tenant_lists);
}

int command_queue(const struct invocation *invocation)
{
    return listed_show(invocation, "/api/queue", queue_lists);
}

/* --- one thing --- */

static void add_words(struct buffer *out, const struct json *value)
{
    bool is_list = value->kind == JSON_ARRAY;
    if (!is_list) {
        text_add_plain(out, value->kind == JSON_STRING ? value->text : value->raw);
    }
    for (const struct json *word = is_list ? value->child : NULL; word; word = word->next) {
        buffer_add(out, word == value->child ? SLICE("") : SLICE(", "));
        text_add_plain(out, word->kind == JSON_STRING ? word->text : word->raw);
    }
}

static int print_members(struct remote *remote, const struct json *object, const void *detail)
{
    (void)remote;
    (void)detail;
    struct buffer text = {0};
    for (const struct json *member = object->child; member; member = member->next) {
        if (member->kind != JSON_NULL) {
            buffer_format(&text, "%-12.*s ", SLICE_ARG(member->key));
            add_words(&text, member);
            buffer_add_byte(&text, '\n');
        }
    }
    int code = remote_print(buffer_slice(&text));
    buffer_release(&text);
    return code;
}

int command_whoami(const struct invocation *invocation)
{
    struct remote remote;
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        struct client_request request = {.method = "GET", .target = SLICE("/api/me")};
        code = remote_show(&remote, &request, print_members, NULL);
    }
    remote_close(&remote);
    return code;
}

/* The body of a call: the command's first word under `key` (NULL = it stands in the path), and the options. */
static int write_body(struct remote *remote, const char *key, const struct option *table, struct buffer *body)
{
    struct json_out out = json_out_to(body);
    json_begin_object(&out);
    if (key) {
        json_put_text(&out, key, slice_of(remote->invocation->arguments->positionals[0]));
    }
    int code = remote_members(remote, table, &out);
    json_end_object(&out);
    return code;
}

/* Something new of which a token is told once. The token alone goes to standard output, so that it can be caught. */
struct creation {
    const char *target;
    const char *key; /* the member that the command's first word is */
    const char *note;
    const struct option *table;
};

static int create(const struct invocation *invocation, const struct creation *creation)
{
    struct remote remote;
    struct buffer body = {0};
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        code = write_body(&remote, creation->key, creation->table, &body);
    }
    if (code == EXIT_DONE) {
        struct client_request request = {
            .method = "POST", .target = slice_of(creation->target), .body = buffer_slice(&body)};
        code = remote_show(&remote, &request, remote_print_member, "token");
    }
    if (code == EXIT_DONE && !remote.wants_json) {
        fprintf(stderr, "%s\n", creation->note);
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

int command_tokens_create(const struct invocation *invocation)
{
    return create(invocation,
                  &(struct creation){"/api/tokens", "name", "save this token; it is not shown again", token_table});
}

static int print_sign_in(struct remote *remote, const struct json *user, const void *detail)
{
    (void)detail;
    const char *address = client_address(remote->client);
    struct slice secret = json_text_of(user, "sign_in_secret");
    bool has_pages = strncmp(address, "http", 4) == 0;
    fprintf(stderr, "this %s signs the user in, once:\n", has_pages ? "link" : "secret");
    struct slice link = arena_format(remote->arena, "%s/sign-in#%.*s", address, SLICE_ARG(secret));
    return remote_print_line(has_pages ? link : secret);
}

int command_users_create(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer body = {0};
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        code = write_body(&remote, "email", user_table, &body);
    }
    if (code == EXIT_DONE) {
        struct client_request request = {.method = "POST", .target = SLICE("/api/users"), .body = buffer_slice(&body)};
        code = remote_show(&remote, &request, print_sign_in, NULL);
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

int command_tenants_create(const struct invocation *invocation)
{
    return create(invocation,
                  &(struct creation){"/api/tenants", "id",
                                     "this is the first token of the tenant; it is shown only now", tenant_table});
}

int command_users_update(const struct invocation *invocation)
{
    struct remote remote;
    struct buffer body = {0};
    int code = remote_open_plain(invocation, &remote);
    if (code == EXIT_DONE) {
        code = write_body(&remote, NULL, user_table, &body);
    }
    if (code == EXIT_DONE) {
        struct slice path = remote_path(&remote, "users", slice_of(invocation->arguments->positionals[0]), "");
        struct client_request request = {.method = "PATCH", .target = path, .body = buffer_slice(&body)};
        code = remote_show(&remote, &request, print_members, NULL);
    }
    buffer_release(&body);
    remote_close(&remote);
    return code;
}

/* --- endings --- */

int command_tokens_revoke(const struct invocation *invocation)
{
    return remote_do_each(
        invocation, &(struct remote_deed){.method = "DELETE", .collection = "tokens", .tail = "", .done = "revoked"});
}

int command_users_remove(const struct invocation *invocation)
{
    return remote_do_each(invocation, &(struct remote_deed){.method = "DELETE",
                                                            .collection = "users",
                                                            .tail = "",
                                                            .done = "removed",
                                                            .verb = "Remove",
                                                            .rest = "from the tenant?"});
}
