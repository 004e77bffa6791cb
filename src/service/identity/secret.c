#include "service/identity/secret.h"

#include <pthread.h>
#include <sodium.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/json.h"
#include "base/log.h"
#include "service/identity/secret_stream.h"
#include "service/core/service.h"
#include "store/seal/secret_file.h"

enum { PATH_BYTES = 4096 };

/* The variables of the environment that are secrets of providers. */
static const char *const variables[] = {"ANTHROPIC_API_KEY", "OPENAI_API_KEY"};
enum { VARIABLE_COUNT = sizeof variables / sizeof variables[0] };

struct secrets {
    const struct secret_place *place;
    bool of_environment; /* some are */
    struct slice of_variable[VARIABLE_COUNT];
    atomic_bool any; /* there is something to look for at all */
    pthread_mutex_t lock;
    struct secret_records records;
    struct timespec changed_at;
    unsigned char *lent;
    pthread_mutex_t live_lock;
    struct secret_streams live; /* of workers */
};

static struct timespec change_of(const struct secrets *secrets)
{
    char path[PATH_BYTES];
    struct stat info;
    snprintf(path, sizeof path, "%s/secrets", secrets->place->directory);
    return stat(path, &info) == 0 ? info.st_mtim : (struct timespec){0};
}

enum status secrets_reload(struct secrets *secrets, struct failure *failure)
{
    struct secret_records records, before;
    struct timespec changed_at = change_of(secrets);
    enum status status = secret_file_read(secrets->place, &records, failure);
    if (status != STATUS_OK) {
        return status;
    }
    pthread_mutex_lock(&secrets->lock);
    before = secrets->records;
    secrets->records = records;
    secrets->changed_at = changed_at;
    secrets->any = secrets->of_environment || records.len > 0;
    pthread_mutex_unlock(&secrets->lock);
    secret_records_release(&before);
    if (records.len > 0) {
        secrets_guard_process();
    }
    return STATUS_OK;
}

static void take_variables(struct secrets *secrets)
{
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        secrets->of_variable[i] = slice_of(getenv(variables[i]));
        secrets->of_environment = secrets->of_environment || slice_present(secrets->of_variable[i]);
    }
}

enum status secrets_open(const struct secret_place *place, struct secrets **out, struct failure *failure)
{
    struct secrets *secrets = memory_zeroed(sizeof *secrets);
    secrets->place = place;
    pthread_mutex_init(&secrets->lock, NULL);
    pthread_mutex_init(&secrets->live_lock, NULL);
    take_variables(secrets);
    if (secrets->of_environment || place->key) {
        secrets_guard_process();
    }
    enum status status = secrets_reload(secrets, failure);
    if (status != STATUS_OK) {
        secrets_close(secrets);
        return status;
    }
    *out = secrets;
    return STATUS_OK;
}

void secrets_close(struct secrets *secrets)
{
    if (secrets) {
        secret_records_release(&secrets->records);
        sodium_free(secrets->lent);
        secret_streams_release(&secrets->live);
        pthread_mutex_destroy(&secrets->lock);
        pthread_mutex_destroy(&secrets->live_lock);
        free(secrets);
    }
}

static void reload_changed(struct secrets *secrets)
{
    struct failure failure;
    struct timespec now = change_of(secrets);
    if (now.tv_sec == secrets->changed_at.tv_sec && now.tv_nsec == secrets->changed_at.tv_nsec) {
        return;
    }
    if (secrets_reload(secrets, &failure) != STATUS_OK) {
        log_error("secrets_not_reread", LOG_TEXT("detail", slice_of(failure.detail)));
    }
}

struct slice secrets_get(void *owner, const char *name)
{
    struct secrets *secrets = owner;
    const char *variable = getenv(name);
    if (variable && *variable) {
        return slice_of(variable);
    }
    reload_changed(secrets);
    pthread_mutex_lock(&secrets->lock);
    struct slice value = secret_records_get(&secrets->records, slice_of(name));
    sodium_free(secrets->lent);
    secrets->lent = NULL;
    if (value.len) {
        secrets->lent = sodium_malloc(value.len);
        if (!secrets->lent) {
            abort(); /* out of memory */
        }
        memcpy(secrets->lent, value.ptr, value.len);
        value = slice_from(secrets->lent, value.len);
    }
    pthread_mutex_unlock(&secrets->lock);
    return value;
}

bool secrets_have(struct secrets *secrets, const char *name)
{
    const char *variable = getenv(name);
    if ((variable && *variable) || !secrets) {
        return variable && *variable;
    }
    pthread_mutex_lock(&secrets->lock);
    bool has = secret_records_get(&secrets->records, slice_of(name)).len > 0;
    pthread_mutex_unlock(&secrets->lock);
    return has;
}

/* --- what clients send --- */

static bool holds(struct slice text, struct slice value)
{
    return value.len >= SECRET_BYTES_MIN && memmem(text.ptr, text.len, value.ptr, value.len) != NULL;
}

static bool holds_any(struct secrets *secrets, struct slice text)
{
    struct slice name, value;
    bool found = false;
    for (size_t i = 0; i < VARIABLE_COUNT && text.len && secrets->of_environment; i++) {
        found = found || holds(text, secrets->of_variable[i]);
    }
    pthread_mutex_lock(&secrets->lock);
    for (size_t at = 0; !found && text.len && secret_records_next(&secrets->records, &at, &name, &value);) {
        found = holds(text, value);
    }
    pthread_mutex_unlock(&secrets->lock);
    return found;
}

/* The name is not told: it is no business of who sent the text. */
static enum status refuse(struct call *call)
{
    return failure_set(&call->failure, STATUS_INVALID, "contains_secret",
                       "This holds the value of a secret that the server keeps; secrets never go into the log or to a "
                       "model. Nothing was stored.");
}

enum status secret_check_text(struct call *call, struct slice text)
{
    struct secrets *secrets = call->service->secrets;
    return secrets && secrets->any && holds_any(secrets, text) ? refuse(call) : STATUS_OK;
}

static bool value_holds_any(struct secrets *secrets, const struct json *value)
{
    if (holds_any(secrets, value->text) || holds_any(secrets, value->key)) {
        return true;
    }
    bool found = false;
    for (const struct json *child = value->child; child && !found; child = child->next) {
        found = value_holds_any(secrets, child);
    }
    return found;
}

/* What is written with escapes is looked at as it reads. */
enum status secret_check_json(struct call *call, struct slice json)
{
    struct secrets *secrets = call->service->secrets;
    const struct json *value;
    struct failure unread;
    if (!secrets || !secrets->any || json.len == 0) {
        return STATUS_OK;
    }
    bool found = holds_any(secrets, json);
    if (!found && memchr(json.ptr, '\\', json.len) && json_parse(call->arena, json, &value, &unread) == STATUS_OK) {
        found = value_holds_any(secrets, value);
    }
    return found ? refuse(call) : STATUS_OK;
}

/* --- what others say --- */

static struct slice mask_one(struct arena *arena, struct slice text, struct slice value)
{
    struct buffer out = {0};
    if (!holds(text, value)) {
        return text;
    }
    for (const char *at; holds(text, value); text = slice_after(text, (size_t)(at - text.ptr) + value.len)) {
        at = memmem(text.ptr, text.len, value.ptr, value.len);
        buffer_add(&out, slice_from(text.ptr, (size_t)(at - text.ptr)));
        buffer_add(&out, SLICE(SECRET_MASK));
    }
    buffer_add(&out, text);
    struct slice masked = arena_copy(arena, buffer_slice(&out));
    buffer_release(&out);
    return masked;
}

struct slice secrets_mask(void *owner, struct arena *arena, struct slice text)
{
    struct secrets *secrets = owner;
    struct slice name, value;
    if (!secrets_any(secrets) || text.len == 0) {
        return text;
    }
    for (size_t i = 0; i < VARIABLE_COUNT && secrets->of_environment; i++) {
        text = mask_one(arena, text, secrets->of_variable[i]);
    }
    pthread_mutex_lock(&secrets->lock);
    for (size_t at = 0; secret_records_next(&secrets->records, &at, &name, &value);) {
        text = mask_one(arena, text, value);
    }
    pthread_mutex_unlock(&secrets->lock);
    return text;
}

static void write_masked(struct secrets *secrets, struct arena *arena, struct json_out *out, const struct json *value)
{
    if (value->kind == JSON_OBJECT || value->kind == JSON_ARRAY) {
        bool is_object = value->kind == JSON_OBJECT;
        is_object ? json_begin_object(out) : json_begin_array(out);
        for (const struct json *child = value->child; child; child = child->next) {
            if (is_object) {
                json_key_slice(out, secrets_mask(secrets, arena, child->key));
            }
            write_masked(secrets, arena, out, child);
        }
        is_object ? json_end_object(out) : json_end_array(out);
    } else if (value->kind == JSON_STRING) {
        json_text(out, secrets_mask(secrets, arena, value->text));
    } else {
        json_raw(out, value->raw);
    }
}

/* Written with escapes ("\/" for "/", line ends), a value is found only in what the texts mean. */
struct slice secret_mask_json(struct call *call, struct slice json)
{
    struct secrets *secrets = call->service->secrets;
    const struct json *value;
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    if (!secrets_any(secrets) || json.len == 0) {
        return json;
    }
    json = secrets_mask(secrets, call->arena, json);
    if (!memchr(json.ptr, '\\', json.len) || json_parse(call->arena, json, &value, NULL) != STATUS_OK ||
        !value_holds_any(secrets, value)) {
        return json;
    }
    write_masked(secrets, call->arena, &out, value);
    json = arena_copy(call->arena, buffer_slice(&text));
    buffer_release(&text);
    return json;
}

/* As long as before, so that sizes that were told stay true. */
void secrets_blank(struct secrets *secrets, struct arena *arena, struct slice *bytes)
{
    size_t at, len;
    if (!secrets_any(secrets) || !secrets_find(secrets, *bytes, &at, &len)) {
        return;
    }
    struct slice copy = arena_copy(arena, *bytes);
    char *to = (char *)copy.ptr;
    for (size_t from = 0; secrets_find(secrets, slice_after(copy, from), &at, &len); from += at + len) {
        memset(to + from + at, '*', len);
    }
    *bytes = copy;
}

/* --- what comes in pieces --- */

bool secrets_any(struct secrets *secrets)
{
    return secrets && secrets->any;
}

/* Calls `look` for each value that is looked for. */
static void each_value(struct secrets *secrets, void (*look)(void *owner, struct slice value), void *owner)
{
    struct slice name, value;
    for (size_t i = 0; i < VARIABLE_COUNT; i++) {
        if (secrets->of_variable[i].len >= SECRET_BYTES_MIN) {
            look(owner, secrets->of_variable[i]);
        }
    }
    pthread_mutex_lock(&secrets->lock);
    for (size_t at = 0; secret_records_next(&secrets->records, &at, &name, &value);) {
        if (value.len >= SECRET_BYTES_MIN) {
            look(owner, value);
        }
    }
    pthread_mutex_unlock(&secrets->lock);
}

struct finding {
    struct slice text;
    const char *at; /* NULL = nothing */
    size_t len;
};

static void look_for(void *owner, struct slice value)
{
    struct finding *found = owner;
    const char *at = memmem(found->text.ptr, found->text.len, value.ptr, value.len);
    if (at && (!found->at || at < found->at || (at == found->at && value.len > found->len))) {
        found->at = at;
        found->len = value.len;
    }
}

bool secrets_find(struct secrets *secrets, struct slice text, size_t *out_at, size_t *out_len)
{
    struct finding found = {.text = text};
    if (text.len >= SECRET_BYTES_MIN) {
        each_value(secrets, look_for, &found);
    }
    if (found.at) {
        *out_at = (size_t)(found.at - text.ptr);
        *out_len = found.len;
    }
    return found.at != NULL;
}

static void look_at_end(void *owner, struct slice value)
{
    struct finding *found = owner;
    size_t most = value.len - 1 < found->text.len ? value.len - 1 : found->text.len;
    const char *end = found->text.ptr + found->text.len;
    for (size_t len = most; len > found->len; len--) {
        if (end[-(ptrdiff_t)len] == value.ptr[0] && memcmp(end - len, value.ptr, len) == 0) {
            found->len = len;
        }
    }
}

size_t secrets_begun(struct secrets *secrets, struct slice text)
{
    struct finding found = {.text = text};
    if (text.len > 0) {
        each_value(secrets, look_at_end, &found);
    }
    return found.len;
}

struct slice secrets_pass_live(struct secrets *secrets, bool hides_marks, struct slice key, int64_t epoch,
                               struct slice text, struct buffer *scratch)
{
    if (!secrets || (!hides_marks && !secrets_any(secrets))) {
        return text;
    }
    pthread_mutex_lock(&secrets->live_lock);
    struct slice shown = secret_streams_pass(&secrets->live, secrets, hides_marks, key, epoch, text, scratch);
    pthread_mutex_unlock(&secrets->live_lock);
    return shown;
}

void secrets_guard_process(void)
{
    struct rlimit none = {0, 0};
    (void)setrlimit(RLIMIT_CORE, &none);
    (void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}
