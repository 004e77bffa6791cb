#include "cli/session_options.h"

#include "base/clock.h"
#include "cli/forwarded_options.h"
#include "domain/vocabulary.h"

static const char *const kind_names[] = {"run", "chat"};
static const char *const group_names[] = {"active", "live", "failing"};
static const char *const archived_names[] = {"false", "true", "all"};
static const char *const ownership_names[] = {"all", "mine", "shared"};
static const struct enum_names kind_enum = {kind_names, 2}, group_enum = {group_names, 3},
                               archived_enum = {archived_names, 3}, ownership_enum = {ownership_names, 3};

#define TTL_MS_MAX (3650 * DAY_MS)

/* clang-format off */
const struct option session_filter_table[] = {
    {.name = "Which sessions", .type = OPTION_SECTION},
    PASS_CHOICE("type", session_type_enum, "Only of this type."),
    PASS_CHOICE("status", session_status_enum, "Only with this status."),
    PASS_CHOICE("display-status", display_status_enum, "Only with this display status."),
    PASS_CHOICE("kind", kind_enum, "Only delegated work (run), or only conversations (chat)."),
    PASS_CHOICE("group", group_enum, "Only in this group of statuses."),
    PASS_CHOICE("archived", archived_enum, "Include archived sessions (all), or list only those (true)."),
    PASS_CHOICE("ownership", ownership_enum, "Only your own, or only those shared with you."),
    PASS_CHOICE("visibility", visibility_enum, "Only with this visibility."),
    PASS_TEXT("agent", "AGENT", "Only of this agent."),
    PASS_TEXT("owner", "USER", "Only of this user."),
    PASS_TEXT("participant", "USER", "Only with this participant."),
    PASS_TEXT("workspace", "NAME", "Only in this workspace."),
    PASS_TEXT("parent-id", "SESSION", "Only children of this session."),
    PASS_TEXT("task-id", "ID", "Only of this task."),
    PASS_TEXT("entity-id", "ID", "Only about this entity."),
    PASS_TEXT("source-kind", "KIND", "Only from this source, such as cli, web or channel."),
    PASS_TEXT("source-platform", "NAME", "Only from this platform, such as telegram."),
    PASS_SWITCH("interactive", "Only interactive sessions; with --no-interactive only the others."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "Only with this value of a metadata key."),
    PASS_TEXT("q", "TEXT", "Only with this text in title or preview."),
    PASS_TEXT("created-after", "MOMENT", "Only created at or after this time: 2026-11-15T08:00:00Z."),
    PASS_TEXT("created-before", "MOMENT", "Only created before this time."),
    PASS_TEXT("active-after", "MOMENT", "Only active at or after this time."),
    PASS_TEXT("active-before", "MOMENT", "Only last active before this time."),
    PASS_NUMBER("limit", 1, 1000, "Maximum results per page (server limit: sessions-page-max)."),
    {0},
};

const struct option session_create_table[] = {
    {.name = "The session", .type = OPTION_SECTION},
    PASS_CHOICE("type", session_type_enum, "The session type. Default: agent."),
    PASS_CHOICE("status", session_status_enum, "The initial status, one that the type allows."),
    PASS_TEXT("agent", "AGENT", "The agent that runs it."),
    PASS_TEXT("title", "TEXT", "The title."),
    PASS_TEXT("prompt", "TEXT", "The first prompt; an agent session becomes pending."),
    PASS_TEXT("workspace", "NAME", "The workspace or repository."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "A key of the metadata."),
    PASS_TEXT("parent-id", "SESSION", "The parent session."),
    PASS_TEXT("task-id", "ID", "The task it belongs to."),
    PASS_TEXT("entity-id", "ID", "The entity it is about."),
    PASS_CHOICE("visibility", visibility_enum, "Who else in the tenant can see it."),
    PASS_CHOICE("purpose", purpose_enum, "What it is for."),
    PASS_CHOICE("queue-mode", queue_mode_enum, "What happens to a message while a turn is running."),
    PASS_NUMBER("priority", -1000, 1000, "Higher priorities are claimed first."),
    PASS_TIME("ttl-ms", TTL_MS_MAX, "Time to live: the session expires if it has not ended by then. 0 = never."),
    {0},
};

const struct option session_update_table[] = {
    {.name = "What changes", .type = OPTION_SECTION},
    PASS_TEXT("title", "TEXT", "The title."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "A key of the metadata; other keys do not change."),
    PASS_CHOICE("visibility", visibility_enum, "Who else in the tenant can see it."),
    PASS_CHOICE("queue-mode", queue_mode_enum, "What happens to a message while a turn is running."),
    PASS_TIME("ttl-ms", TTL_MS_MAX, "New time to live from now: the session expires if it has not ended by then. 0 = never."),
    {0},
};

const struct option session_view_table[] = {
    PASS_NUMBER("at", 1, INT64_MAX, "Show the session as it was after this event."),
    {0},
};
/* clang-format on */
