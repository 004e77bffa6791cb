#include "wire/json_patch.h"

#include "base/budget.h"
#include "base/enum_names.h"

static const char *const kind_names[PATCH_KIND_COUNT] = {"add", "remove", "replace", "move", "copy", "test"};
static const struct enum_names kinds = {kind_names, PATCH_KIND_COUNT};

/* The document under change: a copy whose containers lose their raw text when something in them changes. */
struct patcher {
    struct arena *arena;
    const struct json_patch_limits *limits;
    struct json *root;
    size_t copies_left; /* of values; bounds the memory that a patch full of copies can ask for */
};

static bool takes_value(enum json_patch_kind kind)
{
    return kind == PATCH_ADD || kind == PATCH_REPLACE || kind == PATCH_TEST;
}

static bool takes_from(enum json_patch_kind kind)
{
    return kind == PATCH_MOVE || kind == PATCH_COPY;
}

static bool is_proper_prefix(const struct json_pointer *prefix, const struct json_pointer *whole)
{
    if (prefix->count >= whole->count) {
        return false;
    }
    for (size_t i = 0; i < prefix->count; i++) {
        if (!slice_eq(prefix->tokens[i], whole->tokens[i])) {
            return false;
        }
    }
    return true;
}

static bool read_pointer(struct arena *arena, const struct json *op, const char *name, struct json_pointer *out)
{
    struct slice text;
    return json_as_text(json_get(op, name), &text) && json_pointer_parse(arena, text, out);
}

/* What is wrong with the operation, or NULL. */
static const char *parse_op(struct arena *arena, const struct json *json, struct json_patch_op *out)
{
    if (!json_is(json, JSON_OBJECT)) {
        return "it must be an object";
    }
    int kind = enum_names_find(kinds, json_text_of(json, "op"));
    if (kind < 0) {
        return "\"op\" must be add, remove, replace, move, copy or test";
    }
    *out = (struct json_patch_op){.kind = (enum json_patch_kind)kind, .value = json_get(json, "value")};
    if (!read_pointer(arena, json, "path", &out->path)) {
        return "\"path\" must be a JSON Pointer";
    }
    out->path_text = json_text_of(json, "path");
    if (takes_value(out->kind) && !out->value) {
        return "\"value\" is missing";
    }
    if (takes_from(out->kind) && !read_pointer(arena, json, "from", &out->from)) {
        return "\"from\" must be a JSON Pointer";
    }
    if (out->kind == PATCH_MOVE && is_proper_prefix(&out->from, &out->path)) {
        return "a value cannot move into itself";
    }
    return out->kind == PATCH_REMOVE && out->path.count == 0 ? "the whole document cannot be removed" : NULL;
}

enum status json_patch_parse(struct arena *arena, const struct json *patch, const struct json_patch_limits *limits,
                             struct json_patch *out, struct failure *failure)
{
    if (!json_is(patch, JSON_ARRAY)) {
        return failure_set(failure, STATUS_INVALID, "invalid_patch", "A JSON Patch must be an array of operations.");
    }
    if (patch->count > limits->ops_max) {
        return failure_set(failure, STATUS_TOO_LARGE, "patch_too_large",
                           "The patch has %u operations; at most %zu are accepted.", patch->count, limits->ops_max);
    }
    struct json_patch result = {arena_array(arena, patch->count, sizeof *result.ops), 0};
    for (const struct json *op = patch->child; op; op = op->next) {
        const char *problem = parse_op(arena, op, &result.ops[result.count]);
        if (problem) {
            return failure_set(failure, STATUS_INVALID, "invalid_patch", "Operation [%zu] of the patch is wrong: %s.",
                               result.count, problem);
        }
        result.count++;
    }
    *out = result;
    return STATUS_OK;
}

/* NULL when the patch has used up its copies. */
static struct json *clone(struct patcher *p, const struct json *value)
{
    if (p->copies_left == 0) {
        return NULL;
    }
    p->copies_left--;
    struct json *copy = arena_alloc(p->arena, sizeof *copy);
    *copy = *value;
    copy->next = NULL;
    copy->index = NULL; /* it finds the members of the original */
    budget_spend(1);
    struct json **link = &copy->child;
    for (const struct json *child = value->child; child; child = child->next) {
        *link = clone(p, child);
        if (!*link) {
            return NULL;
        }
        link = &(*link)->next;
    }
    return copy;
}

/* How many containers stand inside each other. */
static size_t nesting(const struct json *value)
{
    if (value->kind != JSON_ARRAY && value->kind != JSON_OBJECT) {
        return 0;
    }
    size_t deepest = 0;
    budget_spend(value->count);
    for (const struct json *child = value->child; child; child = child->next) {
        size_t depth = nesting(child);
        deepest = depth > deepest ? depth : deepest;
    }
    return deepest + 1;
}

/* Bytes of the value as text, never less than what will be written but for escapes in names. */
static size_t text_bytes(const struct json *value)
{
    if (slice_present(value->raw)) {
        return value->raw.len;
    }
    size_t sum = 2;
    budget_spend(value->count);
    for (const struct json *child = value->child; child; child = child->next) {
        sum += text_bytes(child) + 1 + (value->kind == JSON_OBJECT ? child->key.len + 3 : 0);
    }
    return sum;
}

/* The link that holds the child, or NULL. */
static struct json **find_link(struct json *parent, struct slice token)
{
    uint32_t index = 0;
    bool is_array = parent->kind == JSON_ARRAY;
    if ((!is_array && parent->kind != JSON_OBJECT) || (is_array && !json_pointer_index(token, &index))) {
        return NULL;
    }
    struct json **link = &parent->child;
    while (*link && budget_spend(1) && (is_array ? index-- > 0 : !slice_eq((*link)->key, token))) {
        link = &(*link)->next;
    }
    return *link ? link : NULL;
}

/* The container that holds or will hold the last token, marked as changed with all around it; NULL when missing. */
static struct json *open_parent(struct patcher *p, const struct json_pointer *pointer)
{
    struct json *at = p->root;
    at->raw = (struct slice){NULL, 0};
    for (size_t i = 0; i + 1 < pointer->count; i++) {
        struct json **link = find_link(at, pointer->tokens[i]);
        if (!link) {
            return NULL;
        }
        at = *link;
        if (at->kind == JSON_ARRAY || at->kind == JSON_OBJECT) {
            at->raw = (struct slice){NULL, 0};
        }
    }
    return at->kind == JSON_ARRAY || at->kind == JSON_OBJECT ? at : NULL;
}

static struct slice last_token(const struct json_pointer *pointer)
{
    return pointer->tokens[pointer->count - 1];
}

/* Takes the value out of the document; NULL when missing. */
static struct json *detach(struct patcher *p, const struct json_pointer *pointer)
{
    struct json *parent = open_parent(p, pointer);
    struct json **link = parent ? find_link(parent, last_token(pointer)) : NULL;
    if (!link) {
        return NULL;
    }
    struct json *value = *link;
    *link = value->next;
    value->next = NULL;
    parent->count--;
    return value;
}

static void swap_in(struct json **link, struct json *value)
{
    value->key = (*link)->key;
    value->next = (*link)->next;
    *link = value;
}

static bool replace(struct patcher *p, const struct json_pointer *pointer, struct json *value)
{
    if (pointer->count == 0) {
        p->root = value;
        return true;
    }
    struct json *parent = open_parent(p, pointer);
    struct json **link = parent ? find_link(parent, last_token(pointer)) : NULL;
    if (!link) {
        return false;
    }
    swap_in(link, value);
    return true;
}

static bool insert_element(struct json *array, struct slice token, struct json *value)
{
    uint32_t index = array->count;
    if (!slice_is(token, "-") && (!json_pointer_index(token, &index) || index > array->count)) {
        return false;
    }
    struct json **link = &array->child;
    budget_spend(index);
    while (index-- > 0) {
        link = &(*link)->next;
    }
    value->key = (struct slice){NULL, 0};
    value->next = *link;
    *link = value;
    array->count++;
    return true;
}

static void put_member(struct json *object, struct slice name, struct json *value)
{
    struct json **link = &object->child;
    budget_spend(object->count);
    while (*link && !slice_eq((*link)->key, name)) {
        link = &(*link)->next;
    }
    if (*link) {
        swap_in(link, value);
        return;
    }
    value->key = name;
    value->next = NULL;
    *link = value;
    object->count++;
}

static bool add(struct patcher *p, const struct json_pointer *pointer, struct json *value)
{
    if (pointer->count == 0) {
        p->root = value;
        return true;
    }
    struct json *parent = open_parent(p, pointer);
    if (!parent) {
        return false;
    }
    if (parent->kind == JSON_ARRAY) {
        return insert_element(parent, last_token(pointer), value);
    }
    put_member(parent, last_token(pointer), value);
    return true;
}

static enum status path_missing(const struct json_patch_op *op, size_t index, struct failure *failure)
{
    return failure_set(failure, STATUS_CONFLICT, "patch_path_missing",
                       "Operation [%zu] of the patch (%s) found nothing to act on at \"%.*s\".", index,
                       kind_names[op->kind], SLICE_ARG(slice_utf8_prefix(op->path_text, 200)));
}

static enum status too_large(const struct json_patch_op *op, size_t index, struct failure *failure)
{
    return failure_set(failure, STATUS_TOO_LARGE, "patch_too_large",
                       "Operation [%zu] of the patch (%s) makes the document too large or nests it too deeply.", index,
                       kind_names[op->kind]);
}

/* The value that the operation puts into the document. STATUS_CONFLICT: it is missing; STATUS_TOO_LARGE: no copies
 * are left. */
static enum status take_operand(struct patcher *p, const struct json_patch_op *op, struct json **out)
{
    if (op->kind == PATCH_MOVE) {
        *out = detach(p, &op->from);
        return *out ? STATUS_OK : STATUS_CONFLICT;
    }
    const struct json *source = op->kind == PATCH_COPY ? json_pointer_get(&op->from, p->root) : op->value;
    if (!source) {
        return STATUS_CONFLICT;
    }
    *out = clone(p, source);
    return *out ? STATUS_OK : STATUS_TOO_LARGE;
}

static enum status apply_change(struct patcher *p, const struct json_patch_op *op, size_t index,
                                struct failure *failure)
{
    if (op->kind == PATCH_REMOVE) {
        return detach(p, &op->path) ? STATUS_OK : path_missing(op, index, failure);
    }
    if (op->kind == PATCH_MOVE && op->from.count == 0) {
        return STATUS_OK; /* the whole document onto itself */
    }
    struct json *value;
    enum status status = take_operand(p, op, &value);
    if (status != STATUS_OK) {
        return status == STATUS_CONFLICT ? path_missing(op, index, failure) : too_large(op, index, failure);
    }
    if (nesting(value) + op->path.count > JSON_DEPTH_MAX) {
        return too_large(op, index, failure);
    }
    bool placed = op->kind == PATCH_REPLACE ? replace(p, &op->path, value) : add(p, &op->path, value);
    if (!placed) {
        return path_missing(op, index, failure);
    }
    return text_bytes(p->root) > p->limits->result_bytes_max ? too_large(op, index, failure) : STATUS_OK;
}

static enum status apply_test(struct patcher *p, const struct json_patch_op *op, size_t index, struct failure *failure)
{
    const struct json *found = json_pointer_get(&op->path, p->root);
    if (!found) {
        return path_missing(op, index, failure);
    }
    if (!json_equal(found, op->value)) {
        return failure_set(failure, STATUS_CONFLICT, "patch_test_failed",
                           "Operation [%zu] of the patch (test) found another value at \"%.*s\".", index,
                           SLICE_ARG(slice_utf8_prefix(op->path_text, 200)));
    }
    return STATUS_OK;
}

static void write_value(struct json_out *out, const struct json *value)
{
    if (slice_present(value->raw)) {
        json_raw(out, value->raw);
        return;
    }
    bool is_object = value->kind == JSON_OBJECT;
    is_object ? json_begin_object(out) : json_begin_array(out);
    for (const struct json *child = value->child; child; child = child->next) {
        if (is_object) {
            json_key_slice(out, child->key);
        }
        write_value(out, child);
    }
    is_object ? json_end_object(out) : json_end_array(out);
}

enum status json_patch_apply(struct arena *arena, const struct json *document, const struct json_patch *patch,
                             const struct json_patch_limits *limits, struct buffer *out, struct failure *failure)
{
    struct patcher p = {.arena = arena, .limits = limits, .copies_left = 2 * limits->result_bytes_max + 1};
    p.root = clone(&p, document);
    if (!p.root) {
        return failure_set(failure, STATUS_TOO_LARGE, "patch_too_large", "The document is too large to be patched.");
    }
    for (size_t i = 0; i < patch->count; i++) {
        const struct json_patch_op *op = &patch->ops[i];
        enum status status = op->kind == PATCH_TEST ? apply_test(&p, op, i, failure) : apply_change(&p, op, i, failure);
        enum status spent = budget_check(failure);
        if (status != STATUS_OK || spent != STATUS_OK) {
            return spent != STATUS_OK ? spent : status;
        }
    }
    struct json_out json = json_out_to(out);
    write_value(&json, p.root);
    return STATUS_OK;
}
