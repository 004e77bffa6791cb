#include "main/limits.h"

struct service limits_of_service(const struct options *options)
{
    return (struct service){
        .session_limits =
            {
                .metadata_bytes_max = (size_t)options->metadata_bytes_max,
                .title_chars_max = (size_t)options->title_chars_max,
                .workspace_chars_max = (size_t)options->workspace_chars_max,
                .prompt_chars_max = (size_t)options->prompt_chars_max,
                .ttl_ms =
                    {
                        [TYPE_AGENT] = options->ttl_agent_ms,
                        [TYPE_RESPONSE] = options->ttl_response_ms,
                        [TYPE_TOOL] = options->ttl_tool_ms,
                        [TYPE_MIXED] = options->ttl_mixed_ms,
                    },
            },
        .events_per_append_max = (size_t)options->events_per_append_max,
        .event_bytes_max = (size_t)options->event_bytes_max,
        .export_bytes_max = (size_t)options->export_bytes_max,
        .sessions_per_user_max = options->sessions_per_user_max,
        .bulk_delete_max = (size_t)options->bulk_delete_max,
        .participants_max = (size_t)options->participants_max,
        .share_links_max = (size_t)options->share_links_max,
        .children_max = options->children_max,
        .children_end_with_parent = options->end_children,
        .lease_ms_default = options->lease_ms_default,
        .lease_ms_min = options->lease_ms_min,
        .lease_ms_max = options->lease_ms_max,
        .claim_max = options->claim_max,
        .claim_attempts_max = options->claim_attempts_max,
        .prompts_queued_max = options->prompts_queued_max,
        .asks_pending_max = options->asks_pending_max,
        .ask_rules_max = options->ask_rules_max,
        .output_expiry_ms = options->output_expiry_ms,
        .entity_bytes_max = (size_t)options->entity_bytes_max,
        .entities_searched_max = options->entities_searched_max,
        .usage_bytes_max = (size_t)options->usage_bytes_max,
        .search_bytes_max = options->search_bytes_max,
        .task_steps_max = options->task_steps_max,
        .interactive_approval_expiry_ms = options->interactive_approval_expiry_ms,
        .ask_expiry_ms =
            {
                [ASK_APPROVAL] = options->approval_expiry_ms,
                [ASK_QUESTION] = options->question_expiry_ms,
                [ASK_ELICITATION] = options->elicitation_expiry_ms,
            },
        .ask_link_ms = options->ask_link_ms,
        .ask_role = options->ask_role == ASK_ROLE_OWNER ? ACCESS_OWNER : ACCESS_COLLABORATOR,
        .collect_debounce_ms = options->collect_debounce_ms,
        .turns_per_session_max = options->turns_per_session_max,
        .personas_per_user_max = options->personas_per_user_max,
        .channels_max = options->channels_max,
        .tunnels_max = options->tunnels_max,
        .channel_followup_ms = options->channel_followup_ms,
        .introspections_max = options->introspections_max,
        .introspection_attempts_max = options->introspection_attempts_max,
        .introspection_retry_ms = options->introspection_retry_ms,
        .introspection_bytes_max = (size_t)options->introspection_bytes_max,
        .memories_max = options->memories_max,
        .memory_bytes_max = (size_t)options->memory_bytes_max,
        .memories_prompt_bytes_max = (size_t)options->memories_prompt_bytes_max,
        .health =
            {
                .turn_silence_ms = options->turn_silence_ms,
                .worker_silence_ms = options->worker_silence_ms,
                .stream_silence_ms = options->stream_silence_ms,
                .cut_ms = options->turn_cut_ms,
                .runner_ms = options->lease_over_ms,
                .queue_ms = options->queue_stuck_ms,
                .error_ms = options->turn_unled_ms,
                .waiting_ms = options->waiting_unasked_ms,
                .stale_ms = options->chat_stale_ms,
            },
        .human_session_ms = options->human_session_ms,
        .idempotency_keep_ms = options->idempotency_keep_ms,
        .ended_keep_ms = options->ended_keep_ms,
        .prune_ms = options->prune_ms,
        .cookie_ms = options->cookie_ms,
        .ticket_ms = options->ticket_ms,
        .link_ms = options->setup_link_ms,
        .password_chars_min = (size_t)options->password_chars_min,
        .tokens_per_user_max = (size_t)options->tokens_per_user_max,
        .delta_bytes_max = (size_t)options->delta_bytes_max,
        .cached_sessions_max = (size_t)options->cached_sessions_max,
        .agents_reach_host = options->agents_reach_host,
        .blob_bytes_max = (size_t)options->blob_bytes_max,
        .files_per_session_max = options->files_per_session_max,
    };
}

struct server_limits limits_of_server(const struct options *options)
{
    return (struct server_limits){
        .header_bytes_max = (size_t)options->header_bytes_max,
        .uri_bytes_max = (size_t)options->uri_bytes_max,
        .header_count_max = (size_t)options->header_count_max,
        .body_bytes_max = (size_t)options->body_bytes_max,
        .pipeline_max = (size_t)options->pipeline_max,
        .unsent_bytes_max = (size_t)options->unsent_bytes_max,
        .connections_max = (size_t)options->connections_max,
        .header_timeout_ms = options->header_timeout_ms,
        .body_timeout_ms = options->body_timeout_ms,
        .idle_timeout_ms = options->idle_timeout_ms,
        .write_timeout_ms = options->write_timeout_ms,
    };
}

struct blob_place blobs_of(const struct options *options, const char *directory)
{
    bool in_database = options->blobs == BLOBS_DATABASE || (options->blobs == BLOBS_AUTO && options->database);
    return (struct blob_place){in_database, directory};
}
