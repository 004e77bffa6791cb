#include "service/work/entity.h"

enum status entity_check_reach(struct call *call)
{
    const struct principal *who = call->who;
    bool person = who->kind == PRINCIPAL_USER && who->member != MEMBER_NONE;
    bool allowed = person || who->kind == PRINCIPAL_WORKER || who->kind == PRINCIPAL_SYSTEM;
    return allowed && !slice_present(who->id_prefix) && !slice_present(who->session_id)
               ? STATUS_OK
               : failure_set(&call->failure, STATUS_FORBIDDEN, "tenant_wide",
                             "Tasks, entities and runs are of the whole tenant; this credential reaches a part of it.");
}

static enum status not_found(struct call *call, enum status status)
{
    return status == STATUS_NOT_FOUND
               ? failure_set(&call->failure, status, "entity_not_found", "There is no such entity.")
               : status;
}

enum status entity_find(struct call *call, struct slice id, struct entity *out)
{
    return not_found(call, store_entity_get(call->db, call->who->tenant_key, id, call->arena, out, &call->failure));
}

/* --- lists --- */

enum { SEARCHED_AT_ONCE = 32 };

static enum status list_rows(struct call *call, const struct entity_query *query, struct slice after, int64_t limit,
                             struct arena *arena, struct entity **out, size_t *out_count)
{
    return store_entity_list(call->db, call->who->tenant_key, after, query->type, limit, arena, out, out_count,
                             &call->failure);
}

static enum status list_all(struct call *call, const struct entity_query *query, struct entity_page *out)
{
    enum status status =
        list_rows(call, query, query->after, query->limit + 1, call->arena, &out->entities, &out->count);
    out->has_more = status == STATUS_OK && (int64_t)out->count > query->limit;
    if (out->has_more) {
        out->count = (size_t)query->limit;
        out->cursor = out->entities[out->count - 1].id;
    }
    return status;
}

static struct entity entity_copy(struct arena *arena, const struct entity *entity)
{
    struct entity copy = *entity;
    copy.id = arena_copy(arena, entity->id);
    copy.type = arena_copy(arena, entity->type);
    copy.fields = arena_copy(arena, entity->fields);
    copy.updated_by = arena_copy(arena, entity->updated_by);
    return copy;
}

/* Takes what matches; false when the page is full before all were looked at. */
static bool take_found(struct call *call, const struct entity_query *query, const struct entity *rows, size_t count,
                       struct arena *scratch, struct entity_page *out)
{
    size_t seen = 0;
    while (seen < count && (int64_t)out->count < query->limit) {
        const struct entity *row = &rows[seen++];
        if (entity_has_text(scratch, row, query->text)) {
            out->entities[out->count++] = entity_copy(call->arena, row);
        }
    }
    if (seen > 0) {
        out->cursor = arena_copy(call->arena, rows[seen - 1].id);
    }
    return seen == count;
}

static int64_t bytes_of(const struct entity *rows, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += rows[i].fields.len;
    }
    return (int64_t)bytes;
}

static enum status search(struct call *call, const struct entity_query *query, struct entity_page *out)
{
    struct arena scratch = {0};
    enum status status = STATUS_OK;
    int64_t left = call->service->limits.work.entities_searched_max,
            bytes_left = call->service->limits.work.search_bytes_max;
    size_t count = 0, wanted = 0;
    out->cursor = query->after;
    out->entities = arena_array(call->arena, (size_t)query->limit, sizeof *out->entities);
    out->has_more = true;
    while (status == STATUS_OK && left > 0 && bytes_left > 0 && count == wanted) {
        struct entity *rows;
        wanted = left < SEARCHED_AT_ONCE ? (size_t)left : SEARCHED_AT_ONCE;
        status = list_rows(call, query, out->cursor, (int64_t)wanted, &scratch, &rows, &count);
        if (status == STATUS_OK && !take_found(call, query, rows, count, &scratch, out)) {
            break;
        }
        left -= (int64_t)wanted;
        bytes_left -= bytes_of(rows, count);
        out->has_more = count == wanted;
        arena_release(&scratch);
    }
    arena_release(&scratch);
    return status;
}

enum status entity_list(struct call *call, const struct entity_query *query, struct entity_page *out)
{
    *out = (struct entity_page){0};
    enum status status = entity_check_reach(call);
    if (status != STATUS_OK) {
        return status;
    }
    return slice_present(query->text) && query->text.len > 0 ? search(call, query, out) : list_all(call, query, out);
}

/* --- commands --- */

enum status entity_create(struct call *call, struct slice id, struct slice type, const struct json *fields,
                          struct entity *out)
{
    char uuid[UUID_TEXT_BYTES];
    id_uuid7(call->service->ids, call->now_ms, uuid);
    *out = (struct entity){
        .id = slice_present(id) ? id : arena_copy(call->arena, slice_of(uuid)),
        .type = type,
        .fields = fields ? fields->raw : SLICE("{}"),
        .version = 1,
        .created_at_ms = call->now_ms,
        .updated_at_ms = call->now_ms,
        .updated_by = call->who->name,
    };
    enum status status = entity_check_reach(call);
    if (status == STATUS_OK) {
        status = entity_check(out, call->service->limits.work.entity_bytes_max, &call->failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    return store_entity_insert(call->db, call->who->tenant_key, out, &call->failure);
}

static enum status check_version(struct call *call, const struct entity *entity, int64_t version)
{
    if (version == 0 || version == entity->version) {
        return STATUS_OK;
    }
    enum status status = failure_set(&call->failure, STATUS_STALE, "version_changed",
                                     "The entity has version %lld by now, not %lld; look at it and try again.",
                                     (long long)entity->version, (long long)version);
    failure_members(&call->failure, "\"version\":%lld", (long long)entity->version);
    return status;
}

static enum status save(struct call *call, int64_t tenant_key, struct entity *entity)
{
    entity->updated_at_ms = call->now_ms;
    entity->updated_by = call->who->name;
    return store_entity_update(call->db, tenant_key, entity, &call->failure);
}

static enum status apply(struct call *call, int64_t tenant_key, struct entity *entity, const struct json *fields,
                         bool *out_changed)
{
    enum status status = entity_apply(call->arena, entity, fields, call->service->limits.work.entity_bytes_max,
                                      out_changed, &call->failure);
    return status == STATUS_OK && *out_changed ? save(call, tenant_key, entity) : status;
}

enum status entity_change(struct call *call, struct slice id, const struct json *fields, int64_t version,
                          struct entity *out)
{
    bool changed;
    enum status status = entity_check_reach(call);
    if (status == STATUS_OK) {
        status =
            not_found(call, store_entity_lock(call->db, call->who->tenant_key, id, call->arena, out, &call->failure));
    }
    if (status == STATUS_OK) {
        status = check_version(call, out, version);
    }
    return status == STATUS_OK ? apply(call, call->who->tenant_key, out, fields, &changed) : status;
}

enum status entity_remove(struct call *call, struct slice id, int64_t version)
{
    struct entity entity;
    bool deleted = false;
    enum status status = entity_check_reach(call);
    if (status == STATUS_OK) {
        status = not_found(
            call, store_entity_lock(call->db, call->who->tenant_key, id, call->arena, &entity, &call->failure));
    }
    if (status == STATUS_OK) {
        status = check_version(call, &entity, version);
    }
    if (status != STATUS_OK) {
        return status;
    }
    return store_entity_delete(call->db, call->who->tenant_key, id, version, &deleted, &call->failure);
}

enum status entity_fill(struct call *call, int64_t tenant_key, struct slice id, struct slice fields, struct entity *out,
                        bool *out_changed)
{
    const struct json *patch = NULL;
    *out_changed = false;
    enum status status = json_parse(call->arena, fields, &patch, &call->failure);
    if (status == STATUS_OK) {
        status = not_found(call, store_entity_lock(call->db, tenant_key, id, call->arena, out, &call->failure));
    }
    return status == STATUS_OK ? apply(call, tenant_key, out, patch, out_changed) : status;
}
