/* What is said to a language model and what it says, in neutral words. The codecs beside it (anthropic.h, openai.h)
 * write and read the vendors' formats; no vendor's word leaves them. Everything borrows its bytes. */
#ifndef WIRE_MODEL_MESSAGE_H
#define WIRE_MODEL_MESSAGE_H

#include "base/json.h"
#include "base/slice.h"
#include "base/enum_names.h"

enum model_role { MODEL_USER, MODEL_ASSISTANT, MODEL_TOOL };

enum block_kind { BLOCK_TEXT, BLOCK_REASONING, BLOCK_IMAGE, BLOCK_TOOL_USE, BLOCK_TOOL_RESULT };

struct model_block {
    enum block_kind kind;
    struct slice text;      /* text, reasoning, result */
    struct slice signature; /* reasoning: the provider's own proof, good within one turn only; never stored */
    bool is_sealed;         /* reasoning: only the signature can be read, and only by the provider */
    struct slice call_id;   /* tool use and result */
    struct slice name;
    struct slice arguments; /* tool use: a JSON object */
    bool is_error;          /* result */
    struct slice media_type;
    struct slice data; /* image: base64; or */
    struct slice url;
};

struct model_message {
    enum model_role role;
    const struct model_block *blocks;
    size_t count;
};

struct model_tool {
    struct slice name, description;
    struct slice schema; /* JSON Schema of the arguments */
};

struct model_request {
    struct slice model;
    struct slice system; /* absent = none */
    const struct model_message *messages;
    size_t message_count;
    const struct model_tool *tools;
    size_t tool_count;
    struct slice reasoning_effort; /* off low medium high max; absent = the provider's own */
    int64_t output_tokens_max;     /* 0 = the provider's own */
};

enum model_stop { MODEL_STOP_END, MODEL_STOP_LENGTH, MODEL_STOP_TOOLS, MODEL_STOP_FILTER };

/* Totals of one call; -1 = not told. */
struct model_usage {
    int64_t input_tokens; /* all of them, cached ones included */
    int64_t output_tokens;
    int64_t cache_read_tokens, cache_write_tokens, reasoning_tokens;
};

/* One step of an answer. */
enum part_kind {
    PART_TEXT,
    PART_REASONING,
    PART_SIGNATURE,  /* of the reasoning so far */
    PART_SEALED,     /* reasoning nobody may read: text is the provider's own */
    PART_TOOL_BEGIN, /* index, call_id, name */
    PART_TOOL_INPUT, /* index, text: the next piece of the arguments */
    PART_USAGE,      /* usage: replaces what was told before, where it is told */
    PART_STOP,       /* stop: the model has finished */
    PART_ERROR,      /* the provider gave up: name is the kind of error, text its words */
};

struct model_part {
    enum part_kind kind;
    int64_t index;
    struct slice text;
    struct slice call_id, name;
    enum model_stop stop;
    struct model_usage usage;
};

/* Where a decoder puts parts; slices are good during the call. */
struct model_sink {
    void *owner;
    void (*part)(void *owner, const struct model_part *part);
};

static inline void model_tell(struct model_sink sink, const struct model_part *part)
{
    sink.part(sink.owner, part);
}

#endif
