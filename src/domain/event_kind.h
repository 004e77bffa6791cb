/* The kinds of events: everything known about one is its row here. */
#ifndef DOMAIN_EVENT_KIND_H
#define DOMAIN_EVENT_KIND_H

#include "base/json.h"
#include "base/enum_names.h"

enum event_role { ROLE_USER, ROLE_AGENT, ROLE_SYSTEM, ROLE_COUNT };
extern const struct enum_names event_role_enum;

/* Who may write an event of a kind. */
enum event_writers {
    WRITERS_ANYONE, /* collaborators, holders, channels */
    WRITERS_PEOPLE, /* the same without code in a sandbox and runners, which speak for an agent only */
    WRITERS_HOLDER, /* lease holder, runner, sandbox (or an owner's token acting as the agent) */
    WRITERS_HUMAN,  /* the owner of a running mixed session: human.* */
    WRITERS_SERVER, /* the server alone: session.*, prompt.*, … */
};

enum event_flags {
    COUNTS_MESSAGE = 1, /* in the session's message_count */
    COUNTS_TOOL = 2,    /* in its tool_call_count */
    AUDITED = 4,        /* part of the audit log */
    CHANGES_ACCESS = 8, /* who may see the session may be others afterwards */
};

/* Columns: kind, name, who writes it, default role, flags, check of content and metadata (NULL = free). Sorted by name;
 * event_kind_find relies on it. */
/* clang-format off */
#define EVENT_KINDS(KIND) \
    KIND(AGENT_FILES_CHANGED, "agent.files_changed", WRITERS_HOLDER, ROLE_AGENT, 0, payload_check_files_changed) \
    KIND(AGENT_MESSAGE, "agent.message", WRITERS_HOLDER, ROLE_AGENT, COUNTS_MESSAGE, payload_check_message) \
    KIND(AGENT_NOTICE, "agent.notice", WRITERS_HOLDER, ROLE_AGENT, 0, NULL) \
    KIND(AGENT_PLAN, "agent.plan", WRITERS_HOLDER, ROLE_AGENT, 0, NULL) \
    KIND(AGENT_SILENT, "agent.silent", WRITERS_HOLDER, ROLE_AGENT, 0, NULL) \
    KIND(AGENT_THINKING, "agent.thinking", WRITERS_HOLDER, ROLE_AGENT, 0, payload_check_message) \
    KIND(AGENT_TOOL_CALL, "agent.tool_call", WRITERS_HOLDER, ROLE_AGENT, COUNTS_TOOL | AUDITED, NULL) \
    KIND(AGENT_TOOL_RESULT, "agent.tool_result", WRITERS_HOLDER, ROLE_AGENT, 0, NULL) \
    KIND(ASK_ANSWERED, "ask.answered", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(ASK_CANCELLED, "ask.cancelled", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(ASK_EXPIRED, "ask.expired", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(ASK_REQUESTED, "ask.requested", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(ASK_RESUMED, "ask.resumed", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(ASK_VOTED, "ask.voted", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(CHANNEL_BOUND, "channel.bound", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(CHANNEL_FOLLOWUP_DUE, "channel.followup_due", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(CHANNEL_UNBOUND, "channel.unbound", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(CONTEXT_COMPACTED, "context.compacted", WRITERS_HOLDER, ROLE_SYSTEM, 0, NULL) \
    KIND(CONTEXT_TRIMMED, "context.trimmed", WRITERS_HOLDER, ROLE_SYSTEM, 0, NULL) \
    KIND(ENTITY_UPDATED, "entity.updated", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(EXTERNAL_EVENT, "external.event", WRITERS_ANYONE, ROLE_SYSTEM, 0, NULL) \
    KIND(EXTERNAL_FILES_CHANGED, "external.files_changed", WRITERS_ANYONE, ROLE_SYSTEM, 0, payload_check_files_changed) \
    KIND(EXTERNAL_GIT_STATE, "external.git_state", WRITERS_ANYONE, ROLE_SYSTEM, 0, NULL) \
    KIND(EXTERNAL_PR_CREATED, "external.pr_created", WRITERS_ANYONE, ROLE_SYSTEM, 0, NULL) \
    KIND(HUMAN_ENTITY_VIEW, "human.entity_view", WRITERS_HUMAN, ROLE_USER, 0, payload_check_human_entity_view) \
    KIND(HUMAN_MARKER, "human.marker", WRITERS_HUMAN, ROLE_USER, 0, payload_check_human_marker) \
    KIND(HUMAN_NAVIGATE, "human.navigate", WRITERS_HUMAN, ROLE_USER, 0, payload_check_human_navigate) \
    KIND(HUMAN_TASK_SWITCH, "human.task_switch", WRITERS_HUMAN, ROLE_USER, 0, payload_check_human_task_switch) \
    KIND(INTROSPECTION_ENDED, "introspection.ended", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(INTROSPECTION_FAILED, "introspection.failed", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(INTROSPECTION_INTERRUPTED, "introspection.interrupted", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(INTROSPECTION_STARTED, "introspection.started", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(INTROSPECTION_TOOL_CALL, "introspection.tool_call", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(INTROSPECTION_TOOL_RESULT, "introspection.tool_result", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(MODEL_RETRYING, "model.retrying", WRITERS_HOLDER, ROLE_SYSTEM, 0, NULL) \
    KIND(MODEL_SWITCHED, "model.switched", WRITERS_HOLDER, ROLE_SYSTEM, 0, NULL) \
    KIND(PROMPT_EDITED, "prompt.edited", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(PROMPT_INTERRUPTED, "prompt.interrupted", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(PROMPT_MOVED, "prompt.moved", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(PROMPT_QUEUED, "prompt.queued", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(PROMPT_WITHDRAWN, "prompt.withdrawn", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(RUNNER_CONNECTED, "runner.connected", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(RUNNER_DISCONNECTED, "runner.disconnected", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(RUNNER_LOST, "runner.lost", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(RUNTIME_DISAGREED, "runtime.disagreed", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(RUNTIME_LOST, "runtime.lost", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_ARCHIVED, "session.archived", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_CHILD_CREATED, "session.child_created", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_CHILD_DECIDED, "session.child_decided", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_CHILD_ENDED, "session.child_ended", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_CHILD_WAITING, "session.child_waiting", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_CLAIMED, "session.claimed", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_COMPLETED, "session.completed", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_CONTEXT_INJECTED, "session.context_injected", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_CREATED, "session.created", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_DELETED, "session.deleted", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_ERROR, "session.error", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_EXPORTED, "session.exported", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_FILE_ADDED, "session.file_added", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_LEASE_LOST, "session.lease_lost", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_PARTICIPANT_ADDED, "session.participant_added", WRITERS_SERVER, ROLE_SYSTEM, AUDITED | CHANGES_ACCESS, NULL) \
    KIND(SESSION_PARTICIPANT_REMOVED, "session.participant_removed", WRITERS_SERVER, ROLE_SYSTEM, AUDITED | CHANGES_ACCESS, NULL) \
    KIND(SESSION_RELEASED, "session.released", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_REOPENED, "session.reopened", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_RUNTIME_CHANGE, "session.runtime_change", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_SHARE_CREATED, "session.share_created", WRITERS_SERVER, ROLE_SYSTEM, AUDITED | CHANGES_ACCESS, NULL) \
    KIND(SESSION_SHARE_DEACTIVATED, "session.share_deactivated", WRITERS_SERVER, ROLE_SYSTEM, AUDITED | CHANGES_ACCESS, NULL) \
    KIND(SESSION_SHARE_REDEEMED, "session.share_redeemed", WRITERS_SERVER, ROLE_SYSTEM, AUDITED | CHANGES_ACCESS, NULL) \
    KIND(SESSION_STATUS_CHANGE, "session.status_change", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_TUNNEL_CLOSED, "session.tunnel_closed", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_TUNNEL_OPENED, "session.tunnel_opened", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_UNARCHIVED, "session.unarchived", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(SESSION_UPDATED, "session.updated", WRITERS_SERVER, ROLE_SYSTEM, AUDITED | CHANGES_ACCESS, NULL) \
    KIND(SESSION_WAITING_APPROVAL, "session.waiting_approval", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(STATE_PATCH, "state.patch", WRITERS_ANYONE, ROLE_USER, 0, payload_check_state_patch) \
    KIND(SYSTEM_MESSAGE, "system.message", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(TOOL_COMPOSITION_STEP_COMPLETED, "tool.composition_step.completed", WRITERS_ANYONE, ROLE_SYSTEM, 0, payload_check_tool_composition_step) \
    KIND(TOOL_COMPOSITION_STEP_STARTED, "tool.composition_step.started", WRITERS_ANYONE, ROLE_SYSTEM, 0, payload_check_tool_composition_step) \
    KIND(TOOL_FIELD_CHANGED, "tool.field_changed", WRITERS_ANYONE, ROLE_USER, 0, payload_check_tool_field_changed) \
    KIND(TOOL_INVOCATION_COMPLETED, "tool.invocation_completed", WRITERS_ANYONE, ROLE_SYSTEM, AUDITED, payload_check_tool_invocation_completed) \
    KIND(TOOL_INVOCATION_FAILED, "tool.invocation_failed", WRITERS_ANYONE, ROLE_SYSTEM, AUDITED, payload_check_tool_invocation_failed) \
    KIND(TOOL_INVOCATION_STARTED, "tool.invocation_started", WRITERS_ANYONE, ROLE_SYSTEM, COUNTS_TOOL | AUDITED, payload_check_tool_invocation_started) \
    KIND(TOOL_SESSION_STARTED, "tool.session_started", WRITERS_ANYONE, ROLE_SYSTEM, AUDITED, payload_check_tool_session_started) \
    KIND(TURN_BUDGET_WARNING, "turn.budget_warning", WRITERS_SERVER, ROLE_SYSTEM, 0, NULL) \
    KIND(TURN_ENDED, "turn.ended", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(TURN_INTERRUPT_REQUESTED, "turn.interrupt_requested", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(USER_FORM_DRAFT, "user.form_draft", WRITERS_PEOPLE, ROLE_USER, 0, NULL) \
    KIND(USER_FORM_SUBMIT, "user.form_submit", WRITERS_PEOPLE, ROLE_USER, AUDITED, NULL) \
    KIND(USER_MESSAGE, "user.message", WRITERS_PEOPLE, ROLE_USER, COUNTS_MESSAGE | AUDITED, payload_check_message) \
    KIND(USER_OUTPUT_APPROVAL, "user.output_approval", WRITERS_SERVER, ROLE_USER, AUDITED, NULL) \
    KIND(USER_TOOL_CONFIRMATION, "user.tool_confirmation", WRITERS_PEOPLE, ROLE_USER, AUDITED, NULL) \
    KIND(USER_TOOL_RESULT, "user.tool_result", WRITERS_ANYONE, ROLE_USER, 0, NULL) \
    KIND(WATCHDOG_ERROR_SAFETY_NET, "watchdog.error_safety_net", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(WATCHDOG_ORPHANED_LEASE, "watchdog.orphaned_lease", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(WATCHDOG_QUEUE_STUCK, "watchdog.queue_stuck", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(WATCHDOG_RUNNER_LOST, "watchdog.runner_lost", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(WATCHDOG_SILENT_STREAM, "watchdog.silent_stream", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(WATCHDOG_STALE, "watchdog.stale", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(WATCHDOG_STUCK_TURN, "watchdog.stuck_turn", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL) \
    KIND(WATCHDOG_WAITING_WITHOUT_ASK, "watchdog.waiting_without_ask", WRITERS_SERVER, ROLE_SYSTEM, AUDITED, NULL)
/* clang-format on */

enum event_kind {
    EVENT_CUSTOM, /* a name that is not in the table: the client's own */
#define KIND(kind, ...) EVENT_##kind,
    EVENT_KINDS(KIND)
#undef KIND
        EVENT_KIND_COUNT
};

struct event_kind_row {
    const char *name;
    enum event_writers writers;
    enum event_role role;
    unsigned flags;
    enum status (*check)(const struct json *content, const struct json *metadata, struct failure *failure);
};
extern const struct event_kind_row event_kinds[EVENT_KIND_COUNT]; /* the row of EVENT_CUSTOM has no name */

/* Who may write a custom event whose name begins so, and its role when none is given; ends with a NULL prefix, which
 * stands for everything else. */
struct event_prefix {
    const char *prefix;
    enum event_writers writers;
    enum event_role role;
};
extern const struct event_prefix event_prefixes[];

/* EVENT_CUSTOM when the table has no such name. */
enum event_kind event_kind_find(struct slice name);
/* Absent for EVENT_CUSTOM. */
struct slice event_kind_name(enum event_kind kind);
static inline bool event_kind_has(enum event_kind kind, enum event_flags flag)
{
    return (event_kinds[kind].flags & (unsigned)flag) != 0;
}
/* Families that the server acts on as a whole. */
bool event_kind_is_ask(enum event_kind kind);
/* What an agent says and does; who wrote it down may be the server, after a crash. */
bool event_kind_is_of_agent(enum event_kind kind);
bool event_kind_is_of_prompt(enum event_kind kind);
/* Changes a field of the session: session.* and introspection.* */
bool event_kind_is_of_session(enum event_kind kind);

/* [a-z][a-z0-9_.]*, at most EVENT_TYPE_BYTES_MAX characters */
enum { EVENT_TYPE_BYTES_MAX = 64 };
bool event_type_is_valid(struct slice name);
/* The row for a known name; for a custom one the rule of its prefix (reserved prefixes are guarded). */
enum event_writers event_type_writers(struct slice name);
enum event_role event_type_role(struct slice name);
/* user.* and agent.*: what people and agents say has their role and no other. */
bool event_type_has_fixed_role(struct slice name);

#endif
