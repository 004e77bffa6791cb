#include "api/core/schema_internal.h"
#include "domain/ask.h"
#include "domain/file_change.h"
#include "domain/explain.h"
#include "domain/vocabulary.h"
#include "service/agent/agent.h"
#include "service/agent/models.h"

static const struct member session_members[] = {
    {"id", "s", NULL},
    {"type", "s", &session_type_enum},
    {"status", "s", &session_status_enum},
    {"runtime", "s", &runtime_enum},
    {"pause_reason", "s?", &pause_reason_enum},
    {"stop_reason", "s?", &stop_reason_enum},
    {"status_reason", "s?", NULL},
    {"display_status", "s", &display_status_enum},
    {"display_reason", "s", NULL},
    {"active", "b", NULL},
    {"live", "b", NULL},
    {"failing", "b", NULL},
    {"retryable", "b", NULL},
    {"reopenable", "b", NULL},
    {"words", "@SessionWords", NULL},
    {"purpose", "s", &purpose_enum},
    {"agent", "s?", NULL},
    {"agent_version", "i", NULL},
    {"driver", "s", &agent_driver_enum},
    {"title", "s?", NULL},
    {"workspace", "s?", NULL},
    {"source", "@SessionSource", NULL},
    {"metadata", "o", NULL},
    {"visibility", "s", &visibility_enum},
    {"queue_mode", "s", &queue_mode_enum},
    {"parent_id", "s?", NULL},
    {"task_id", "s?", NULL},
    {"entity_id", "s?", NULL},
    {"retry_of", "s?", NULL},
    {"attempt", "i", NULL},
    {"owner_id", "s?", NULL},
    {"anonymous", "b", NULL},
    {"priority", "i", NULL},
    {"result", "x", NULL},
    {"usage", "o?", NULL},
    {"error", "@SessionError?", NULL},
    {"fence", "i", NULL},
    {"claim_attempts", "i", NULL},
    {"last_sequence", "i", NULL},
    {"message_count", "i", NULL},
    {"tool_call_count", "i", NULL},
    {"turn_count", "i", NULL},
    {"active_seconds", "i", NULL},
    {"preview", "s?", NULL},
    {"prompt_snippet", "s?", NULL},
    {"created_at", "t", NULL},
    {"started_at", "t?", NULL},
    {"completed_at", "t?", NULL},
    {"duration_ms", "i?", NULL},
    {"updated_at", "t", NULL},
    {"last_active_at", "t", NULL},
    {"queued_at", "t?", NULL},
    {"paused_at", "t?", NULL},
    {"archived_at", "t?", NULL},
    {"expires_at", "t?", NULL},
    {"waiting_for", "[WaitingFor-", NULL},
    {"initial_prompt", "s?-", NULL},
    {"agent_config", "o?-", NULL},
    {"claims", "[Claim-", NULL}, /* of a settlement that asked for them */
    {"details", "o-", NULL},
    {"ws_url", "s-", NULL},
    {"runner_token", "s-", NULL},
    {0},
};
static const struct member session_words_members[] = {
    {"response", "s", NULL},  {"tool", "s", NULL},        {"block", "s", NULL}, {"conversation", "s", NULL},
    {"sandbox", "s", NULL},   {"agent", "s", NULL},       {"joint", "s", NULL}, {"chat", "s", NULL},
    {"lifecycle", "s", NULL}, {"live_status", "s", NULL}, {"kind", "s", NULL},  {0},
};
static const struct member session_source_members[] = {
    {"kind", "s", NULL},        {"platform", "s?", NULL}, {"interactive", "b", NULL},
    {"trigger_id", "s?", NULL}, {"type", "s?", NULL},     {0},
};

static const struct member session_error_members[] = {{"code", "s?", NULL}, {"message", "s?", NULL}, {0}};

static const struct member event_members[] = {
    {"session_id", "s", NULL},       {"sequence", "i", NULL},   {"type", "s", NULL},
    {"role", "s", &event_role_enum}, {"actor", "s", NULL},      {"content", "[Part", NULL},
    {"metadata", "o", NULL},         {"thread_id", "s-", NULL}, {"external_event_id", "s-", NULL},
    {"created_at", "t", NULL},       {"duplicate", "b-", NULL}, {0},
};
static const struct member waiting_for_members[] = {
    {"ask_id", "s", NULL},
    {"kind", "s", &ask_kind_enum},
    {"text", "s", NULL},
    {"tool", "s?", NULL},
    {"since", "t", NULL},
    {"expires_at", "t?", NULL},
    {0},
};
/* text, reasoning, tool-call, tool-result, image, file; each has members of its own */
static const struct member part_members[] = {{"type", "s", NULL}, {"text", "s-", NULL}, {"*", "-", NULL}, {0}};
static const struct member problem_members[] = {{"type", "s", NULL}, {"title", "s", NULL},  {"status", "i", NULL},
                                                {"code", "s", NULL}, {"detail", "s", NULL}, {0}};
static const struct member health_members[] = {{"status", "s", NULL}, {0}};
static const struct member session_list_members[] = {
    {"sessions", "[Session", NULL}, {"has_more", "b", NULL}, {"next_cursor", "s?", NULL}, {0}};
static const struct member event_list_members[] = {{"events", "[Event", NULL}, {"has_more", "b", NULL}, {0}};
static const struct member message_members[] = {
    {"session_id", "s", NULL},
    {"id", "s", NULL},
    {"sequence", "i", NULL},
    {"role", "s", NULL},
    {"content", "s", NULL},
    {"parts", "[Part", NULL},
    {"format", "s", NULL},
    {"agent_session_id", "s?", NULL},
    {"thread_id", "s?", NULL},
    {"metadata", "o", NULL},
    {"author", "@MessageAuthor", NULL},
    {"channel", "@MessageChannel", NULL},
    {"created_at", "t", NULL},
    {0},
};
static const struct member message_author_members[] = {
    {"id", "s?", NULL}, {"name", "s?", NULL}, {"email", "s?", NULL}, {0}};
static const struct member message_channel_members[] = {{"type", "s?", NULL}, {"id", "s?", NULL}, {0}};
static const struct member message_list_members[] = {{"messages", "[Message", NULL}, {"has_more", "b", NULL}, {0}};
static const struct member git_state_members[] = {
    {"source_type", "s?", NULL},      {"source_repo_url", "s?", NULL},     {"source_repo_branch", "s?", NULL},
    {"source_pr_number", "i?", NULL}, {"source_issue_number", "i?", NULL}, {"branch", "s?", NULL},
    {"base_branch", "s?", NULL},      {"pr_number", "i?", NULL},           {"pr_state", "s?", NULL},
    {"pr_url", "s?", NULL},           {"commit_count", "i", NULL},         {0},
};
static const struct member changed_file_members[] = {
    {"path", "s", NULL},
    {"previous_path", "s?", NULL},
    {"status", "s", &file_status_enum},
    {"additions", "i", NULL},
    {"deletions", "i", NULL},
    {"sequence", "i", NULL},
    {"changed_at", "t", NULL},
    {0},
};
static const struct member file_members[] = {
    {"handle", "s", NULL}, {"name", "s?", NULL},     {"media_type", "s", NULL}, {"bytes", "i", NULL},
    {"url", "s", NULL},    {"added_by", "s?", NULL}, {"created_at", "t", NULL}, {0},
};
static const struct member file_list_members[] = {{"files", "[File", NULL}, {0}};
static const struct member files_changed_members[] = {
    {"files", "[ChangedFile", NULL}, {"has_more", "b", NULL}, {"next_cursor", "s?", NULL}, {0}};
static const struct member appended_members[] = {{"events", "[Event", NULL}, {"last_sequence", "i", NULL}, {0}};
static const struct member bulk_members[] = {{"results", "[BulkResult", NULL}, {"deleted", "i", NULL}, {0}};
static const struct member bulk_result_members[] = {
    {"id", "s", NULL}, {"deleted", "b", NULL}, {"code", "s-", NULL}, {0}};
static const struct member joined_members[] = {{"session_id", "s", NULL}, {"role", "s", NULL}, {0}};
static const struct member counts_members[] = {
    {"by_status", "o", NULL}, {"by_type", "o", NULL}, {"total", "i", NULL}, {0}};
static const struct member lease_members[] = {
    {"fence", "i", NULL}, {"expires_at", "t", NULL}, {"status", "s", &session_status_enum}, {0}};
static const struct member granted_members[] = {
    {"token", "s", NULL}, {"fence", "i", NULL}, {"expires_at", "t", NULL}, {0}};
static const struct member claim_members[] = {{"session", "@Session", NULL}, {"lease", "@GrantedLease", NULL}, {0}};
static const struct member claims_members[] = {{"claims", "[Claim", NULL}, {0}};
static const struct member queue_members[] = {{"queues", "[QueueDepth", NULL}, {"workers", "[QueueWorker", NULL}, {0}};
static const struct member queue_depth_members[] = {
    {"agent", "s?", NULL}, {"pending", "i", NULL}, {"leased", "i", NULL}, {"oldest_queued_at", "t?", NULL}, {0}};
static const struct member queue_worker_members[] = {
    {"worker", "s", NULL}, {"leases", "i", NULL}, {"last_heartbeat_at", "t", NULL}, {0}};
static const struct member stopped_members[] = {{"changed", "b", NULL}, {"session", "@Session", NULL}, {0}};
static const struct member unblocker_members[] = {{"kind", "s", NULL}, {"name", "s-", NULL}, {"how", "s?", NULL}, {0}};
static const struct member waiting_prompts_members[] = {
    {"length", "i", NULL}, {"first_prompt_id", "s?", NULL}, {"first_created_at", "t?", NULL}, {0}};
static const struct member held_lease_members[] = {
    {"worker", "s", NULL}, {"fence", "i", NULL}, {"claimed_at", "t", NULL}, {"expires_at", "t?", NULL}, {0}};
static const struct member running_turn_members[] = {
    {"number", "i", NULL}, {"since", "t", NULL}, {"last_activity_at", "t?", NULL}, {0}};
static const struct member next_timer_members[] = {{"kind", "s", NULL}, {"due_at", "t", NULL}, {0}};
static const struct member last_watchdog_members[] = {
    {"type", "s", NULL}, {"at", "t", NULL}, {"metadata", "o?", NULL}, {0}};
static const struct member explained_members[] = {{"session_id", "s", NULL},
                                                  {"status", "s", &session_status_enum},
                                                  {"waits_for", "s", &wait_kind_enum},
                                                  {"since", "t", NULL},
                                                  {"detail", "s", NULL},
                                                  {"reason", "s?", NULL},
                                                  {"unblocked_by", "[Unblocker", NULL},
                                                  {"asks", "[AskShown", NULL},
                                                  {"queue", "@WaitingPrompts", NULL},
                                                  {"lease", "@HeldLease?", NULL},
                                                  {"turn", "@RunningTurn?", NULL},
                                                  {"children", "l", NULL},
                                                  {"child_asks", "[Ask", NULL},
                                                  {"next_timer", "@NextTimer?", NULL},
                                                  {"last_watchdog", "@LastWatchdog?", NULL},
                                                  {0}};
static const struct member receipt_members[] = {{"prompt_id", "s", NULL},
                                                {"status", "s", NULL},
                                                {"triggered", "b", NULL},
                                                {"position", "i", NULL},
                                                {"sequence", "i", NULL},
                                                {"withdrawn", "[Prompt-", NULL},
                                                {0}};
static const struct member export_members[] = {
    {"session_id", "s", NULL},
    {"workflow_id", "s", NULL},
    {"workflow_path", "s", NULL},
    {"through", "i", NULL},
    {"sequence", "i", NULL},
    {"document", "s", NULL},
    {0},
};
static const struct member runtime_outcome_members[] = {
    {"session_id", "s", NULL},       {"changed", "b", NULL},       {"status", "s", &session_status_enum},
    {"runtime", "s", &runtime_enum}, {"pause_reason", "s?", NULL}, {0},
};
static const struct member interrupted_members[] = {{"turn", "i", NULL}, {"requested", "b", NULL}, {0}};
static const struct member prompt_members[] = {
    {"prompt_id", "s", NULL},
    {"mode", "s", &queue_mode_enum},
    {"position", "i", NULL},
    {"actor", "s", NULL},
    {"content", "[Part", NULL},
    {"metadata", "o", NULL},
    {"thread_id", "s?", NULL},
    {"created_at", "t", NULL},
    {"revision", "i", NULL},
    {"priority", "i", NULL},
    {0},
};
static const struct member vote_members[] = {
    {"by", "s", NULL}, {"decision", "s", &ask_decision_enum}, {"at", "t", NULL}, {0}};
static const struct member grant_members[] = {{"id", "s", NULL},
                                              {"scope", "s", &ask_decision_enum},
                                              {"subject", "@Subject", NULL},
                                              {"these_arguments", "b-", NULL},
                                              {"text", "s", NULL},
                                              {0}};
static const struct member subject_members[] = {{"tool", "s-", NULL},
                                                {"command", "s-", NULL},
                                                {"path", "s-", NULL},
                                                {"host", "s-", NULL},
                                                {"arguments", "o-", NULL},
                                                {"*", "-", NULL},
                                                {0}};
static const struct member ask_members[] = {{"session_id", "s", NULL},
                                            {"session_title", "s?-", NULL},
                                            {"agent", "s?-", NULL},
                                            {"parent_id", "s?-", NULL},
                                            {"id", "s", NULL},
                                            {"kind", "s", &ask_kind_enum},
                                            {"state", "s", &ask_state_enum},
                                            {"turn", "i", NULL},
                                            {"text", "s", NULL},
                                            {"tool", "s-", NULL},
                                            {"call_id", "s-", NULL},
                                            {"arguments", "o-", NULL},
                                            {"editable", "b-", NULL},
                                            {"options", "l-", NULL},
                                            {"schema", "o-", NULL},
                                            {"details", "o-", NULL},
                                            {"role", "s", &access_role_enum},
                                            {"quorum", "i", NULL},
                                            {"created_at", "t", NULL},
                                            {"expires_at", "t?", NULL},
                                            {"votes", "[Vote-", NULL},
                                            {"decision", "s-", &ask_decision_enum},
                                            {"answer", "x-", NULL},
                                            {"reason", "s-", NULL},
                                            {"answered_by", "s-", NULL},
                                            {"answered_at", "t-", NULL},
                                            {"grants", "[Grant-", NULL},
                                            {0}};
static const struct member ask_list_members[] = {{"asks", "[Ask", NULL}, {"next_cursor", "s?", NULL}, {0}};
static const struct member ask_link_members[] = {{"url", "s", NULL}, {"expires_at", "t", NULL}, {0}};
static const struct member rule_members[] = {{"id", "s", NULL},
                                             {"tool", "s", NULL},
                                             {"agent", "s?", NULL},
                                             {"user_id", "s?", NULL},
                                             {"arguments", "o?", NULL},
                                             {"subject", "@Subject", NULL},
                                             {"text", "s", NULL},
                                             {"scope", "s", &ask_decision_enum},
                                             {"session_id", "s", NULL},
                                             {"ask_id", "s", NULL},
                                             {"created_by", "s", NULL},
                                             {"created_at", "t", NULL},
                                             {0}};
static const struct member rule_list_members[] = {{"rules", "[Rule", NULL}, {0}};
static const struct member prompt_list_members[] = {{"prompts", "[Prompt", NULL}, {0}};
static const struct member participant_members[] = {{"user_id", "s", NULL}, {"role", "s", NULL}, {0}};
static const struct member participant_list_members[] = {{"participants", "[ListedParticipant", NULL}, {0}};
static const struct member listed_participant_members[] = {
    {"user_id", "s", NULL}, {"name", "s?", NULL},    {"email", "s?", NULL},
    {"role", "s", NULL},    {"added_at", "t", NULL}, {0},
};
static const struct member share_members[] = {
    {"id", "s", NULL},         {"token", "s-", NULL},
    {"role", "s", NULL},       {"expires_at", "t?", NULL},
    {"max_uses", "i?", NULL},  {"use_count", "i", NULL},
    {"active", "b", NULL},     {"created_by", "s", NULL},
    {"created_at", "t", NULL}, {0},
};
static const struct member share_list_members[] = {{"share_links", "[ShareLink", NULL}, {0}};
static const struct member sign_in_members[] = {
    {"user_id", "s", NULL}, {"csrf_token", "s", NULL}, {"expires_at", "t", NULL}, {0}};
static const struct member me_members[] = {
    {"kind", "s", &principal_kind_enum},
    {"actor", "s", NULL},
    {"tenant_id", "s", NULL},
    {"user_id", "s?", NULL},
    {"role", "s?", &member_role_enum},
    {"scopes", "l", &scope_enum},
    {"id_prefix", "s?", NULL},
    {"session_id", "s?", NULL},
    {"csrf_token", "s-", NULL},
    {0},
};
static const struct member ticket_members[] = {{"ticket", "s", NULL}, {"expires_at", "t", NULL}, {0}};
static const struct member user_members[] = {
    {"id", "s", NULL},
    {"email", "s", NULL},
    {"name", "s", NULL},
    {"role", "s", &member_role_enum},
    {"sessions_max", "i", NULL},
    {"created_at", "t", NULL},
    {"sign_in_secret", "s-", NULL},
    {0},
};
static const struct member user_list_members[] = {{"users", "[User", NULL}, {0}};
static const struct member token_members[] = {
    {"id", "s", NULL},          {"name", "s", NULL},          {"kind", "s", &principal_kind_enum},
    {"token", "s-", NULL},      {"scopes", "l", &scope_enum}, {"user_id", "s?", NULL},
    {"id_prefix", "s?", NULL},  {"session_id", "s?", NULL},   {"created_at", "t", NULL},
    {"expires_at", "t?", NULL}, {"revoked_at", "t?", NULL},   {0},
};
static const struct member tool_call_members[] = {
    {"tool", "s", NULL}, {"call_id", "s", NULL}, {"success", "b", NULL}, {"result", "x", NULL}, {0}};
static const struct member token_list_members[] = {{"tokens", "[Token", NULL}, {0}};
static const struct member tenant_members[] = {
    {"id", "s", NULL}, {"name", "s", NULL}, {"role", "s", NULL}, {"created_at", "t", NULL}, {0}};
static const struct member tenant_list_members[] = {{"tenants", "[Tenant", NULL}, {0}};
static const struct member tenant_created_members[] = {{"tenant", "@Tenant", NULL}, {"token", "s", NULL}, {0}};

static const struct member agent_members[] = {
    {"id", "s", NULL},
    {"version", "i", NULL},
    {"name", "s?", NULL},
    {"description", "s?", NULL},
    {"driver", "s", &agent_driver_enum},
    {"provider", "s?", NULL},
    {"model", "s?", NULL},
    {"source", "s", &agent_origin_enum},
    {"shared", "b", NULL},
    {"created_at", "t", NULL},
    {"created_by", "s?", NULL},
    {"removed_at", "t?", NULL},
    {"definition", "o-", NULL},
    {0},
};
static const struct member agent_list_members[] = {
    {"agents", "[Agent", NULL}, {"has_more", "b", NULL}, {"next_cursor", "s?", NULL}, {0}};
static const struct member agent_versions_members[] = {
    {"agents", "[Agent", NULL}, {"has_more", "b", NULL}, {"next_before", "i?", NULL}, {0}};

static const struct member memory_members[] = {
    {"id", "s", NULL},
    {"text", "s", NULL},
    {"owner_id", "s?", NULL},
    {"session_id", "s", NULL},
    {"created_at", "t", NULL},
    {"updated_at", "t", NULL},
    {0},
};
static const struct member memory_list_members[] = {
    {"memories", "[Memory", NULL}, {"has_more", "b", NULL}, {"next_cursor", "s?", NULL}, {0}};

static const struct member model_members[] = {
    {"provider", "s", NULL}, {"id", "s", NULL}, {"name", "s?", NULL}, {"listed", "b", NULL}, {"agents", "l", NULL}, {0},
};
static const struct member model_provider_members[] = {
    {"name", "s", NULL}, {"state", "s", &vendor_state_enum}, {"detail", "s?", NULL}, {"asked_at", "t?", NULL}, {0},
};
static const struct member model_list_members[] = {
    {"models", "[Model", NULL}, {"providers", "[ModelProvider", NULL}, {0}};

static const struct member persona_members[] = {
    {"id", "s", NULL},        {"name", "s", NULL},       {"prompt", "s", NULL},     {"visibility", "s", NULL},
    {"owner_id", "s?", NULL}, {"created_at", "t", NULL}, {"updated_at", "t", NULL}, {0},
};
static const struct member persona_list_members[] = {
    {"personas", "[Persona", NULL}, {"has_more", "b", NULL}, {"next_cursor", "s?", NULL}, {0}};
static const struct member preferences_members[] = {
    {"idle_timeout_ms", "i", NULL}, {"queue_mode", "s", &queue_mode_enum}, {"set", "l", NULL}, {0}};
static const struct member channel_members[] = {
    {"id", "s", NULL},
    {"kind", "s", NULL},
    {"address", "s?", NULL},
    {"followup_ms", "i", NULL},
    {"waiting", "b", NULL},
    {"created_at", "t", NULL},
    {0},
};
static const struct member channel_list_members[] = {{"channels", "[Channel", NULL}, {0}};
static const struct member tunnel_members[] = {
    {"name", "s", NULL}, {"url", "s?", NULL}, {"port", "i?", NULL}, {"proxy", "s", NULL}, {0}};
static const struct member tunnel_list_members[] = {{"tunnels", "[Tunnel", NULL}, {0}};
static const struct member system_message_members[] = {
    {"session_id", "s", NULL}, {"sequence", "i", NULL}, {"prompt_id", "s-", NULL}, {0}};

const struct schema main_schemas[] = {
    {"Persona", persona_members},
    {"PersonaList", persona_list_members},
    {"Preferences", preferences_members},
    {"Channel", channel_members},
    {"ChannelList", channel_list_members},
    {"Tunnel", tunnel_members},
    {"TunnelList", tunnel_list_members},
    {"SystemMessage", system_message_members},
    {"Problem", problem_members},
    {"Health", health_members},
    {"Session", session_members},
    {"WaitingFor", waiting_for_members},
    {"Part", part_members},
    {"SessionWords", session_words_members},
    {"SessionSource", session_source_members},
    {"SessionError", session_error_members},
    {"SessionList", session_list_members},
    {"Event", event_members},
    {"EventList", event_list_members},
    {"Message", message_members},
    {"MessageAuthor", message_author_members},
    {"MessageChannel", message_channel_members},
    {"MessageList", message_list_members},
    {"GitState", git_state_members},
    {"ChangedFile", changed_file_members},
    {"File", file_members},
    {"FileList", file_list_members},
    {"FilesChanged", files_changed_members},
    {"Appended", appended_members},
    {"BulkDeleted", bulk_members},
    {"BulkResult", bulk_result_members},
    {"Joined", joined_members},
    {"Counts", counts_members},
    {"Lease", lease_members},
    {"GrantedLease", granted_members},
    {"Claim", claim_members},
    {"Claims", claims_members},
    {"Queue", queue_members},
    {"QueueDepth", queue_depth_members},
    {"QueueWorker", queue_worker_members},
    {"Ask", ask_members},
    {"AskShown", ask_members + 4},
    {"Vote", vote_members},
    {"Grant", grant_members},
    {"Subject", subject_members},
    {"AskList", ask_list_members},
    {"AskLink", ask_link_members},
    {"Rule", rule_members},
    {"RuleList", rule_list_members},
    {"Stopped", stopped_members},
    {"Explanation", explained_members},
    {"Unblocker", unblocker_members},
    {"WaitingPrompts", waiting_prompts_members},
    {"HeldLease", held_lease_members},
    {"RunningTurn", running_turn_members},
    {"NextTimer", next_timer_members},
    {"LastWatchdog", last_watchdog_members},
    {"Export", export_members},
    {"Receipt", receipt_members},
    {"Interrupted", interrupted_members},
    {"RuntimeOutcome", runtime_outcome_members},
    {"Prompt", prompt_members},
    {"PromptList", prompt_list_members},
    {"Participant", participant_members},
    {"ParticipantList", participant_list_members},
    {"ListedParticipant", listed_participant_members},
    {"ShareLink", share_members},
    {"ShareLinkList", share_list_members},
    {"SignIn", sign_in_members},
    {"Me", me_members},
    {"Ticket", ticket_members},
    {"User", user_members},
    {"UserList", user_list_members},
    {"Token", token_members},
    {"TokenList", token_list_members},
    {"ToolCall", tool_call_members},
    {"Tenant", tenant_members},
    {"TenantList", tenant_list_members},
    {"TenantCreated", tenant_created_members},
    {"Agent", agent_members},
    {"AgentList", agent_list_members},
    {"AgentVersions", agent_versions_members},
    {"Memory", memory_members},
    {"MemoryList", memory_list_members},
    {"Model", model_members},
    {"ModelProvider", model_provider_members},
    {"ModelList", model_list_members},
    {0},
};
