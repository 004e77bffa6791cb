#include "domain/redact.h"

#include <strings.h>

#include "base/budget.h"

enum secret_kind {
    SECRET_TOKEN,   /* the prefix and everything that may belong to a token */
    SECRET_JWT,     /* three parts with dots between */
    SECRET_SETTING, /* name = value */
    SECRET_BEARER,  /* the word, a space, a token */
    SECRET_URL,     /* scheme://user:password@host */
};

struct secret {
    const char *prefix;
    enum secret_kind kind;
    size_t least; /* length of the secret part, so that ordinary words stay */
};

static const struct secret secrets[] = {
    {"sk-", SECRET_TOKEN, 16},
    {"sk_live_", SECRET_TOKEN, 10},
    {"sk_test_", SECRET_TOKEN, 10},
    {"rk_live_", SECRET_TOKEN, 10},
    {"whsec_", SECRET_TOKEN, 16},
    {"ghp_", SECRET_TOKEN, 20},
    {"gho_", SECRET_TOKEN, 20},
    {"ghu_", SECRET_TOKEN, 20},
    {"ghs_", SECRET_TOKEN, 20},
    {"ghr_", SECRET_TOKEN, 20},
    {"github_pat_", SECRET_TOKEN, 20},
    {"glpat-", SECRET_TOKEN, 16},
    {"xoxb-", SECRET_TOKEN, 10},
    {"xoxp-", SECRET_TOKEN, 10},
    {"xoxa-", SECRET_TOKEN, 10},
    {"xoxr-", SECRET_TOKEN, 10},
    {"xoxs-", SECRET_TOKEN, 10},
    {"xapp-", SECRET_TOKEN, 10},
    {"AKIA", SECRET_TOKEN, 16},
    {"ASIA", SECRET_TOKEN, 16},
    {"AIza", SECRET_TOKEN, 30},
    {"ya29.", SECRET_TOKEN, 20},
    {"SG.", SECRET_TOKEN, 20},
    {"npm_", SECRET_TOKEN, 30},
    {"pypi-", SECRET_TOKEN, 20},
    {"hf_", SECRET_TOKEN, 20},
    {"dop_v1_", SECRET_TOKEN, 40},
    {"sj_", SECRET_TOKEN, 40},
    {"eyJ", SECRET_JWT, 30},
    {"bearer", SECRET_BEARER, 12},
    {"password", SECRET_SETTING, 4},
    {"passwd", SECRET_SETTING, 4},
    {"pwd", SECRET_SETTING, 6},
    {"secret", SECRET_SETTING, 6},
    {"client_secret", SECRET_SETTING, 6},
    {"api_key", SECRET_SETTING, 6},
    {"apikey", SECRET_SETTING, 6},
    {"api-key", SECRET_SETTING, 6},
    {"x-api-key", SECRET_SETTING, 6},
    {"access_key", SECRET_SETTING, 6},
    {"private_key", SECRET_SETTING, 6},
    {"access_token", SECRET_SETTING, 6},
    {"refresh_token", SECRET_SETTING, 6},
    {"auth_token", SECRET_SETTING, 6},
    {"http", SECRET_URL, 1},
    {"https", SECRET_URL, 1},
    {"ftp", SECRET_URL, 1},
    {"postgres", SECRET_URL, 1},
    {"postgresql", SECRET_URL, 1},
    {"mysql", SECRET_URL, 1},
    {"mongodb", SECRET_URL, 1},
    {"redis", SECRET_URL, 1},
    {"amqp", SECRET_URL, 1},
};

enum { SHORTEST_TOKEN = 14 };

/* What words and tokens are made of: letters, digits, "_" and "-". Every character of every message is asked for. */
static const bool word_chars[256] = {
    ['0'] = 1, ['1'] = 1, ['2'] = 1, ['3'] = 1, ['4'] = 1, ['5'] = 1, ['6'] = 1, ['7'] = 1, ['8'] = 1, ['9'] = 1,
    ['a'] = 1, ['b'] = 1, ['c'] = 1, ['d'] = 1, ['e'] = 1, ['f'] = 1, ['g'] = 1, ['h'] = 1, ['i'] = 1, ['j'] = 1,
    ['k'] = 1, ['l'] = 1, ['m'] = 1, ['n'] = 1, ['o'] = 1, ['p'] = 1, ['q'] = 1, ['r'] = 1, ['s'] = 1, ['t'] = 1,
    ['u'] = 1, ['v'] = 1, ['w'] = 1, ['x'] = 1, ['y'] = 1, ['z'] = 1, ['A'] = 1, ['B'] = 1, ['C'] = 1, ['D'] = 1,
    ['E'] = 1, ['F'] = 1, ['G'] = 1, ['H'] = 1, ['I'] = 1, ['J'] = 1, ['K'] = 1, ['L'] = 1, ['M'] = 1, ['N'] = 1,
    ['O'] = 1, ['P'] = 1, ['Q'] = 1, ['R'] = 1, ['S'] = 1, ['T'] = 1, ['U'] = 1, ['V'] = 1, ['W'] = 1, ['X'] = 1,
    ['Y'] = 1, ['Z'] = 1, ['_'] = 1, ['-'] = 1,
};

static inline bool is_word_char(char c)
{
    return word_chars[(unsigned char)c];
}

static const struct redaction no_secret;

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t word_end(struct slice text, size_t at)
{
    while (at < text.len && is_word_char(text.ptr[at])) {
        at++;
    }
    return at;
}

/* Base64 and dotted tokens go on beyond the characters of a word; the end of a sentence does not belong to them. */
static void measure_run(struct redact_scan *scan, size_t at)
{
    struct slice text = scan->text;
    size_t end = at, dots = 0;
    while (end < text.len && (is_word_char(text.ptr[end]) || strchr("./+=", text.ptr[end]))) {
        end++;
    }
    scan->run_from = at;
    scan->run_to = end;
    while (end > at && strchr("./", text.ptr[end - 1])) {
        end--;
    }
    scan->token_end = end;
    for (size_t i = end; i > at && dots < 2; i--) {
        dots += text.ptr[i - 1] == '.';
        scan->last_pair = i - 1;
    }
    scan->has_pair = dots == 2;
}

static size_t token_end(struct redact_scan *scan, size_t at)
{
    if (at < scan->run_from || at >= scan->run_to) {
        measure_run(scan, at);
    }
    return scan->token_end > at ? scan->token_end : at;
}

static bool starts_nocase(struct slice text, size_t at, struct slice prefix)
{
    return text.len - at >= prefix.len && strncasecmp(text.ptr + at, prefix.ptr, prefix.len) == 0;
}

static struct redaction match_token(struct redact_scan *scan, size_t at, const struct secret *secret,
                                    struct slice prefix)
{
    if (!slice_starts(slice_after(scan->text, at), prefix)) {
        return no_secret;
    }
    size_t len = token_end(scan, at) - at;
    return len < prefix.len + secret->least ? no_secret : (struct redaction){0, len, 0};
}

static struct redaction match_jwt(struct redact_scan *scan, size_t at, const struct secret *secret, struct slice prefix)
{
    struct redaction found = match_token(scan, at, secret, prefix);
    return found.skip && scan->has_pair && scan->last_pair >= at ? found : no_secret;
}

static struct redaction match_setting(const struct redact_scan *scan, size_t at, const struct secret *secret,
                                      struct slice name)
{
    struct slice text = scan->text;
    size_t i = at + name.len;
    bool separated = false;
    if (!starts_nocase(text, at, name)) {
        return no_secret;
    }
    for (; i < text.len && strchr("\"'` :=", text.ptr[i]) && text.ptr[i]; i++) {
        separated = separated || text.ptr[i] == ':' || text.ptr[i] == '=';
    }
    size_t end = i;
    while (separated && end < text.len && !is_space(text.ptr[end]) && !strchr("\"'`,;&}", text.ptr[end])) {
        end++;
    }
    return separated && end - i >= secret->least ? (struct redaction){i - at, end - i, 0} : no_secret;
}

static struct redaction match_bearer(struct redact_scan *scan, size_t at, const struct secret *secret,
                                     struct slice word)
{
    struct slice text = scan->text;
    size_t start = at + word.len + 1;
    if (!starts_nocase(text, at, word) || start >= text.len || text.ptr[start - 1] != ' ') {
        return no_secret;
    }
    size_t end = token_end(scan, start);
    return end > start && end - start >= secret->least ? (struct redaction){start - at, end - start, 0} : no_secret;
}

static struct redaction match_url(const struct redact_scan *scan, size_t at, const struct secret *secret,
                                  struct slice scheme)
{
    struct slice text = scan->text;
    size_t colon = 0, i = at + scheme.len + 3;
    if (!starts_nocase(text, at, scheme) || !slice_starts(slice_after(text, at + scheme.len), SLICE("://"))) {
        return no_secret;
    }
    for (; i < text.len && !is_space(text.ptr[i]) && text.ptr[i] != '/' && text.ptr[i] != '@'; i++) {
        if (text.ptr[i] == ':' && !colon) {
            colon = i;
        }
    }
    bool found = i < text.len && text.ptr[i] == '@' && colon && i - colon - 1 >= secret->least;
    return found ? (struct redaction){colon + 1 - at, i - colon - 1, 0} : no_secret;
}

static struct redaction match(struct redact_scan *scan, size_t at, const struct secret *secret)
{
    struct slice prefix = slice_of(secret->prefix);
    switch (secret->kind) {
    case SECRET_TOKEN:
        return match_token(scan, at, secret, prefix);
    case SECRET_JWT:
        return match_jwt(scan, at, secret, prefix);
    case SECRET_SETTING:
        return match_setting(scan, at, secret, prefix);
    case SECRET_BEARER:
        return match_bearer(scan, at, secret, prefix);
    case SECRET_URL:
        return match_url(scan, at, secret, prefix);
    }
    return no_secret;
}

/* A PEM block ends with its END line, or with the text when that was cut. */
static struct redaction match_private_key(struct slice text, size_t at)
{
    struct slice rest = slice_after(text, at);
    const char *label = memmem(rest.ptr, rest.len < 64 ? rest.len : 64, "PRIVATE KEY", 11);
    if (!slice_starts(rest, SLICE("-----BEGIN")) || !label) {
        return no_secret;
    }
    const char *end = memmem(rest.ptr, rest.len, "-----END", 8);
    if (!end) {
        return (struct redaction){0, rest.len, 0};
    }
    struct slice tail = slice_after(rest, (size_t)(end - rest.ptr) + 8);
    const char *close = memmem(tail.ptr, tail.len, "-----", 5);
    return (struct redaction){0, close ? (size_t)(close + 5 - rest.ptr) : rest.len, 0};
}

/* Most words are short and stand in a sentence: they are passed without a look at the table. */
static inline bool could_be_secret(struct slice text, size_t at, size_t end)
{
    char after = end < text.len ? text.ptr[end] : ' ';
    bool bearer = end - at == 6 && (text.ptr[at] | 0x20) == 'b';
    return end - at >= SHORTEST_TOKEN || text.ptr[at] == '-' || bearer || (after != '\0' && strchr(":=\"'.", after));
}

static struct redaction match_any(struct redact_scan *scan, size_t at)
{
    struct slice text = scan->text;
    if (text.ptr[at] == '-') {
        return match_private_key(text, at);
    }
    for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
        if ((secrets[i].prefix[0] | 0x20) != (text.ptr[at] | 0x20)) {
            continue;
        }
        struct redaction found = match(scan, at, &secrets[i]);
        if (found.skip) {
            return found;
        }
    }
    return no_secret;
}

struct redaction redact_at(struct redact_scan *scan, size_t at)
{
    size_t end = word_end(scan->text, at);
    struct redaction found = end > at && could_be_secret(scan->text, at, end) ? match_any(scan, at) : no_secret;
    found.word = end - at;
    return found;
}

void redact_add(struct buffer *to, struct slice text)
{
    struct redact_scan scan = {.text = text};
    size_t done = 0;
    budget_spend_bytes(text.len);
    for (size_t i = 0; i < text.len;) {
        struct redaction found = redact_at(&scan, i);
        if (found.skip) {
            buffer_add(to, slice_from(text.ptr + done, i + found.keep - done));
            buffer_add(to, SLICE(REDACTED));
            i = done = i + found.keep + found.skip;
        } else {
            i += found.word ? found.word : 1;
        }
    }
    buffer_add(to, slice_after(text, done));
}

bool redact_finds(struct slice name, struct slice value)
{
    struct buffer line = {0}, masked = {0};
    buffer_add(&line, name);
    buffer_add_byte(&line, '=');
    buffer_add(&line, value);
    redact_add(&masked, buffer_slice(&line));
    bool found = !slice_eq(buffer_slice(&line), buffer_slice(&masked));
    buffer_release(&line);
    buffer_release(&masked);
    return found;
}
