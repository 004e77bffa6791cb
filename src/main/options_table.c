#include "main/options.h"

static const char *const log_level_names[] = {"debug", "info", "warn", "error"};
static const char *const log_format_names[] = {"text", "json"};
static const char *const metrics_names[] = {"off", "public"};
static const char *const ask_role_names[] = {"collaborator", "owner"};

enum { KIB = 1024, MIB = 1024 * 1024, SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR };
#define YEAR (366 * (int64_t)DAY)
#define GIB (1024 * (int64_t)MIB)

/* One row per option. The arguments in order: name, field, and what the type needs; the last is one sentence. */
#define SECTION(title)                                                                                                 \
    {                                                                                                                  \
        .name = (title), .type = OPTION_SECTION                                                                        \
    }
#define TEXT(title, field, placeholder, preset, sentence)                                                              \
    {                                                                                                                  \
        .name = (title), .type = OPTION_TEXT, .offset = OPTION_FIELD(struct options, field, const char *),             \
        .value = (placeholder), .fallback = (preset), .help = (sentence)                                               \
    }
#define SECRET(title, field, sentence)                                                                                 \
    {                                                                                                                  \
        .name = (title), .type = OPTION_TEXT, .offset = OPTION_FIELD(struct options, field, const char *),             \
        .secret = true, .help = (sentence)                                                                             \
    }
#define LIST(title, field, placeholder, preset, sentence)                                                              \
    {                                                                                                                  \
        .name = (title), .type = OPTION_LIST, .offset = OPTION_FIELD(struct options, field, struct text_list),         \
        .value = (placeholder), .fallback = (preset), .help = (sentence)                                               \
    }
#define SWITCH(title, field, preset, sentence)                                                                         \
    {                                                                                                                  \
        .name = (title), .type = OPTION_SWITCH, .offset = OPTION_FIELD(struct options, field, bool),                   \
        .fallback = (preset), .help = (sentence)                                                                       \
    }
#define CHOICE(title, field, words_of, preset, sentence)                                                               \
    {                                                                                                                  \
        .name = (title), .type = OPTION_CHOICE, .offset = OPTION_FIELD(struct options, field, int),                    \
        .choices = {(words_of), sizeof(words_of) / sizeof((words_of)[0])}, .fallback = (preset), .help = (sentence)    \
    }
#define COUNT(title, field, preset, least, most, sentence)                                                             \
    {                                                                                                                  \
        .name = (title), .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct options, field, int64_t), .value = "N",  \
        .fallback = (preset), .min = (least), .max = (most), .help = (sentence)                                        \
    }
#define TIME(title, field, preset, least, most, sentence)                                                              \
    {                                                                                                                  \
        .name = (title), .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct options, field, int64_t),                \
        .value = "TIME", .fallback = (preset), .min = (least), .max = (most), .unit = UNIT_MS, .help = (sentence)      \
    }
#define SIZE(title, field, preset, least, most, sentence)                                                              \
    {                                                                                                                  \
        .name = (title), .type = OPTION_NUMBER, .offset = OPTION_FIELD(struct options, field, int64_t),                \
        .value = "SIZE", .fallback = (preset), .min = (least), .max = (most), .unit = UNIT_BYTES, .help = (sentence)   \
    }

/* clang-format off */
const struct option server_options[] = {
    SECTION("Server"),
    TEXT("config", config, "FILE", NULL,
         "A YAML file with further options, one \"name: value\" per line, names written with underscores."),
    TEXT("data", data, "DIR", "data",
         "The directory for everything the server keeps in files; made when it is missing."),
    TEXT("database", database, "URL", NULL,
         "A PostgreSQL database (postgres://user@host/name) instead of SQLite in the data directory."),
    LIST("listen", listen, "ADDRESS", "127.0.0.1:7070",
         "Where to accept connections: HOST:PORT, [IPV6]:PORT, :PORT for all interfaces, or unix:PATH; port 0 picks one."),
    TEXT("public-url", public_url, "URL", NULL,
         "The address under which people reach this server, for links and cookies; without it the first --listen is used."),
    SECRET("bootstrap-token", bootstrap_token,
           "At first start, makes an API token of the owner with this value (at least 32 characters) instead of printing a one-time link."),
    TEXT("owner-token-file", owner_token_file, "FILE", NULL,
         "When there is no such file, makes an API token of the owner and writes it there, readable by the account of the server only: for commands on the same machine (--token-file)."),
    SECRET("secret-key", secret_key,
           "The key of the stored secrets (sojourn secrets), 64 hexadecimal digits, instead of the one in the file secret.key of the data directory."),
    TIME("stop-timeout-ms", stop_timeout_ms, "10s", 0, 10 * MINUTE,
         "How long a stop waits for requests under way before it cuts them."),

    SECTION("Logs and figures"),
    CHOICE("log-level", log_level, log_level_names, "info",
           "The least important entries that are logged."),
    CHOICE("log-format", log_format, log_format_names, "text",
           "One line per entry on standard error, as text for people or as JSON."),
    CHOICE("metrics", metrics, metrics_names, "public",
           "Who may read /metrics: nobody, or everybody who can connect."),

    SECTION("Threads"),
    COUNT("loop-threads", loop_threads, "1", 1, 64,
          "Threads that own sockets and timers."),
    COUNT("reader-threads", reader_threads, "2", 1, 64,
          "Threads that answer queries, each with its own connection to the database."),
    COUNT("cached-sessions-max", cached_sessions_max, "1024", 64, 1000000,
          "How many sessions the writer keeps in memory."),
    COUNT("group-commit-max", group_commit_max, "512", 1, 10000,
          "How many waiting commands one commit carries at most."),
    COUNT("commands-waiting-max", commands_waiting_max, "20000", 1, 1000000,
          "How many commands may wait for a writer before further ones are answered with 503."),
    COUNT("reads-waiting-max", reads_waiting_max, "20000", 1, 1000000,
          "How many queries may wait for a reader before further ones are answered with 503."),

    SECTION("Connections"),
    TEXT("tls-cert", tls_cert, "FILE", NULL,
         "A certificate chain in PEM; with --tls-key it turns TLS on for every TCP listener."),
    TEXT("tls-key", tls_key, "FILE", NULL,
         "The private key of --tls-cert in PEM."),
    LIST("cors-origin", cors_origin, "ORIGIN", NULL,
         "An origin whose pages may call the API from a browser, or * for every origin without cookies."),
    COUNT("connections-max", connections_max, "16000", 1, 1000000,
          "How many connections are open at a time; further ones are answered with 503 and closed."),
    COUNT("pipeline-max", pipeline_max, "16", 1, 1000,
          "How many requests of one connection are under way at a time; the rest waits in the socket."),
    TIME("header-timeout-ms", header_timeout_ms, "10s", 10, HOUR,
         "How long a client may take to send the head of a request."),
    TIME("body-timeout-ms", body_timeout_ms, "30s", 10, HOUR,
         "How long a client may take to send the body of a request."),
    TIME("idle-timeout-ms", idle_timeout_ms, "75s", 10, DAY,
         "How long a connection may stay open between requests."),
    TIME("write-timeout-ms", write_timeout_ms, "30s", 10, HOUR,
         "How long a client may take none of the bytes sent to it before it is cut."),

    SECTION("Requests"),
    SIZE("uri-bytes-max", uri_bytes_max, "8KiB", 256, MIB,
         "The longest request target; beyond it 414."),
    SIZE("header-bytes-max", header_bytes_max, "32KiB", 1 * KIB, MIB,
         "All headers of a request together; beyond it 431."),
    COUNT("header-count-max", header_count_max, "100", 8, 1000,
          "How many headers a request may have; beyond it 431."),
    SIZE("body-bytes-max", body_bytes_max, "4MiB", 1 * KIB, GIB,
         "The largest body of a request; beyond it 413."),
    TIME("idempotency-keep-ms", idempotency_keep_ms, "24h", SECOND, YEAR,
         "How long the answer to an Idempotency-Key is remembered."),

    SECTION("Sessions"),
    COUNT("sessions-page-default", sessions_page_default, "50", 1, 1000,
          "How many sessions a list answers when the client gives no limit."),
    COUNT("sessions-page-max", sessions_page_max, "200", 1, 1000,
          "How many sessions a list answers at most."),
    COUNT("sessions-per-user-max", sessions_per_user_max, "10", 1, 1000000,
          "How many sessions of one user may be under way at a time; beyond it 429."),
    COUNT("bulk-delete-max", bulk_delete_max, "100", 1, 1000,
          "How many sessions one request may delete."),
    COUNT("children-max", children_max, "1000", 1, 1000000,
          "How many children a session may have."),
    SWITCH("end-children", end_children, "true",
           "A session that ends, in whatever way, ends its children that have not, and theirs."),
    COUNT("participants-max", participants_max, "100", 1, 10000,
          "How many people may take part in a session."),
    COUNT("share-links-max", share_links_max, "50", 1, 10000,
          "How many share links a session may have."),
    SIZE("metadata-bytes-max", metadata_bytes_max, "64KiB", 256, 16 * MIB,
         "The largest metadata object of a session or an event."),
    COUNT("title-chars-max", title_chars_max, "200", 1, 10000,
          "The longest title."),
    COUNT("workspace-chars-max", workspace_chars_max, "100", 1, 10000,
          "The longest name of a workspace."),
    COUNT("prompt-chars-max", prompt_chars_max, "100000", 1, 10000000,
          "The longest prompt."),
    TIME("ttl-agent-ms", ttl_agent_ms, "0", 0, 10 * YEAR,
         "After this time without an end a session of type agent expires; 0 is never."),
    TIME("ttl-response-ms", ttl_response_ms, "30d", 0, 10 * YEAR,
         "The same for sessions of type response."),
    TIME("ttl-tool-ms", ttl_tool_ms, "7d", 0, 10 * YEAR,
         "The same for sessions of type tool."),
    TIME("ttl-mixed-ms", ttl_mixed_ms, "0", 0, 10 * YEAR,
         "The same for sessions of type mixed."),
    TIME("human-session-ms", human_session_ms, "12h", SECOND, YEAR,
         "After this time a person's own running session is abandoned."),

    SECTION("Agents"),
    TEXT("agents", agents, "DIR", NULL,
         "The folder with agents, one *.agent.yaml file each; without it the folder \"agents\" in the data directory, if it exists. Read at the start and on SIGHUP."),
    SWITCH("agents-reach-host", agents_reach_host, "false",
           "Admins of every tenant may send definitions that start programs on this machine, read its environment or files, or reach another address; otherwise files and owners of the first tenant only."),
    SWITCH("demo-agent", demo_agent, "true",
           "Sessions of the agent \"demo\" are answered by a script inside the server, without any model."),
    TEXT("default-anthropic-model", default_anthropic_model, "MODEL", "claude-sonnet-4-5",
         "The model of the agent \"assistant\", which exists when ANTHROPIC_API_KEY is set."),
    TEXT("default-openai-model", default_openai_model, "MODEL", "gpt-5",
         "The model of the agent \"assistant\" when only OPENAI_API_KEY is set, and its fallback when both are."),
    COUNT("prompts-queued-max", prompts_queued_max, "100", 1, 100000,
          "How many messages of one session wait for the running turn to end; beyond it 429."),
    TIME("collect-debounce-ms", collect_debounce_ms, "3s", 0, HOUR,
         "How long messages sent in mode collect wait for a further one before they are said together."),
    COUNT("turns-per-session-max", turns_per_session_max, "50", 0, 1000000,
          "How many turns a session may have before its messages are refused with 429; 0 for no limit."),
    TIME("prompt-wait-max-ms", prompt_wait_max_ms, "5m", 1, DAY,
         "How long a message sent with ?wait=true waits for the end of its turn, at most and when it does not say."),
    COUNT("turns-max", turns_max, "100", 1, 100000,
          "How many turns of built-in agents run at a time; further ones wait in the queue."),
    TIME("interrupt-ms", interrupt_ms, "10s", 100, HOUR,
         "How long an agent may take to end an interrupted turn, before the server ends it."),
    COUNT("history-events-max", history_events_max, "2000", 10, 100000,
          "How many events of a conversation a turn of a built-in agent starts with, the newest."),
    SIZE("said-bytes-max", said_bytes_max, "1MiB", 4 * KIB, GIB,
         "What an agent of this server may have said before it is stored; above it, the server reads no more from it."),

    TIME("runner-grace-ms", runner_grace_ms, "5s", 0, HOUR,
         "How long a turn waits for its runner to connect again before its message is pending again."),
    TIME("runner-lost-ms", runner_lost_ms, "60s", 10, DAY,
         "How long a runner may be away before it counts as lost."),
    TIME("runner-silence-ms", runner_silence_ms, "90s", 0, DAY,
         "A runner that says nothing for so long, not even a ping, counts as gone. 0 = it may be silent."),
    COUNT("runner-frame-chars-max", runner_frame_chars_max, "800000", 1000, 100000000,
          "The longest message of a runner, in characters."),
    TIME("gateway-timeout-ms", gateway_timeout_ms, "55s", 10, HOUR,
         "How long a call of a gateway tool waits for its result; the call goes on."),
    SIZE("gateway-result-bytes-max", gateway_result_bytes_max, "64KiB", KIB, GIB,
         "The largest result of a gateway tool that is kept."),

    SECTION("Tools of built-in agents"),
    SIZE("tool-result-bytes-max", tool_result_bytes_max, "50KiB", KIB, GIB,
         "What a model reads of a tool's result; of a longer one head and tail, and the whole is kept as a file."),
    COUNT("tool-result-lines-max", tool_result_lines_max, "2000", 10, 10000000,
          "The same in lines."),
    SIZE("tool-read-bytes-max", tool_read_bytes_max, "10MiB", KIB, GIB,
         "The largest file that read_file, edit_file and search_files look into."),
    SIZE("tool-write-bytes-max", tool_write_bytes_max, "10MiB", KIB, GIB,
         "The largest file that write_file and edit_file make."),
    COUNT("tool-list-entries-max", tool_list_entries_max, "2000", 1, 1000000,
          "How many entries of a directory list_directory shows."),
    COUNT("tool-search-files-max", tool_search_files_max, "50000", 1, 10000000,
          "How many files one search_files looks into."),
    COUNT("tool-search-matches-max", tool_search_matches_max, "1000", 1, 1000000,
          "How many lines one search_files finds."),
    TIME("tool-search-ms-max", tool_search_ms_max, "20s", 10, HOUR,
         "How long one search_files may take."),
    SIZE("tool-command-bytes-max", tool_command_bytes_max, "10MiB", KIB, GIB,
         "How much output of a command is kept."),
    TIME("tool-command-ms-max", tool_command_ms_max, "2m", 10, DAY,
         "How long a command may run, where the agent's sandbox does not say."),
    SIZE("tool-http-bytes-max", tool_http_bytes_max, "5MiB", KIB, GIB,
         "The largest answer http_request takes."),
    TIME("tool-http-ms-max", tool_http_ms_max, "30s", 10, HOUR,
         "How long one http_request may take, with its redirects."),
    LIST("tool-http-open", tool_http_open, "HOST:PORT", NULL,
         "A host of this machine that http_request may call, over http too, when an agent names it; for tests. Every other private address is refused."),
    SWITCH("tool-full-scope", tool_full_scope, "false",
           "Agents with fs_scope full reach the whole machine with their file tools; otherwise full counts as project."),

    SECTION("Asking people"),
    COUNT("asks-pending-max", asks_pending_max, "10", 1, 1000,
          "How many approvals, questions and forms of one session wait for people at a time; beyond it 429."),
    TIME("approval-expiry-ms", approval_expiry_ms, "5m", 0, YEAR,
         "How long an approval waits unless told; then it counts as denied. 0 means for ever."),
    TIME("question-expiry-ms", question_expiry_ms, "5m", 0, YEAR,
         "The same for questions."),
    TIME("elicitation-expiry-ms", elicitation_expiry_ms, "1h", 0, YEAR,
         "The same for forms."),
    CHOICE("ask-role", ask_role, ask_role_names, "collaborator",
           "Who may answer unless the ask says: collaborators of the session, or only its owner."),
    COUNT("ask-rules-max", ask_rules_max, "1000", 1, 1000000,
          "How many standing decisions (session, always) a tenant has at most."),
    TIME("ask-link-ms", ask_link_ms, "1h", SECOND, 30 * (int64_t)DAY,
         "How long a one-time link to an ask works at most."),

    SECTION("Models"),
    TEXT("ca-file", ca_file, "FILE", NULL,
         "Certificates that outgoing calls trust, in PEM, instead of the system's."),
    COUNT("model-retries", model_retries, "3", 0, 100,
          "How often a call to a model is tried again after 429, 5xx or a lost connection, before the next model is asked."),
    TIME("model-backoff-ms", model_backoff_ms, "500ms", 1, HOUR,
         "How long the first such retry waits; each further one twice as long, a little by chance."),
    TIME("model-wait-ms-max", model_wait_ms_max, "60s", 1, HOUR,
         "A provider that wants the server to wait longer counts as failed."),
    TIME("model-connect-ms", model_connect_ms, "30s", 10, HOUR,
         "How long connecting to a provider may take."),
    TIME("model-silence-ms", model_silence_ms, "120s", 10, DAY,
         "A provider that sends no byte for this long is given up."),
    COUNT("model-output-tokens-max", model_output_tokens_max, "0", 0, 100000000,
          "How many tokens one answer of a model may have; 0 leaves it to the provider."),
    SIZE("model-answer-bytes-max", model_answer_bytes_max, "64MiB", 1 * KIB, GIB,
         "The longest answer of a provider to one call."),
    SIZE("model-event-bytes-max", model_event_bytes_max, "4MiB", 1 * KIB, GIB,
         "The longest single event in a provider's stream."),

    SECTION("Agents over ACP"),
    TIME("acp-start-ms", acp_start_ms, "30s", 10, HOUR,
         "How long an agent's process may take to come up and open its session."),
    TIME("acp-cancel-ms", acp_cancel_ms, "5s", 10, HOUR,
         "How long a cancelled prompt may take to end by itself, before its process is killed."),
    TIME("acp-silence-ms", acp_silence_ms, "10m", 10, DAY,
         "An agent that says nothing for this long while nobody is asked loses its turn."),
    SIZE("acp-line-bytes-max", acp_line_bytes_max, "16MiB", 1 * KIB, GIB,
         "The longest message of an agent."),
    SIZE("acp-file-bytes-max", acp_file_bytes_max, "1MiB", 1 * KIB, GIB,
         "The largest file an agent reads or writes through the server."),
    SECTION("Sandboxes"),
    SWITCH("sandbox-unprotected", sandbox_unprotected, "false",
           "Where bubblewrap cannot work, agents run in a plain directory with the rights of the server instead of being refused."),
    LIST("sandbox-show", sandbox_show, "DIR", NULL,
         "A further directory of this machine that processes in sandboxes see, read-only, besides /usr; where programs of agents are installed."),
    LIST("sandbox-projects", sandbox_projects, "DIR", NULL,
         "A directory below which projects and repositories may lie that are copied into sandboxes; without one, none."),
    LIST("sandbox-backends", sandbox_backends, "URL", NULL,
         "The address of a sandbox backend that agents of kind http may name; without one, that kind is refused."),
    SIZE("sandbox-memory-bytes-max", sandbox_memory_bytes_max, "2GiB", 16 * MIB, 1024 * GIB,
         "The memory of one sandbox; an agent may ask for less."),
    COUNT("sandbox-processes-max", sandbox_processes_max, "256", 4, 100000,
          "The processes and threads of one sandbox; an agent may ask for less."),
    SIZE("sandbox-disk-bytes-max", sandbox_disk_bytes_max, "5GiB", 1 * MIB, 1024 * GIB,
         "The files of one sandbox; an agent may ask for less. What grows beyond it is ended."),
    TIME("sandbox-prepare-ms", sandbox_prepare_ms, "10m", SECOND, DAY,
         "How long cloning, copying, packing or unpacking a sandbox may take."),
    TIME("sandbox-backend-ms", sandbox_backend_ms, "2m", SECOND, HOUR,
         "How long one call of a sandbox backend may take."),
    TIME("process-grace-ms", process_grace_ms, "5s", 0, HOUR,
         "How long a process may take to end after it was told to, before it is killed."),
    SIZE("process-stdin-bytes-max", process_stdin_bytes_max, "8MiB", 4 * KIB, GIB,
         "What may wait to be read by a process of an agent; beyond it the agent counts as stuck."),
    SIZE("snapshot-bytes-max", snapshot_bytes_max, "2GiB", 1 * MIB, 1024 * GIB,
         "The largest snapshot of a sandbox, compressed; a larger one is not kept and the sandbox stays."),
    COUNT("snapshots-kept", snapshots_kept, "2", 1, 1000,
          "How many snapshots of a session are kept, the newest."),
    TIME("idle-grace-ms", idle_grace_ms, "5m", 10, YEAR,
         "How long nothing must happen in a session with an interactive source before its sandbox is put to sleep; an agent's idle_timeout may be shorter."),
    TIME("idle-grace-automated-ms", idle_grace_automated_ms, "30s", 10, YEAR,
         "The same for sessions nobody sits before."),
    SWITCH("wake-on-view", wake_on_view, "true",
           "Whoever opens the stream of a session whose sandbox sleeps wakes it."),
    TIME("runtime-lock-ms", runtime_lock_ms, "5m", SECOND, DAY,
         "With PostgreSQL: what a server finds at its start in the middle of starting, sleeping or waking, and nobody moved for this long, is taken over. With SQLite it is at once: there is only one."),
    COUNT("snapshot-failures-max", snapshot_failures_max, "3", 1, 1000,
          "After so many snapshots in a row that failed the session ends."),

    SECTION("Events and streams"),
    COUNT("events-page-default", events_page_default, "100", 1, 1000,
          "How many events a list answers when the client gives no limit."),
    COUNT("events-page-max", events_page_max, "1000", 1, 10000,
          "How many events a list answers at most."),
    COUNT("events-per-append-max", events_per_append_max, "1000", 1, 10000,
          "How many events one request may append."),
    SIZE("event-bytes-max", event_bytes_max, "1MiB", 1 * KIB, GIB,
         "The largest event, content and metadata together."),
    TIME("heartbeat-ms", heartbeat_ms, "15s", 10, HOUR,
         "How often a silent stream shows that it is alive."),
    COUNT("viewers-max", viewers_max, "100000", 1, 10000000,
          "How many streams are open at a time; beyond it 503."),
    COUNT("stream-page-events", stream_page_events, "1000", 1, 10000,
          "How many events a stream that reads from the store reads at a time."),
    SIZE("stream-tail-bytes", stream_tail_bytes, "256KiB", 1 * KIB, GIB,
         "How many bytes of recent frames are kept in memory for each watched session."),
    SIZE("delta-window-bytes", delta_window_bytes, "1MiB", 1 * KIB, GIB,
         "How many bytes of live output are kept for each running turn, to be replayed exactly."),
    SIZE("delta-bytes-max", delta_bytes_max, "64KiB", 64, 16 * MIB,
         "The largest piece of live output."),
    TIME("partial-flush-ms", partial_flush_ms, "1s", 10, MINUTE,
         "How often the live output of a running turn is saved."),

    SECTION("Claims"),
    TIME("lease-ms-default", lease_ms_default, "30s", 100, DAY,
         "How long a lease lasts when the worker does not say."),
    TIME("lease-ms-min", lease_ms_min, "1s", 100, DAY,
         "The shortest lease a worker may ask for."),
    TIME("lease-ms-max", lease_ms_max, "1h", 100, 30 * (int64_t)DAY,
         "The longest lease a worker may ask for."),
    TIME("claim-wait-ms-max", claim_wait_ms_max, "60s", 0, HOUR,
         "How long a claim may wait for work."),
    COUNT("claim-max", claim_max, "64", 1, 64,
          "How many sessions one claim may take."),
    COUNT("claim-attempts-max", claim_attempts_max, "5", 1, 1000,
          "How often a session is handed out again after a lost lease before it fails."),

    SECTION("People and tokens"),
    COUNT("password-chars-min", password_chars_min, "12", 8, 128,
          "The shortest password."),
    COUNT("signin-attempts-max", signin_attempts_max, "10", 1, 1000,
          "How many failed sign-ins for one account or from one address are answered within the window; then 429."),
    TIME("signin-window-ms", signin_window_ms, "15m", SECOND, DAY,
         "The window of --signin-attempts-max."),
    TIME("cookie-ms", cookie_ms, "30d", MINUTE, YEAR,
         "How long a browser stays signed in."),
    TIME("ticket-ms", ticket_ms, "30s", SECOND, HOUR,
         "How long a one-use ticket for a stream is good."),
    TIME("setup-link-ms", setup_link_ms, "24h", MINUTE, 30 * (int64_t)DAY,
         "How long the one-time link printed at first start, or sent to a new user, is good."),
    COUNT("tokens-per-user-max", tokens_per_user_max, "100", 1, 100000,
          "How many API tokens one user may have."),

    SECTION("Engines"),
    COUNT("sqlite-cache-kib", sqlite_cache_kib, "4096", 64, 16 * MIB,
          "Page cache of each SQLite connection in KiB."),
    TIME("sqlite-busy-ms", sqlite_busy_ms, "5s", 0, HOUR,
         "How long SQLite waits for a lock that another process holds on the file."),
    COUNT("sqlite-checkpoint-pages", sqlite_checkpoint_pages, "8192", 100, 10000000,
          "After how many pages the write-ahead log is brought back into the database file."),
    TIME("postgres-poll-ms", postgres_poll_ms, "1s", 10, MINUTE,
         "How often a node looks for events of other nodes that no notification announced."),
    {0},
};
/* clang-format on */

const struct option *const server_option_tables[] = {server_options, NULL};
