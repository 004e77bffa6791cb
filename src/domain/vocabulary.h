/* The words other systems and people use for a session's state: pure total functions, one table each. */
#ifndef DOMAIN_VOCABULARY_H
#define DOMAIN_VOCABULARY_H

#include "domain/session.h"

enum display_status {
    DISPLAY_ACTIVE,
    DISPLAY_IDLE,
    DISPLAY_PAUSED,
    DISPLAY_BLOCKED,
    DISPLAY_RECOVERING,
    DISPLAY_COMPLETED,
    DISPLAY_FAILED,
    DISPLAY_COUNT
};
extern const struct enum_names display_status_enum; /* active idle paused blocked recovering completed failed */

enum display_status display_status(const struct session *session);
/* Ended badly: in a failing state, and not because a person or its parent stopped it. */
bool session_is_failing(const struct session *session);
/* One line: "out of credits", "waiting for your next message". */
const char *display_reason(const struct session *session);
const char *response_word(const struct session *session);     /* draft submitted promoted abandoned */
const char *tool_word(const struct session *session);         /* active completed cancelled */
const char *block_word(const struct session *session);        /* in-progress complete waiting-human failed pending */
const char *conversation_word(const struct session *session); /* idle running awaiting_approval inactive */
const char *sandbox_word(const struct session *session);
const char *agent_word(const struct session *session, bool runner_connected, bool runner_busy, int64_t queued);
const char *joint_word(const struct session *session, bool runner_connected, bool runner_busy, int64_t queued);
const char *chat_word(const struct session *session); /* idle streaming exported */
const char *
lifecycle_word(const struct session *session); /* S1-003: starting running paused stopped failed suspended */
const char *live_status_word(const struct session *session); /* S3-011: initializing running idle hibernating … */

#endif
