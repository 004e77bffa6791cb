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

/* Looks at one place; `at` is the first byte of a word. */
struct redaction redact_at(struct slice text, size_t at);
/* Appends the text with every secret replaced. */
void redact_add(struct buffer *to, struct slice text);
/* Would anything of "NAME=VALUE" be replaced? */
bool redact_finds(struct slice name, struct slice value);
/* Writes the value with every secret in its texts replaced, those that only their names give away included. */
void redact_json(struct json_out *out, const struct json *value);

#endif
