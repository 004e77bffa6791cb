/* Checks of the structured event types: what their metadata and content must hold. Members that are not named here are
 * free. Names are accepted as snake_case and as camelCase (`entity_id`, `entityId`). */
#ifndef DOMAIN_EVENT_PAYLOAD_H
#define DOMAIN_EVENT_PAYLOAD_H

#include "base/json.h"

enum { PATCH_OPS_MAX = 100, MARKER_CHARS_MAX = 2000 };

/* The member with this snake_case name, also when it is written in camelCase; NULL when there is none. */
const struct json *payload_member_of(const struct json *object, struct slice name);

enum status payload_check_tool_session_started(const struct json *content, const struct json *metadata,
                                               struct failure *failure);
enum status payload_check_tool_field_changed(const struct json *content, const struct json *metadata,
                                             struct failure *failure);
enum status payload_check_tool_invocation_started(const struct json *content, const struct json *metadata,
                                                  struct failure *failure);
enum status payload_check_tool_invocation_completed(const struct json *content, const struct json *metadata,
                                                    struct failure *failure);
enum status payload_check_tool_invocation_failed(const struct json *content, const struct json *metadata,
                                                 struct failure *failure);
enum status payload_check_tool_composition_step(const struct json *content, const struct json *metadata,
                                                struct failure *failure);
enum status payload_check_state_patch(const struct json *content, const struct json *metadata, struct failure *failure);
enum status payload_check_human_navigate(const struct json *content, const struct json *metadata,
                                         struct failure *failure);
enum status payload_check_human_entity_view(const struct json *content, const struct json *metadata,
                                            struct failure *failure);
enum status payload_check_human_marker(const struct json *content, const struct json *metadata,
                                       struct failure *failure);
enum status payload_check_human_task_switch(const struct json *content, const struct json *metadata,
                                            struct failure *failure);

#endif
