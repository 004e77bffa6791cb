/* The options of the server as plain values. Each field is filled by one row of options_table.c; to add an option, add
 * the field here and the row there. main hands every room the small struct that room asks for. */
#ifndef MAIN_OPTIONS_H
#define MAIN_OPTIONS_H

#include "base/log.h"
#include "cli/command.h"
#include "cli/option_layers.h"

enum metrics_access { METRICS_OFF, METRICS_PUBLIC, METRICS_COUNT };
enum blobs_option { BLOBS_AUTO, BLOBS_FILES, BLOBS_DATABASE };
enum ask_role_option { ASK_ROLE_COLLABORATOR, ASK_ROLE_OWNER, ASK_ROLE_COUNT };

struct secrets;

/* Texts live in the arena given to options_load; NULL = not given. */
struct options {
    struct secrets *secrets; /* no option: what serve() opened, or NULL */

    /* the server */
    const char *config;
    const char *data;
    const char *database; /* NULL = SQLite in `data` */
    struct text_list listen;
    const char *node;
    int64_t node_lease_ms;
    int64_t node_look_ms;
    const char *public_url;
    int64_t ready_timeout_ms;
    const char *bootstrap_token;
    const char *owner_token_file;
    const char *secret_key;
    const char *master_key, *master_key_file;
    int64_t stop_timeout_ms;
    int64_t stop_force_ms;

    /* logs and figures */
    int log_level;  /* enum log_level */
    int log_format; /* enum log_format */
    int metrics;    /* enum metrics_access */

    /* threads */
    int64_t loop_threads;
    int64_t reader_threads;
    int64_t cached_sessions_max;
    int64_t group_commit_max;
    int64_t commands_waiting_max;
    int64_t reads_waiting_max;

    /* connections */
    const char *tls_cert;
    const char *tls_key;
    struct text_list cors_origin;
    int64_t connections_max;
    int64_t pipeline_max;
    int64_t header_timeout_ms;
    int64_t body_timeout_ms;
    int64_t idle_timeout_ms;
    int64_t write_timeout_ms;

    /* requests */
    int64_t uri_bytes_max;
    int64_t header_bytes_max;
    int64_t header_count_max;
    int64_t body_bytes_max, guest_body_bytes_max;
    int64_t guest_bytes_max, caller_bytes_max, tenant_bytes_max;
    int64_t unsent_bytes_max, page_bytes_max;
    int64_t body_values_max, message_values_max;
    int64_t command_steps_max, command_timeout_ms;
    int64_t query_steps_max, query_timeout_ms;
    int64_t idempotency_keep_ms;
    int64_t ended_keep_ms, prune_ms;

    /* sessions */
    int64_t sessions_page_default;
    int64_t sessions_page_max;
    int64_t sessions_per_user_max;
    int64_t bulk_delete_max;
    int64_t children_max;
    bool end_children;
    int64_t participants_max;
    int64_t share_links_max;
    int64_t metadata_bytes_max, usage_bytes_max;
    int64_t title_chars_max;
    int64_t workspace_chars_max;
    int64_t prompt_chars_max;
    int64_t ttl_agent_ms;
    int64_t ttl_response_ms;
    int64_t ttl_tool_ms;
    int64_t ttl_mixed_ms;
    int64_t human_session_ms;

    /* agents */
    const char *agents;
    bool agents_reach_host;
    bool demo_agent;
    int64_t demo_pace_percent;
    const char *default_anthropic_model;
    const char *default_openai_model;
    int64_t prompts_queued_max;
    int64_t asks_pending_max;
    int64_t ask_rules_max;
    int64_t output_expiry_ms;
    int64_t entity_bytes_max, entities_searched_max, search_bytes_max;
    int64_t task_steps_max;
    int64_t approval_expiry_ms;
    int64_t interactive_approval_expiry_ms;
    int64_t question_expiry_ms;
    int64_t elicitation_expiry_ms;
    int64_t ask_link_ms;
    int ask_role;
    int64_t collect_debounce_ms;
    int64_t turns_per_session_max;
    struct text_list tunnel_hosts;
    int64_t proxy_connect_ms, proxy_silence_ms, proxy_idle_ms;
    int64_t proxy_frame_bytes_max, proxy_sockets_max;
    int64_t personas_per_user_max, channels_max, tunnels_max, channel_followup_ms;
    int64_t prompt_wait_max_ms;
    int64_t turns_max;
    int64_t interrupt_ms, history_events_max, said_bytes_max;
    int64_t introspections_max, introspection_attempts_max, introspection_retry_ms, introspection_bytes_max;
    int64_t memories_max, memory_bytes_max, memories_prompt_bytes_max;
    int64_t runner_grace_ms, runner_lost_ms, runner_silence_ms, runner_frame_chars_max;
    const char *gateway_url;
    int64_t gateway_timeout_ms, gateway_call_ms_max, gateway_result_bytes_max;
    int64_t watchdog_sweep_ms, watchdog_sessions_max;
    int64_t turn_silence_ms, worker_silence_ms, stream_silence_ms, turn_cut_ms, lease_over_ms, queue_stuck_ms;
    int64_t turn_unled_ms, waiting_unasked_ms;
    int64_t chat_stale_ms;
    const char *ca_file;
    int64_t model_retries, model_backoff_ms, model_wait_ms_max, model_connect_ms, model_silence_ms;
    int64_t models_cache_ms, models_timeout_ms;
    int64_t model_gather_us, model_output_tokens_max, model_answer_bytes_max, model_event_bytes_max;
    int64_t acp_start_ms, acp_cancel_ms, acp_silence_ms, acp_line_bytes_max, acp_file_bytes_max;

    /* tools of built-in agents */
    int64_t tool_result_bytes_max;
    int64_t tool_result_lines_max;
    int64_t tool_read_bytes_max;
    int64_t tool_write_bytes_max;
    int64_t tool_list_entries_max;
    int64_t tool_search_files_max;
    int64_t tool_search_matches_max;
    int64_t tool_search_ms_max;
    int64_t tool_command_bytes_max;
    int64_t tool_command_ms_max;
    int64_t tool_http_bytes_max;
    int64_t tool_http_ms_max;
    struct text_list tool_http_open;
    struct text_list tool_project_dir;
    bool tool_full_scope;

    /* sandboxes */
    bool sandbox_unprotected;
    struct text_list sandbox_show;
    struct text_list sandbox_projects;
    struct text_list sandbox_backends;
    int64_t sandbox_memory_bytes_max;
    int64_t sandbox_processes_max;
    int64_t sandbox_disk_bytes_max;
    int64_t sandbox_prepare_ms;
    int64_t sandbox_backend_ms;
    int64_t idle_grace_ms, idle_grace_automated_ms;
    int64_t snapshot_failures_max;
    int64_t runtime_lock_ms;
    const char *snapshots;
    bool wake_on_view;
    int64_t process_grace_ms;
    int64_t process_stdin_bytes_max;
    int64_t snapshot_bytes_max;
    int64_t snapshots_kept;

    /* events and streams */
    int64_t events_page_default;
    int64_t events_page_max;
    int64_t events_per_append_max;
    int64_t event_bytes_max;
    int64_t export_bytes_max;
    int blobs;
    int64_t blob_bytes_max, files_per_session_max, blob_sweep_ms, blob_grace_ms, turn_media_bytes_max;
    int64_t heartbeat_ms;
    int64_t viewers_max;
    int64_t stream_page_events;
    int64_t stream_tail_bytes;
    int64_t delta_window_bytes;
    int64_t delta_bytes_max;
    int64_t partial_flush_ms;

    /* claims */
    int64_t lease_ms_default;
    int64_t lease_ms_min;
    int64_t lease_ms_max;
    int64_t claim_wait_ms_max;
    int64_t claim_max;
    int64_t claim_attempts_max;

    /* people and tokens */
    int64_t password_chars_min;
    int64_t signin_attempts_max;
    int64_t signin_window_ms;
    int64_t cookie_ms;
    int64_t ticket_ms;
    int64_t setup_link_ms;
    int64_t tokens_per_user_max;

    /* engines */
    int64_t sqlite_cache_kib;
    int64_t sqlite_busy_ms;
    int64_t sqlite_checkpoint_pages;
    int64_t sqlite_log_ms;
    int64_t postgres_poll_ms;
    int64_t postgres_connect_ms;
    int64_t postgres_answer_ms;
    int64_t postgres_outcome_ms;
    bool postgres_durability_elsewhere;
};

/* Ends with a row without a name. */
extern const struct option server_options[];
/* For the `tables` of commands that take them. */
extern const struct option *const server_option_tables[];

/* Reads defaults, file, environment and command line over each other and checks what belongs together. `origins`
 * (one element per row of server_options, or NULL) gets where each value came from. */
MUST_CHECK enum status options_load(const struct invocation *invocation, struct options *out,
                                    enum option_origin *origins, struct failure *failure);
/* docs/options.md. */
void options_write_markdown(struct buffer *out);

#endif
