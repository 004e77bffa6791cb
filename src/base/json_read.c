#include "base/budget.h"
#include "base/hex.h"
#include "base/json.h"
#include "base/json_index.h"
#include "base/json_plain.h"
#include "base/utf8.h"

struct reader {
    struct arena *arena;
    const char *start;
    const char *at;
    const char *end;
    int depth;
    size_t values_left; /* that may be in lists */
    const char *problem;
};

static struct json *read_value(struct reader *r);

static struct json *refuse(struct reader *r, const char *problem)
{
    if (!r->problem) {
        r->problem = problem;
    }
    return NULL;
}

static void skip_space(struct reader *r)
{
    while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\r' || *r->at == '\t')) {
        r->at++;
    }
}

static bool at_char(struct reader *r, char c)
{
    return r->at < r->end && *r->at == c;
}

static bool read_hex4(struct reader *r, uint32_t *out)
{
    if (r->end - r->at < 4) {
        return false;
    }
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(r->at[i]);
        if (digit < 0) {
            return false;
        }
        value = value << 4 | (uint32_t)digit;
    }
    r->at += 4;
    *out = value;
    return true;
}

/* After "\u"; lone surrogates have no UTF-8 form and are refused. */
static bool read_unicode_escape(struct reader *r, uint32_t *out)
{
    uint32_t code;
    if (!read_hex4(r, &code)) {
        return false;
    }
    if (code >= 0xDC00 && code <= 0xDFFF) {
        return false;
    }
    if (code >= 0xD800 && code <= 0xDBFF) {
        uint32_t low;
        if (r->end - r->at < 6 || r->at[0] != '\\' || r->at[1] != 'u') {
            return false;
        }
        r->at += 2;
        if (!read_hex4(r, &low) || low < 0xDC00 || low > 0xDFFF) {
            return false;
        }
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    }
    *out = code;
    return true;
}

static bool read_escape(struct reader *r, char **to)
{
    static const char means[256] = {
        ['"'] = '"', ['\\'] = '\\', ['/'] = '/', ['b'] = '\b', ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t'};
    if (r->at >= r->end) {
        return false;
    }
    char c = *r->at++;
    if (c == 'u') {
        uint32_t code;
        if (!read_unicode_escape(r, &code) || code == 0) {
            return false; /* a zero byte cannot be stored as text by every engine */
        }
        *to += utf8_put(code, *to);
        return true;
    }
    char meaning = means[(unsigned char)c];
    *(*to)++ = meaning;
    return meaning != '\0';
}

/* Where the string ends, or the text: no decoded string is longer than that. */
static const char *find_close(struct reader *r)
{
    const char *at = json_skip_plain(r->at, r->end);
    while (r->end - at >= 2 && *at != '"') {
        at = json_skip_plain(at + (*at == '\\' ? 2 : 1), r->end);
    }
    return at;
}

/* From `first` on; the reader stands at the first backslash. Leaves it where no escape and no plain text follows. */
static bool decode_string(struct reader *r, const char *first, struct slice *out)
{
    char *text = arena_bytes(r->arena, (size_t)(find_close(r) - first) + 1);
    char *to = text;
    for (;;) {
        memcpy(to, first, (size_t)(r->at - first));
        to += r->at - first;
        if (!at_char(r, '\\')) {
            break;
        }
        r->at++;
        if (!read_escape(r, &to)) {
            return false;
        }
        first = r->at;
        r->at = json_skip_plain(r->at, r->end);
    }
    *out = slice_from(text, (size_t)(to - text));
    return true;
}

/* At the opening quote; leaves the reader behind the closing one. */
static bool read_string(struct reader *r, struct slice *out)
{
    const char *first = ++r->at;
    r->at = json_skip_plain(first, r->end);
    *out = slice_from(first, (size_t)(r->at - first));
    if (at_char(r, '\\') && !decode_string(r, first, out)) {
        refuse(r, "a string holds a bad escape, or \\u0000, which is not accepted");
        return false;
    }
    if (!at_char(r, '"')) {
        refuse(r, "a string is not closed or holds a control character");
        return false;
    }
    r->at++;
    return true;
}

static bool skip_digits(struct reader *r)
{
    const char *first = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        r->at++;
    }
    return r->at > first;
}

static bool read_number(struct reader *r)
{
    if (at_char(r, '-')) {
        r->at++;
    }
    if (at_char(r, '0')) {
        r->at++;
    } else if (!skip_digits(r)) {
        return false;
    }
    if (at_char(r, '.')) {
        r->at++;
        if (!skip_digits(r)) {
            return false;
        }
    }
    if (at_char(r, 'e') || at_char(r, 'E')) {
        r->at++;
        if (at_char(r, '+') || at_char(r, '-')) {
            r->at++;
        }
        return skip_digits(r);
    }
    return true;
}

static bool read_word(struct reader *r, const char *word)
{
    size_t len = strlen(word);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, word, len) != 0) {
        return false;
    }
    r->at += len;
    return true;
}

static struct json *new_value(struct reader *r, enum json_kind kind)
{
    struct json *value = arena_alloc(r->arena, sizeof *value);
    value->kind = kind;
    return value;
}

static struct json *close_value(struct reader *r, struct json *value, const char *first)
{
    value->raw = slice_from(first, (size_t)(r->at - first));
    return value;
}

static bool has_duplicate_key(struct reader *r, struct json *object)
{
    if (object->count > JSON_UNINDEXED_MAX) {
        object->index = json_index_members(r->arena, object);
        return json_index_repeated(object->index) != NULL;
    }
    for (const struct json *a = object->child; a; a = a->next) {
        for (const struct json *b = a->next; b; b = b->next) {
            if (slice_eq(a->key, b->key)) {
                return true;
            }
        }
    }
    return false;
}

static struct json *read_member(struct reader *r)
{
    struct slice key;
    skip_space(r);
    if (!at_char(r, '"')) {
        return refuse(r, "a member must begin with a quoted name");
    }
    if (!read_string(r, &key)) {
        return NULL;
    }
    skip_space(r);
    if (!at_char(r, ':')) {
        return refuse(r, "a colon must follow a member's name");
    }
    r->at++;
    struct json *value = read_value(r);
    if (value) {
        value->key = key;
    }
    return value;
}

/* Elements of an array or members of an object, up to and with the closing mark. */
static struct json *read_list(struct reader *r, enum json_kind kind, char close,
                              struct json *(*read_one)(struct reader *))
{
    const char *first = r->at++;
    struct json *list = new_value(r, kind);
    struct json **link = &list->child;
    if (++r->depth > JSON_DEPTH_MAX) {
        return refuse(r, "it is nested too deeply");
    }
    skip_space(r);
    while (!at_char(r, close)) {
        if (list->count > 0) {
            if (!at_char(r, ',')) {
                return refuse(r, kind == JSON_ARRAY ? "a comma or ] is missing" : "a comma or } is missing");
            }
            r->at++;
        }
        struct json *one = r->values_left-- > 0 ? read_one(r) : refuse(r, "it holds too many values");
        if (!one) {
            return NULL;
        }
        *link = one;
        link = &one->next;
        list->count++;
        skip_space(r);
    }
    budget_spend(list->count);
    r->at++;
    r->depth--;
    return close_value(r, list, first);
}

static struct json *read_value(struct reader *r)
{
    skip_space(r);
    const char *first = r->at;
    if (first >= r->end) {
        return refuse(r, "the text ends too early");
    }
    struct json *value = NULL;
    switch (*first) {
    case '{':
        value = read_list(r, JSON_OBJECT, '}', read_member);
        if (value && has_duplicate_key(r, value)) {
            return refuse(r, "an object names a member twice");
        }
        return value;
    case '[':
        return read_list(r, JSON_ARRAY, ']', read_value);
    case '"':
        value = new_value(r, JSON_STRING);
        return read_string(r, &value->text) ? close_value(r, value, first) : NULL;
    case 't':
        return read_word(r, "true") ? close_value(r, new_value(r, JSON_TRUE), first) : refuse(r, "unknown word");
    case 'f':
        return read_word(r, "false") ? close_value(r, new_value(r, JSON_FALSE), first) : refuse(r, "unknown word");
    case 'n':
        return read_word(r, "null") ? close_value(r, new_value(r, JSON_NULL), first) : refuse(r, "unknown word");
    default:
        return read_number(r) ? close_value(r, new_value(r, JSON_NUMBER), first) : refuse(r, "a value is expected");
    }
}

enum status json_parse(struct arena *arena, struct slice text, const struct json **out, struct failure *failure)
{
    return json_parse_within(arena, text, SIZE_MAX, out, failure);
}

enum status json_parse_within(struct arena *arena, struct slice text, size_t values_max, const struct json **out,
                              struct failure *failure)
{
    text = slice_present(text) ? text : SLICE("");
    budget_spend_bytes(text.len);
    struct reader r = {
        .arena = arena, .start = text.ptr, .at = text.ptr, .end = text.ptr + text.len, .values_left = values_max};
    if (!slice_is_utf8(text)) {
        return failure_set(failure, STATUS_INVALID, "invalid_json", "The text is not valid UTF-8.");
    }
    struct json *value = read_value(&r);
    if (value) {
        skip_space(&r);
        if (r.at < r.end) {
            value = refuse(&r, "something follows the value");
        }
    }
    if (!value) {
        return failure_set(failure, STATUS_INVALID, "invalid_json", "The text is not valid JSON: %s (at byte %zu).",
                           r.problem, (size_t)(r.at - r.start));
    }
    *out = value;
    return STATUS_OK;
}
