/* The handlers of the route table and the fields they take, by resource. */
#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "api/request.h"

/* sessions.c */
extern const struct field session_create_body[], session_view_query[], session_update_body[], session_move_body[],
    bulk_delete_body[];
enum status sessions_create(struct request *request);
enum status sessions_get(struct request *request);
enum status sessions_update(struct request *request);
enum status sessions_delete(struct request *request);
enum status sessions_bulk_delete(struct request *request);
enum status sessions_archive(struct request *request);
enum status sessions_unarchive(struct request *request);
enum status sessions_move(struct request *request);
enum status sessions_reopen(struct request *request);
enum status sessions_resume(struct request *request);
enum status sessions_retry(struct request *request);

/* sessions_list.c */
extern const struct field session_list_query[];
enum status sessions_list(struct request *request);
enum status sessions_children(struct request *request);
enum status sessions_counts(struct request *request);
struct session_filter;
/* All sessions the caller may see, for handlers that narrow it further; `limit` is to be set. */
void request_filter_sessions(const struct request *request, struct session_filter *out);

/* entities.c */
extern const struct field entity_body[], entity_update_body[], entity_list_query[], entity_remove_query[],
    entity_sessions_query[];
enum status entities_list(struct request *request);
enum status entities_create(struct request *request);
enum status entities_get(struct request *request);
enum status entities_update(struct request *request);
enum status entities_delete(struct request *request);
enum status entities_sessions(struct request *request);

/* tasks.c */
extern const struct field task_body[], task_update_body[], task_list_query[], task_run_body[];
enum status tasks_list(struct request *request);
enum status tasks_create(struct request *request);
enum status tasks_get(struct request *request);
enum status tasks_update(struct request *request);
enum status tasks_delete(struct request *request);
enum status tasks_run(struct request *request);

/* runs.c */
extern const struct field run_list_query[];
enum status runs_list(struct request *request);
enum status runs_get(struct request *request);

/* stop.c */
extern const struct field stop_body[];
extern const struct field pause_body[];
enum status sessions_stop(struct request *request);

/* explain.c */
enum status sessions_explain(struct request *request);

/* runtime.c */
enum status runtime_post_hibernate(struct request *request);
enum status runtime_post_wake(struct request *request);
enum status runtime_post_pause(struct request *request);
enum status runtime_post_unpause(struct request *request);

/* agents.c */
extern const struct field agent_body[], agent_list_query[], agent_view_query[], agent_versions_query[];
enum status agents_list(struct request *request);
enum status agents_push(struct request *request);
enum status agents_get(struct request *request);
enum status agents_versions(struct request *request);
enum status agents_remove(struct request *request);

/* models.c */
enum status models_list(struct request *request);

/* memories.c */
extern const struct field memory_list_query[];
enum status memories_list(struct request *request);
enum status memories_delete(struct request *request);

/* events.c */
extern const struct field event_append_body[], event_list_query[], audit_query[], delta_body[];
enum status events_append(struct request *request);
enum status events_list(struct request *request); /* or a stream, when the client accepts text/event-stream */
enum status events_audit(struct request *request);
enum status deltas_accept(struct request *request);
/* The limit of a page of events: what was asked for, at most the option's. */
int64_t request_page_limit(const struct request *request);

/* exports.c */
extern const struct field export_body[];
enum status exports_prepare(struct request *request);
enum status exports_create(struct request *request);

/* messages.c */
extern const struct field message_list_query[];
enum status messages_list(struct request *request);

/* workspace.c */
extern const struct field git_state_body[], files_changed_query[];
enum status git_state_get(struct request *request);
enum status git_state_update(struct request *request);
enum status files_changed_list(struct request *request);

/* files.c */
extern const struct field file_upload_query[];
enum status files_prepare(struct request *request);
enum status files_upload(struct request *request);
enum status files_list(struct request *request);
enum status files_get(struct request *request);
/* Before what people and agents say: media inside become files. */
enum status media_prepare(struct request *request);

/* streams.c */
extern const struct field stream_query[], firehose_query[];
enum status streams_websocket(struct request *request);
enum status streams_firehose(struct request *request);

/* gateway.c */
extern const struct field tool_call_body[];
enum status gateway_call_tool(struct request *request);

/* runner_socket.c */
enum status runner_socket_open(struct request *request);
enum status runner_tokens_create(struct request *request);
enum status sandbox_tokens_create(struct request *request);

/* personas.c */
extern const struct field persona_body[], persona_update_body[], persona_list_query[], preferences_body[];
enum status personas_list(struct request *request);
enum status personas_create(struct request *request);
enum status personas_get(struct request *request);
enum status personas_update(struct request *request);
enum status personas_remove(struct request *request);
enum status preferences_get(struct request *request);
enum status preferences_patch(struct request *request);

/* channels.c */
extern const struct field channel_body[], tunnel_body[], system_message_body[];
enum status channels_list(struct request *request);
enum status channels_bind(struct request *request);
enum status channels_unbind(struct request *request);
enum status tunnels_list(struct request *request);
enum status tunnels_open(struct request *request);
enum status tunnels_close(struct request *request);
enum status system_messages_append(struct request *request);

/* proxy.c */
enum status proxy_pass(struct request *request);

/* claims.c */
extern const struct field claim_body[], heartbeat_body[], settle_body[], empty_body[];
enum status claims_take(struct request *request);
enum status claims_heartbeat(struct request *request);
enum status claims_settle(struct request *request);
enum status claims_release(struct request *request);
enum status claims_queue(struct request *request);

/* prompts.c */
extern const struct field message_body[], message_query[];
enum status prompts_send(struct request *request);
/* The content of a message's body: one of `text` and `content`; neither is INVALID when `needed`, else absent. */
struct prompt_request;
enum status prompts_read_content(struct request *request, bool needed, struct slice *out);
/* The one reading of a message, whatever it came through. */
enum status prompts_read_message(struct arena *arena, const struct service *service, const struct json *body,
                                 struct prompt_request *out, struct failure *failure);
enum status prompts_check_size(struct request *request, struct slice content, struct slice metadata);

/* prompts_queue.c */
extern const struct field prompt_edit_body[], prompt_move_body[], prompt_promote_body[], clear_queue_query[];
enum status prompts_list(struct request *request);
enum status prompts_withdraw(struct request *request);
enum status prompts_edit(struct request *request);
enum status prompts_move(struct request *request);
enum status prompts_promote(struct request *request);
enum status prompts_clear(struct request *request);
enum status prompts_interrupt(struct request *request);
struct prompt;
struct prompt_receipt;
/* An array of what waits, or waited; places count from 1 within it. */
void prompts_write(struct json_out *out, const struct prompt *prompts, size_t count);
void prompts_write_receipt(struct json_out *out, const struct prompt_receipt *receipt);

/* asks.c, ask_links.c */
extern const struct field ask_body[], answer_body[], approve_body[], elicitation_body[], ask_list_query[],
    inbox_query[], ask_link_body[];
enum status asks_inbox(struct request *request);
enum status asks_list(struct request *request);
enum status asks_get(struct request *request);
enum status asks_open(struct request *request);
enum status asks_withdraw(struct request *request);
enum status asks_answer(struct request *request);
enum status asks_again(struct request *request);
enum status asks_approve(struct request *request);
enum status asks_elicitation_reply(struct request *request);
enum status rules_list(struct request *request);
enum status rules_revoke(struct request *request);
enum status ask_links_create(struct request *request);
enum status ask_links_show(struct request *request);
enum status ask_links_answer(struct request *request);

/* people.c */
extern const struct field participant_body[], share_body[];
enum status participants_list(struct request *request);
enum status participants_add(struct request *request);
enum status participants_remove(struct request *request);
enum status shares_list(struct request *request);
enum status shares_create(struct request *request);
enum status shares_deactivate(struct request *request);
enum status shares_redeem(struct request *request);

/* auth.c */
extern const struct field sign_in_body[], link_body[], password_body[], ticket_body[];
enum status auth_sign_in_prepare(struct request *request);
enum status auth_sign_in(struct request *request);
enum status auth_link(struct request *request);
enum status auth_sign_out(struct request *request);
enum status auth_me(struct request *request);
enum status auth_password_prepare(struct request *request);
enum status auth_password(struct request *request);
enum status auth_ticket(struct request *request);

/* identity.c */
struct token;
void scopes_write(struct json_out *out, unsigned scopes);
void token_write(struct json_out *out, const struct token *token, struct slice secret); /* absent secret = not told */
extern const struct field user_body[], user_update_body[], token_body[], token_list_query[], tenant_body[];
enum status users_list(struct request *request);
enum status users_create(struct request *request);
enum status users_update(struct request *request);
enum status users_remove(struct request *request);
enum status tokens_list(struct request *request);
enum status tokens_create(struct request *request);
enum status tokens_revoke(struct request *request);
enum status tenants_list(struct request *request);
enum status tenants_create(struct request *request);

/* dashboard.c */
extern const struct field page_query[];
enum status dashboard_page(struct request *request);
/* Whether a person's browser asks for a page, so that the dashboard may say that there is none. */
bool dashboard_is_wanted(const struct request *request);
enum status dashboard_file(struct request *request);

/* system.c, openapi.c */
enum status system_health(struct request *request);
enum status system_ready(struct request *request);
enum status system_metrics(struct request *request);
enum status system_openapi(struct request *request);

#endif
