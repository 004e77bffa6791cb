#include "api/core/schema.h"
#include "api/core/schema_internal.h"
#include "domain/agent.h"
#include "domain/ask.h"
#include "domain/event.h"
#include "domain/explain.h"
#include "domain/file_change.h"
#include "domain/run.h"
#include "domain/turn.h"
#include "domain/vocabulary.h"
#include "service/agent/agent.h"
#include "service/agent/models.h"

static const struct {
    const char *name;
    const struct enum_names *words;
} vocabularies[] = {
    {"access_role", &access_role_enum},
    {"agent_source", &agent_origin_enum},
    {"ask_decision", &ask_decision_enum},
    {"ask_kind", &ask_kind_enum},
    {"ask_state", &ask_state_enum},
    {"delta_kind", &delta_kind_enum},
    {"display_status", &display_status_enum},
    {"driver", &agent_driver_enum},
    {"event_role", &event_role_enum},
    {"file_status", &file_status_enum},
    {"member_role", &member_role_enum},
    {"pause_reason", &pause_reason_enum},
    {"principal_kind", &principal_kind_enum},
    {"provider_state", &vendor_state_enum},
    {"purpose", &purpose_enum},
    {"queue_mode", &queue_mode_enum},
    {"run_status", &run_status_enum},
    {"runtime", &runtime_enum},
    {"scope", &scope_enum},
    {"session_type", &session_type_enum},
    {"status", &session_status_enum},
    {"stop_reason", &stop_reason_enum},
    {"turn_error", &turn_error_enum},
    {"turn_stop_reason", &turn_stop_enum},
    {"visibility", &visibility_enum},
    {"wait_kind", &wait_kind_enum},
};

static void write_event_types(struct json_out *out)
{
    json_key(out, "event_type");
    json_begin_array(out);
    for (enum event_kind kind = EVENT_CUSTOM + 1; kind < EVENT_KIND_COUNT; kind++) {
        json_text(out, event_kind_name(kind));
    }
    json_end_array(out);
}

void vocabularies_write(struct json_out *out)
{
    json_begin_object(out);
    for (size_t i = 0; i < sizeof vocabularies / sizeof vocabularies[0]; i++) {
        const struct enum_names *words = vocabularies[i].words;
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
    for (int work = 0; work < SESSION_STATUS_COUNT; work++) {
        struct session session = {.status = (enum session_status)work};
        json_key(out, session_status_enum.names[work]);
        json_begin_object(out);
        json_put_text(out, "display_status", slice_of(display_status_enum.names[display_status(&session)]));
        json_put_text(out, "display_reason", slice_of(display_reason(&session)));
        json_put_bool(out, "ended", session_status_is_ended(session.status));
        json_put_bool(out, "failing", session_status_is_failing(session.status));
        json_put_bool(out, "in_turn", session_status_is_in_turn(session.status));
        json_end_object(out);
    }
    json_end_object(out);
}
