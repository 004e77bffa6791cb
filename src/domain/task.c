#include "domain/task.h"

#include <stdarg.h>
#include <stdio.h>

#include "domain/contract.h"
#include "domain/input.h"

static enum status refuse(struct failure *failure, const char *format, ...) __attribute__((format(printf, 2, 3)));

static enum status refuse(struct failure *failure, const char *format, ...)
{
    char sentence[600];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    return failure_set(failure, STATUS_INVALID, "invalid_task", "%s", sentence);
}

static bool is_kebab(struct slice text)
{
    bool ok = text.len > 0 && text.len <= TASK_ID_BYTES_MAX;
    for (size_t i = 0; ok && i < text.len; i++) {
        char c = text.ptr[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
        ok = letter || (c == '-' && i > 0 && i + 1 < text.len && text.ptr[i - 1] != '-');
    }
    return ok;
}

static enum status check_id(struct slice id, const char *what, struct failure *failure)
{
    return is_kebab(id) ? STATUS_OK
                        : refuse(failure,
                                 "The id of a %s is written in kebab-case: a-z and 0-9 with single \"-\" between them, "
                                 "at most %d bytes.",
                                 what, TASK_ID_BYTES_MAX);
}

/* --- one step --- */

enum member_kind { MEMBER_TEXT, MEMBER_SWITCH, MEMBER_LIST, MEMBER_OBJECT };

/* Members of a step; the short form of a task has those that are marked. */
static const struct {
    const char *name;
    enum member_kind kind;
    bool is_short;
} step_members[] = {
    {"id", MEMBER_TEXT, false},        {"name", MEMBER_TEXT, false},
    {"agent", MEMBER_TEXT, true},      {"human", MEMBER_SWITCH, true},
    {"prompt", MEMBER_TEXT, true},     {"depends_on", MEMBER_LIST, false},
    {"output", MEMBER_OBJECT, true},   {"requires_approval", MEMBER_SWITCH, true},
    {"criteria", MEMBER_OBJECT, true},
};
enum { STEP_MEMBERS = sizeof step_members / sizeof *step_members };

static bool is_of_kind(const struct json *value, enum member_kind kind)
{
    switch (kind) {
    case MEMBER_TEXT:
        return json_is(value, JSON_STRING);
    case MEMBER_SWITCH:
        return json_is(value, JSON_TRUE) || json_is(value, JSON_FALSE);
    case MEMBER_LIST:
        return json_is(value, JSON_ARRAY);
    case MEMBER_OBJECT:
        return json_is(value, JSON_OBJECT);
    }
    return false;
}

static enum status check_member(const struct json *member, struct failure *failure)
{
    static const char *const kinds[] = {"a text", "true or false", "a list", "an object"};
    for (size_t i = 0; i < STEP_MEMBERS; i++) {
        if (slice_is(member->key, step_members[i].name)) {
            bool fits = json_is(member, JSON_NULL) || is_of_kind(member, step_members[i].kind);
            return fits ? STATUS_OK
                        : refuse(failure, "`%s` of a step must be %s, not %s.", step_members[i].name,
                                 kinds[step_members[i].kind], json_kind_name(member->kind));
        }
    }
    return refuse(failure,
                  "A step has id, name, agent or human, prompt, depends_on, output, requires_approval and criteria; "
                  "%.*s is not known.",
                  SLICE_ARG(slice_utf8_prefix(member->key, 60)));
}

static enum status check_step(const struct task_step *step, bool human, struct failure *failure)
{
    enum status status = check_id(step->id, "step", failure);
    if (status == STATUS_OK && human == slice_present(step->agent)) {
        return refuse(failure, "The step %.*s needs either an `agent` or `human`: true.", SLICE_ARG(step->id));
    }
    if (status == STATUS_OK) {
        status = input_check_name(step->agent, "agent", NAME_BYTES_MAX, failure);
    }
    if (status == STATUS_OK) {
        status = input_check_chars(step->name, "name", 1, TASK_NAME_CHARS_MAX, failure);
    }
    if (status == STATUS_OK) {
        status = input_check_chars(step->prompt, "prompt", 0, TASK_TEXT_CHARS_MAX, failure);
    }
    if (status == STATUS_OK) {
        status = contract_check(step->output, failure);
    }
    if (status == STATUS_OK) {
        status = criteria_check(step->criteria, failure);
    }
    return status == STATUS_OK ? criteria_check_fields(step->criteria, step->output, failure) : status;
}

static void read_members(const struct json *object, struct task_step *out, bool *out_human)
{
    *out = (struct task_step){
        .id = json_text_of(object, "id"),
        .name = json_text_of(object, "name"),
        .agent = json_text_of(object, "agent"),
        .prompt = json_text_of(object, "prompt"),
        .depends_on = json_get_value(object, "depends_on"),
        .output = json_get_value(object, "output"),
        .criteria = json_get_value(object, "criteria"),
    };
    *out_human = false;
    json_as_bool(json_get(object, "requires_approval"), &out->requires_approval);
    json_as_bool(json_get(object, "human"), out_human);
}

enum status task_read_step(const struct json *object, struct task_step *out, struct failure *failure)
{
    bool human;
    enum status status =
        json_is(object, JSON_OBJECT) ? STATUS_OK : refuse(failure, "Each of the `steps` is an object.");
    for (const struct json *one = status == STATUS_OK ? object->child : NULL; one && status == STATUS_OK;
         one = one->next) {
        status = check_member(one, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    read_members(object, out, &human);
    status = check_step(out, human, failure);
    out->name = slice_present(out->name) ? out->name : out->id;
    return status;
}

/* --- how they hang together --- */

static int find_step(const struct task_step *steps, size_t count, struct slice id)
{
    for (size_t i = 0; i < count; i++) {
        if (slice_eq(steps[i].id, id)) {
            return (int)i;
        }
    }
    return -1;
}

static enum status link_step(struct task_step *steps, size_t count, struct task_step *step, struct failure *failure)
{
    step->after = 0;
    for (const struct json *one = step->depends_on ? step->depends_on->child : NULL; one; one = one->next) {
        int before = json_is(one, JSON_STRING) ? find_step(steps, count, one->text) : -1;
        if (before < 0) {
            return refuse(failure, "The step %.*s depends on %.*s, which is no step of this task.", SLICE_ARG(step->id),
                          SLICE_ARG(slice_utf8_prefix(one->raw, 80)));
        }
        step->after |= UINT64_C(1) << before;
    }
    return STATUS_OK;
}

/* Takes away what can be done until nothing is left, or only what waits for itself. */
static enum status check_circles(const struct task_step *steps, size_t count, struct failure *failure)
{
    uint64_t done = 0;
    bool moved = true;
    while (moved) {
        moved = false;
        for (size_t i = 0; i < count; i++) {
            uint64_t bit = UINT64_C(1) << i;
            if (!(done & bit) && (steps[i].after & ~done) == 0) {
                done |= bit;
                moved = true;
            }
        }
    }
    struct buffer stuck = {0};
    for (size_t i = 0; i < count; i++) {
        if (!(done >> i & 1)) {
            buffer_format(&stuck, "%s%.*s", stuck.len ? ", " : "", SLICE_ARG(steps[i].id));
        }
    }
    enum status status = STATUS_OK;
    if (stuck.len > 0) {
        status = refuse(failure, "These steps wait for each other in a circle: %.*s.",
                        SLICE_ARG(slice_utf8_prefix(buffer_slice(&stuck), 400)));
    }
    buffer_release(&stuck);
    return status;
}

enum status task_link(struct task_step *steps, size_t count, struct failure *failure)
{
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        if (find_step(steps, i, steps[i].id) >= 0) {
            return refuse(failure, "The step %.*s stands there twice.", SLICE_ARG(steps[i].id));
        }
        status = link_step(steps, count, &steps[i], failure);
    }
    return status == STATUS_OK ? check_circles(steps, count, failure) : status;
}

/* --- the whole --- */

static bool is_short_member(struct slice key)
{
    for (size_t i = 0; i < STEP_MEMBERS; i++) {
        if (step_members[i].is_short && slice_is(key, step_members[i].name)) {
            return true;
        }
    }
    return false;
}

static enum status check_members(const struct json *object, bool has_steps, struct failure *failure)
{
    static const char *const known[] = {"id", "name", "description", "steps", "version"};
    for (const struct json *one = object->child; one; one = one->next) {
        bool fits = !has_steps && is_short_member(one->key);
        for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
            fits |= slice_is(one->key, known[i]);
        }
        if (!fits && !json_is(one, JSON_NULL)) {
            return refuse(failure, "%.*s does not belong here: a task has id, name, description and steps%s.",
                          SLICE_ARG(slice_utf8_prefix(one->key, 60)),
                          has_steps ? "" : ", or the members of its only step");
        }
    }
    return STATUS_OK;
}

static enum status read_steps(const struct json *list, size_t steps_max, struct task *out, struct failure *failure)
{
    enum status status = STATUS_OK;
    if (!json_is(list, JSON_ARRAY) || list->count < 1 || list->count > steps_max) {
        return refuse(failure, "`steps` is a list of 1 to %zu steps (option task-steps-max).", steps_max);
    }
    for (const struct json *one = list->child; one && status == STATUS_OK; one = one->next) {
        status = task_read_step(one, &out->steps[out->step_count++], failure);
    }
    return status == STATUS_OK ? task_link(out->steps, out->step_count, failure) : status;
}

static enum status read_short(const struct json *object, struct task *out, struct failure *failure)
{
    bool human;
    for (const struct json *one = object->child; one; one = one->next) {
        enum status status = is_short_member(one->key) ? check_member(one, failure) : STATUS_OK;
        if (status != STATUS_OK) {
            return status;
        }
    }
    struct task_step *step = &out->steps[out->step_count++];
    read_members(object, step, &human);
    step->id = SLICE("main");
    step->name = out->name;
    step->depends_on = NULL;
    return check_step(step, human, failure);
}

enum status task_read(struct arena *arena, const struct json *object, size_t steps_max, struct task *out,
                      struct failure *failure)
{
    const struct json *steps = json_get_value(object, "steps");
    *out = (struct task){.id = json_text_of(object, "id"),
                         .name = json_text_of(object, "name"),
                         .description = json_text_of(object, "description")};
    out->name = slice_present(out->name) ? out->name : out->id;
    steps_max = steps_max < TASK_STEPS_MAX ? steps_max : TASK_STEPS_MAX;
    out->steps = arena_array(arena, steps_max + 1, sizeof *out->steps);
    enum status status = check_members(object, steps != NULL, failure);
    if (status == STATUS_OK) {
        status = check_id(out->id, "task", failure);
    }
    if (status == STATUS_OK) {
        status = input_check_chars(out->name, "name", 1, TASK_NAME_CHARS_MAX, failure);
    }
    if (status == STATUS_OK) {
        status = input_check_chars(out->description, "description", 0, TASK_TEXT_CHARS_MAX, failure);
    }
    if (status != STATUS_OK) {
        return status;
    }
    return steps ? read_steps(steps, steps_max, out, failure) : read_short(object, out, failure);
}
