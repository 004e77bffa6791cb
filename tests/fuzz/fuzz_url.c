/* What is decoded can be encoded and decoded again; queries, paths and whole URLs only ever yield clean text. */
#include "wire/url.h"
#include "fuzz.h"

static bool is_clean(struct slice s)
{
    return slice_is_utf8(s) && (s.len == 0 || !memchr(s.ptr, '\0', s.len));
}

static void check_decode(struct arena *arena, struct slice text)
{
    struct slice decoded, again;
    struct buffer encoded = {0};
    if (url_decode(arena, text, &decoded)) {
        CHECK(is_clean(decoded) && decoded.len <= text.len);
        url_encode(&encoded, decoded);
        CHECK(url_decode(arena, buffer_slice(&encoded), &again) && slice_eq(decoded, again));
    }
    buffer_release(&encoded);
}

static void check_query(struct arena *arena, struct slice text)
{
    struct url_query query, again;
    struct buffer encoded = {0};
    if (url_query_parse(arena, text, &query, NULL) == STATUS_OK) {
        for (size_t i = 0; i < query.count; i++) {
            form_add(&encoded, query.params[i].name, query.params[i].value);
        }
        CHECK(url_query_parse(arena, buffer_slice(&encoded), &again, NULL) == STATUS_OK && again.count == query.count);
        for (size_t i = 0; i < query.count; i++) {
            CHECK(slice_eq(query.params[i].name, again.params[i].name));
            CHECK(slice_eq(query.params[i].value, again.params[i].value));
            CHECK(is_clean(query.params[i].name) && is_clean(query.params[i].value));
        }
    }
    buffer_release(&encoded);
}

static void check_path(struct arena *arena, struct slice text)
{
    struct path path, again;
    struct buffer encoded = {0};
    if (path_split(arena, text, &path, NULL) == STATUS_OK) {
        for (size_t i = 0; i < path.count; i++) {
            CHECK(is_clean(path.segments[i]) && !slice_is(path.segments[i], ".."));
            buffer_add_byte(&encoded, '/');
            url_encode(&encoded, path.segments[i]);
        }
        if (path.count > 0 && encoded.len > 1) {
            CHECK(path_split(arena, buffer_slice(&encoded), &again, NULL) == STATUS_OK && again.count == path.count);
        }
    }
    buffer_release(&encoded);
}

static void check_url(struct arena *arena, struct slice text)
{
    struct url url, again;
    struct slice shown = url_without_password(arena, text);
    if (url_parse(arena, text, &url, NULL) != STATUS_OK) {
        return;
    }
    CHECK(url.path.len > 0 && url.port >= 0 && url.port <= 65535);
    CHECK(url.scheme == URL_UNIX || url.host.len > 0);
    if (slice_present(url.password) && !memmem(text.ptr, text.len, "password=", 9)) {
        CHECK(url_parse(arena, shown, &again, NULL) == STATUS_OK && slice_is(again.password, "***"));
        CHECK(slice_eq(url.host, again.host) && slice_eq(url.user, again.user));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct slice text = slice_from(data, size);
    check_decode(&arena, text);
    check_query(&arena, text);
    check_path(&arena, text);
    check_url(&arena, text);
    arena_release(&arena);
    return 0;
}
