#include "api/schema.h"
#include "api/schema_parts.h"
#include "domain/agent.h"
#include "domain/ask.h"
#include "domain/event.h"
#include "domain/explain.h"
#include "domain/file_change.h"
#include "domain/run.h"
#include "domain/turn.h"
#include "domain/vocabulary.h"
#include "service/agent.h"
#include "service/models.h"

static const struct {
    const char *name;
    const struct words *words;
} vocabularies[] = {
    {"access_role", &access_role_words},
    {"agent_source", &agent_origin_words},
    {"ask_decision", &ask_decision_words},
    {"ask_kind", &ask_kind_words},
    {"ask_state", &ask_state_words},
    {"delta_kind", &delta_kind_words},
    {"display_status", &display_status_words},
    {"driver", &agent_driver_words},
    {"event_role", &event_role_words},
    {"file_status", &file_status_words},
    {"member_role", &member_role_words},
    {"pause_reason", &pause_reason_words},
    {"principal_kind", &principal_kind_words},
    {"provider_state", &vendor_state_words},
    {"purpose", &purpose_words},
    {"queue_mode", &queue_mode_words},
    {"run_status", &run_status_words},
    {"runtime", &runtime_words},
    {"scope", &scope_words},
    {"session_type", &session_type_words},
    {"status", &work_words},
    {"stop_reason", &stop_reason_words},
    {"turn_error", &turn_error_words},
    {"turn_stop_reason", &turn_stop_words},
    {"visibility", &visibility_words},
    {"wait_kind", &wait_kind_words},
};

static void write_event_types(struct json_out *out)
{
    json_key(out, "event_type");
    json_begin_array(out);
    for (const struct event_type *type = event_types; type->name; type++) {
        json_text(out, slice_of(type->name));
    }
    json_end_array(out);
}

void vocabularies_write(struct json_out *out)
{
    json_begin_object(out);
    for (size_t i = 0; i < sizeof vocabularies / sizeof vocabularies[0]; i++) {
        const struct words *words = vocabularies[i].words;
        json_key(out, vocabularies[i].name);
        json_begin_array(out);
        for (int word = 0; word < words->count; word++) {
            if (words->names[word][0]) {
                json_text(out, slice_of(words->names[word]));
            }
        }
        json_end_array(out);
    }
    write_event_types(out);
    json_end_object(out);
}

void states_write(struct json_out *out)
{
    json_begin_object(out);
    for (int work = 0; work < WORK_COUNT; work++) {
        struct session session = {.work = (enum work)work};
        json_key(out, work_words.names[work]);
        json_begin_object(out);
        json_put_text(out, "display_status", slice_of(display_status_words.names[display_status(&session)]));
        json_put_text(out, "display_reason", slice_of(display_reason(&session)));
        json_put_bool(out, "ended", work_is_ended(session.work));
        json_put_bool(out, "failing", work_is_failing(session.work));
        json_put_bool(out, "in_turn", work_is_in_turn(session.work));
        json_end_object(out);
    }
    json_end_object(out);
}
