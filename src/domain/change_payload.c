#include "domain/change_payload.h"

void payload_begin(struct payload *payload)
{
    buffer_init(&payload->buffer);
    payload->out = json_out_to(&payload->buffer);
    json_begin_object(&payload->out);
}

void payload_end(struct payload *payload, struct arena *arena, enum event_kind kind, struct changes *out)
{
    json_end_object(&payload->out);
    out->events[out->count++] = (struct event){
        .kind = kind,
        .role = ROLE_SYSTEM,
        .metadata = arena_copy(arena, buffer_slice(&payload->buffer)),
    };
    buffer_release(&payload->buffer);
}

void payload_word(struct payload *payload, const char *key, struct enum_names words, int index)
{
    if (*words.names[index]) {
        json_put_text(&payload->out, key, slice_of(words.names[index]));
    }
}

struct slice payload_line(const char *reason)
{
    return reason && *reason ? slice_of(reason) : (struct slice){NULL, 0};
}

void payload_name_states(struct failure *failure, const char *from, const char *to)
{
    if (failure) {
        failure_members(failure, "\"from\":\"%s\",\"to\":\"%s\"", from, to);
    }
}
