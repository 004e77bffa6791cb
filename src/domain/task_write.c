#include "domain/task.h"

static void put_json(struct json_out *out, const char *key, const struct json *value)
{
    if (value) {
        json_put_raw(out, key, value->raw);
    }
}

void task_write_step(struct json_out *out, const struct task_step *step)
{
    json_begin_object(out);
    json_put_text(out, "id", step->id);
    json_put_text(out, "name", step->name);
    json_maybe_text(out, "agent", step->agent);
    if (!slice_present(step->agent)) {
        json_put_bool(out, "human", true);
    }
    json_maybe_text(out, "prompt", step->prompt);
    put_json(out, "depends_on", step->depends_on);
    put_json(out, "output", step->output);
    json_put_bool(out, "requires_approval", step->requires_approval);
    put_json(out, "criteria", step->criteria);
    json_end_object(out);
}

void task_write_definition(struct json_out *out, const struct task *task)
{
    json_begin_object(out);
    json_maybe_text(out, "description", task->description);
    json_key(out, "steps");
    json_begin_array(out);
    for (size_t i = 0; i < task->step_count; i++) {
        task_write_step(out, &task->steps[i]);
    }
    json_end_array(out);
    json_end_object(out);
}

struct slice task_brief(struct arena *arena, const struct task *task, const struct task_step *step, struct slice input)
{
    struct buffer text = {0};
    if (step->prompt.len > 0) {
        buffer_add(&text, step->prompt);
    } else {
        buffer_format(&text, "%.*s: %.*s", SLICE_ARG(task->name), SLICE_ARG(step->name));
    }
    if (slice_present(input)) {
        buffer_format(&text, "\n\nInput: %.*s", SLICE_ARG(input));
    }
    if (step->output) {
        struct slice fields = json_raw_of(step->output, "fields"), required = json_raw_of(step->output, "required");
        buffer_format(&text, "\n\nEnd with one JSON object that has these fields, by name and type: %.*s",
                      SLICE_ARG(fields));
        if (slice_present(required)) {
            buffer_format(&text, "\nNeeded are: %.*s", SLICE_ARG(required));
        }
    }
    struct slice brief = arena_copy(arena, buffer_slice(&text));
    buffer_release(&text);
    return brief;
}
