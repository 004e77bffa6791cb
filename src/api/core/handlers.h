/* The routes of each resource, beside their handlers, and what handlers of different files share. */
#ifndef API_HANDLERS_H
#define API_HANDLERS_H

#include "api/core/request.h"

struct prompt;
struct prompt_receipt;
struct session_filter;
struct token;

/* Each is named after its file and ends with a NULL path; routes.c lists them. */
extern const struct route agent_routes[], ask_routes[], ask_link_routes[], auth_routes[], channel_routes[],
    claim_routes[], dashboard_routes[], entity_routes[], event_routes[], explain_routes[], export_routes[],
    file_routes[], gateway_routes[], identity_routes[], memory_routes[], message_routes[], model_routes[],
    people_routes[], persona_routes[], prompt_routes[], prompt_queue_routes[], proxy_routes[], run_routes[],
    runner_routes[], runtime_routes[], session_routes[], session_list_routes[], stop_routes[], stream_routes[],
    system_routes[], task_routes[], tunnel_routes[], workspace_routes[];

/* sessions_list.c */
/* All sessions the caller may see, for handlers that narrow it further; `limit` is to be set. */
void request_filter_sessions(const struct request *request, struct session_filter *out);

/* events.c */
/* The limit of a page of events: what was asked for, at most the option's. */
int64_t request_page_limit(const struct request *request);

/* files.c */
/* Before what people and agents say: media inside become files. */
enum status media_prepare(struct request *request);

/* runner_socket.c */
enum status runner_socket_open(struct request *request);

/* prompts.c */
/* The content of a message's body: one of `text` and `content`; neither is INVALID when `needed`, else absent. */
struct prompt_request;
enum status prompts_read_content(struct request *request, bool needed, struct slice *out);
/* The one reading of a message, whatever it came through. */
enum status prompts_read_message(struct arena *arena, const struct service *service, const struct json *body,
                                 struct prompt_request *out, struct failure *failure);
enum status prompts_check_size(struct request *request, struct slice content, struct slice metadata);

/* prompts_queue.c */
/* An array of what waits, or waited; places count from 1 within it. */
void prompts_write(struct json_out *out, const struct prompt *prompts, size_t count);
void prompts_write_receipt(struct json_out *out, const struct prompt_receipt *receipt);

/* identity.c */
void scopes_write(struct json_out *out, unsigned scopes);
void token_write(struct json_out *out, const struct token *token, struct slice secret); /* absent secret = not told */

/* dashboard.c */
enum status dashboard_page(struct request *request);
/* Whether a person's browser asks for a page, so that the dashboard may say that there is none. */
bool dashboard_is_wanted(const struct request *request);

/* ready.c */
enum status system_ready(struct request *request);

/* openapi.c */
enum status system_openapi(struct request *request);

#endif
