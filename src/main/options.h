/* The options of the server as plain values. Each field is filled by one row of options_table.c. A limit stands in the
 * struct of its noun, which its room declares and main hands over whole; to add one, add the field there and the row.
 */
#ifndef MAIN_OPTIONS_H
#define MAIN_OPTIONS_H

#include "api/core/limits.h"
#include "base/log.h"
#include "cli/command.h"
#include "cli/option_layers.h"
#include "net/server.h"
#include "runner/limits.h"
#include "runner/tool/tool_settings.h"
#include "service/core/limits.h"

enum metrics_access { METRICS_OFF, METRICS_PUBLIC, METRICS_COUNT };
enum blobs_option { BLOBS_AUTO, BLOBS_FILES, BLOBS_DATABASE };

struct secrets;

/* Texts live in the arena given to options_load; NULL = not given. */
struct options {
    struct limits limits;     /* of the service, by noun */
    struct server_limits net; /* of connections and requests */
    struct api_limits api;
    struct acp_limits acp;
    struct model_limits model;
    struct provider_limits provider;
    struct sandbox_limits sandbox;
    struct tool_settings tools; /* of built-in agents; tool_options() adds what is no number */
    struct secrets *secrets;    /* no option: what serve() opened, or NULL */

    /* the server */
    const char *config;
    const char *data;
    const char *database; /* NULL = SQLite in `data` */
    struct text_list listen;
    const char *node;
    int64_t node_lease_ms;
    int64_t node_look_ms;
    const char *public_url;
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
    int64_t group_commit_max;
    int64_t commands_waiting_max;

    /* connections */
    const char *tls_cert;
    const char *tls_key;
    struct text_list cors_origin;

    /* requests */
    int64_t guest_bytes_max, caller_bytes_max, tenant_bytes_max;
    int64_t command_steps_max, command_timeout_ms;
    int64_t query_steps_max, query_timeout_ms;

    /* agents */
    const char *agents;
    bool demo_agent;
    int64_t demo_pace_percent;
    const char *default_anthropic_model;
    const char *default_openai_model;
    struct text_list tunnel_hosts;
    const char *gateway_url;
    const char *ca_file;

    /* tools of built-in agents */
    struct text_list tool_http_open;
    struct text_list tool_project_dir;

    /* sandboxes */
    bool sandbox_unprotected;
    struct text_list sandbox_show;
    struct text_list sandbox_projects;
    struct text_list sandbox_backends;
    const char *snapshots;

    /* events and streams */
    int blobs;
    int64_t heartbeat_ms;
    int64_t viewers_max;
    int64_t stream_page_events;
    int64_t stream_tail_bytes;
    int64_t delta_window_bytes;
    int64_t partial_flush_ms;

    /* people and tokens */
    int64_t signin_attempts_max;
    int64_t signin_window_ms;

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
