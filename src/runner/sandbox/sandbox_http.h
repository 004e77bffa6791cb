/* Sandboxes of a backend elsewhere, over four POSTs of JSON: create-session, hibernate-session, restore-session,
 * terminate-session. Only for this room. */
#ifndef RUNNER_SANDBOX_HTTP_H
#define RUNNER_SANDBOX_HTTP_H

#include "runner/sandbox/sandboxes.h"

struct http_provider;

struct http_provider *http_provider_new(const struct sandboxes_options *options);
void http_provider_free(struct http_provider *http);
const struct sandbox_provider *http_provider_calls(struct http_provider *http);
struct sandbox *http_adopt(struct http_provider *http, struct loop *loop, const struct sandbox_spec *spec,
                           struct slice sandbox_id);
struct slice http_tunnels(const struct sandbox *sandbox);
void http_sandbox_free(struct sandbox *sandbox);

void http_look(struct http_provider *http, struct sandbox *sandbox, struct sandbox_callback told);

#endif
