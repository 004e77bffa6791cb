/* Masks the shapes of well-known secrets (API keys, tokens, private keys, passwords in settings and addresses) in text
 * that is shown to others than its writer: previews, snippets, search, exports. What is stored stays as it was sent. */
#ifndef DOMAIN_REDACT_H
#define DOMAIN_REDACT_H

#include "base/buffer.h"
#include "base/json.h"

#define REDACTED "[redacted]"

struct redaction {
    size_t keep; /* bytes that stay readable ("password=") */
    size_t skip; /* bytes after them that are the secret; 0 = no secret here */
    size_t word; /* letters, digits, "_" and "-" from here on; all ASCII */
};

/* One walk through a text, from its beginning to its end. Remembers how far the token at hand reaches, so that no byte
 * is measured once per word before it. */
struct redact_scan {
    struct slice text;
    size_t run_from, run_to; /* the characters of a token that were measured last; the same = none */
    size_t token_end;        /* of that run, without the end of a sentence */
    size_t last_pair;        /* where the last but one of its dots is */
    bool has_pair;
};

/* Looks at one place; `at` is the first byte of a word and never less than before. */
struct redaction redact_at(struct redact_scan *scan, size_t at);
/* Appends the text with every secret replaced. */
void redact_add(struct buffer *to, struct slice text);
/* Would anything of "NAME=VALUE" be replaced? */
bool redact_finds(struct slice name, struct slice value);
/* Writes the value with every secret in its texts replaced, those that only their names give away included. */
void redact_json(struct json_out *out, const struct json *value);

#endif
