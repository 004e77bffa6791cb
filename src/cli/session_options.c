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
    PASS_CHOICE("status", session_status_enum, "Only in this state."),
    PASS_CHOICE("display-status", display_status_enum, "Only with this display status."),
    PASS_CHOICE("kind", kind_enum, "Only work that was handed over (run), or only conversations (chat)."),
    PASS_CHOICE("group", group_enum, "Only in this group of states."),
    PASS_CHOICE("archived", archived_enum, "Archived sessions too (all) or only (true)."),
    PASS_CHOICE("ownership", ownership_enum, "Only your own, or only those shared with you."),
    PASS_CHOICE("visibility", visibility_enum, "Only with this visibility."),
    PASS_TEXT("agent", "AGENT", "Only of this agent."),
    PASS_TEXT("owner", "USER", "Only of this user."),
    PASS_TEXT("participant", "USER", "Only where this user takes part."),
    PASS_TEXT("workspace", "NAME", "Only in this workspace."),
    PASS_TEXT("parent-id", "SESSION", "Only children of this session."),
    PASS_TEXT("task-id", "ID", "Only for this task."),
    PASS_TEXT("entity-id", "ID", "Only for this entity."),
    PASS_TEXT("source-kind", "KIND", "Only from this source, such as cli, web or channel."),
    PASS_TEXT("source-platform", "NAME", "Only from this platform, such as telegram."),
    PASS_SWITCH("interactive", "Only sessions somebody sits before; with --no-interactive only the others."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "Only where this metadata key has this value."),
    PASS_TEXT("q", "TEXT", "Only with this text in title or preview."),
    PASS_TEXT("created-after", "MOMENT", "Only created then or later: 2026-11-15T08:00:00Z."),
    PASS_TEXT("created-before", "MOMENT", "Only created before that."),
    PASS_TEXT("active-after", "MOMENT", "Only active then or later."),
    PASS_TEXT("active-before", "MOMENT", "Only active before that."),
    PASS_NUMBER("limit", 1, 1000, "How many at a time; the server has a most."),
    {0},
};

const struct option session_create_table[] = {
    {.name = "The session", .type = OPTION_SECTION},
    PASS_CHOICE("type", session_type_enum, "What kind of work it is; agent when left out."),
    PASS_CHOICE("status", session_status_enum, "The first state; only one the type allows."),
    PASS_TEXT("agent", "AGENT", "The agent that shall run it."),
    PASS_TEXT("title", "TEXT", "The title."),
    PASS_TEXT("prompt", "TEXT", "The first prompt; makes agent work pending."),
    PASS_TEXT("workspace", "NAME", "The workspace or repository."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "A key of the metadata."),
    PASS_TEXT("parent-id", "SESSION", "The session this one is part of."),
    PASS_TEXT("task-id", "ID", "The task this works on."),
    PASS_TEXT("entity-id", "ID", "The entity this works on."),
    PASS_CHOICE("visibility", visibility_enum, "Who else in the tenant sees it."),
    PASS_CHOICE("purpose", purpose_enum, "What it is for."),
    PASS_CHOICE("queue-mode", queue_mode_enum, "What a prompt does while a turn runs."),
    PASS_NUMBER("priority", -1000, 1000, "Higher is claimed first."),
    PASS_TIME("ttl-ms", TTL_MS_MAX, "After this time without an end it expires; 0 is never."),
    {0},
};

const struct option session_update_table[] = {
    {.name = "What changes", .type = OPTION_SECTION},
    PASS_TEXT("title", "TEXT", "The title."),
    PASS_WORDS(PASSED_PAIRS, "KEY=VALUE", "A key of the metadata; the other keys stay."),
    PASS_CHOICE("visibility", visibility_enum, "Who else in the tenant sees it."),
    PASS_CHOICE("queue-mode", queue_mode_enum, "What a prompt does while a turn runs."),
    PASS_TIME("ttl-ms", TTL_MS_MAX, "After this time from now without an end it expires; 0 is never."),
    {0},
};

const struct option session_view_table[] = {
    PASS_NUMBER("at", 1, INT64_MAX, "Show the session as it was after this event."),
    {0},
};
/* clang-format on */
