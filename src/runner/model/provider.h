/* The seam to language models: a neutral request goes out, neutral parts come back, failures come classified. Which
 * vendor answers is a word of the agent's definition; no vendor's type passes here. Loop thread. */
#ifndef RUNNER_PROVIDER_H
#define RUNNER_PROVIDER_H

#include "runner/limits.h"
#include "domain/agent.h"
#include "domain/turn.h"
#include "net/http_client.h"
#include "wire/model_message.h"

struct provider_call;

/* The base addresses end before the path of the format ("https://api.openai.com/v1"). */
struct provider_options {
    const char *anthropic_base, *openai_base; /* NULL = the vendor's own */
    /* The secret of that name, or absent; borrowed for the moment. NULL = the environment. */
    struct slice (*secret)(void *owner, const char *name);
    void *secret_owner;
    struct provider_limits limits;
};

/* Why a call failed, and what may be done about it. */
struct provider_failure {
    enum turn_error error;
    char message[400];      /* one sentence for people; known shapes of secrets are masked */
    bool may_retry;         /* the same model, a little later */
    bool may_fall_back;     /* another model might do better */
    int64_t retry_after_ms; /* what the provider asked for; -1 = nothing */
};

/* `end` comes exactly once and last, with NULL when the answer is complete. */
struct provider_handler {
    void *owner;
    void (*part)(void *owner, const struct model_part *part);
    void (*end)(void *owner, const struct provider_failure *failure);
};

/* ANTHROPIC_BASE_URL and OPENAI_BASE_URL, where they are set. */
void provider_options_read_environment(struct provider_options *options);
/* The vendors by number. */
size_t provider_count(void);
const char *provider_name(size_t index);
/* Is there a key, or another address that may need none? */
bool provider_is_configured(const struct provider_options *options, size_t index);
/* The variable that holds the key of that vendor; NULL when the address is another one, which may need none, and for a
 * vendor that is not known. */
const char *provider_key_name(const struct provider_options *options, struct slice vendor);
/* Asks a vendor for its list of models: {"data":[{"id",…}]} by either format. The handler is the caller's. */
struct provider_question {
    int64_t total_ms;
    size_t bytes_max;
};
MUST_CHECK enum status provider_list_models(struct http_client *client, const struct provider_options *options,
                                            size_t index, const struct provider_question *question,
                                            const struct http_call_handler *handler, struct http_call **out,
                                            struct failure *failure);

/* The handler is told nothing any more. NULL is nothing. */
void provider_cancel_question(struct http_call *call);

/* The options must outlive the call. Not OK: nothing was started, *out_failure says why (no key, unknown provider). */
MUST_CHECK enum status provider_start(struct http_client *client, const struct provider_options *options,
                                      const struct model_choice *choice, const struct model_request *request,
                                      const struct provider_handler *handler, struct provider_call **out,
                                      struct provider_failure *out_failure);
/* Nothing is told any more. NULL is nothing. */
void provider_cancel(struct provider_call *call);
void provider_pause(struct provider_call *call, bool paused);

#endif
