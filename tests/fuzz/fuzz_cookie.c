/* Every cookie that is read could have been set by us, and is read again from what we set. */
#include "base/arena.h"
#include "wire/cookie.h"
#include "fuzz.h"

static void check_cookie(const struct cookie *cookie)
{
    struct arena arena = {0};
    struct buffer header = {0};
    struct set_cookie set = {.name = arena_copy(&arena, cookie->name).ptr, .value = cookie->value, .max_age_s = -1};
    CHECK(set_cookie_write(&header, &set));
    CHECK(!memchr(header.ptr, '\n', header.len) && !memchr(header.ptr, '\r', header.len));
    CHECK(slice_eq(cookie_find(buffer_slice(&header), set.name), cookie->value));
    buffer_release(&header);
    arena_release(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice header = slice_from(data, size);
    struct slice rest = header;
    struct cookie cookie;
    while (cookie_next(&rest, &cookie)) {
        CHECK(cookie.name.len > 0);
        check_cookie(&cookie);
    }
    struct buffer out = {0};
    struct set_cookie set = {.name = "name", .value = header};
    if (set_cookie_write(&out, &set)) {
        CHECK(slice_eq(cookie_find(buffer_slice(&out), "name"), header));
    } else {
        CHECK(out.len == 0);
    }
    buffer_release(&out);
    return 0;
}
