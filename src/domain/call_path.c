#include "domain/call_path.h"

#include "base/buffer.h"
#include "domain/agent_fields.h"

/* The parts of a path while it is walked; "" is the top. */
struct walk {
    struct buffer at; /* "/a/b" */
    const struct call_place *place;
    struct call_path *path;
};

static bool take_number_or_self(struct slice *rest)
{
    struct slice part, tail;
    slice_cut(*rest, '/', &part, &tail);
    bool is_number = part.len > 0;
    for (size_t i = 0; i < part.len; i++) {
        is_number = is_number && part.ptr[i] >= '0' && part.ptr[i] <= '9';
    }
    *rest = tail;
    return is_number || slice_is(part, "self") || slice_is(part, "thread-self");
}

/* "root" or "cwd" of "/proc/self/root", "/proc/7/task/7/cwd" and the like; absent for everything else. */
static struct slice proc_link(struct slice at)
{
    struct slice rest, none = {0};
    if (!slice_starts(at, SLICE("/proc/"))) {
        return none;
    }
    rest = slice_after(at, strlen("/proc/"));
    if (!take_number_or_self(&rest)) {
        return none;
    }
    if (slice_starts(rest, SLICE("task/"))) {
        rest = slice_after(rest, strlen("task/"));
        if (!take_number_or_self(&rest)) {
            return none;
        }
    }
    return slice_is(rest, "root") || slice_is(rest, "cwd") ? rest : none;
}

static void walk_up(struct walk *walk)
{
    walk->path->is_direct = false;
    while (walk->at.len > 0 && walk->at.ptr[--walk->at.len] != '/') {
    }
}

static void walk_part(struct walk *walk, struct slice part)
{
    if (part.len == 0 || slice_is(part, ".")) {
        return;
    }
    if (slice_is(part, "..")) {
        walk_up(walk);
        return;
    }
    buffer_add_byte(&walk->at, '/');
    buffer_add(&walk->at, part);
    struct slice link = proc_link(buffer_slice(&walk->at));
    if (slice_present(link)) {
        bool is_root = slice_is(link, "root");
        walk->at.len = 0;
        if (!is_root) {
            buffer_add(&walk->at, walk->place->directory);
        }
    }
}

static void walk_text(struct walk *walk, struct slice text)
{
    struct slice part, left = text;
    while (left.len > 0) {
        slice_cut(left, '/', &part, &left);
        walk_part(walk, part);
    }
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

static struct slice percent_decoded(struct arena *arena, struct slice text)
{
    char *to = arena_bytes(arena, text.len + 1);
    size_t len = 0;
    for (size_t i = 0; i < text.len; i++) {
        int high = text.ptr[i] == '%' && i + 2 < text.len ? hex_digit(text.ptr[i + 1]) : -1;
        int low = high >= 0 ? hex_digit(text.ptr[i + 2]) : -1;
        to[len++] = low >= 0 ? (char)(high * 16 + low) : text.ptr[i];
        i += low >= 0 ? 2 : 0;
    }
    return slice_from(to, len);
}

enum { SCHEME_BYTES = 5 };

bool call_path_is_url(struct slice text)
{
    return text.len >= SCHEME_BYTES && slice_eq_nocase(slice_from(text.ptr, SCHEME_BYTES), SLICE("file:"));
}

/* file:///a, file://host/a, file:/a */
static struct slice without_scheme(struct arena *arena, struct slice text)
{
    if (!call_path_is_url(text)) {
        return text;
    }
    struct slice rest = slice_after(text, SCHEME_BYTES), host;
    if (slice_starts(rest, SLICE("//"))) {
        slice_cut(slice_after(rest, 2), '/', &host, &rest);
        rest = arena_format(arena, "/%.*s", SLICE_ARG(rest));
    }
    return percent_decoded(arena, rest);
}

static bool can_be_path(struct slice text)
{
    return text.len > 0 && text.len <= CALL_PATH_BYTES_MAX && !memchr(text.ptr, 0, text.len);
}

/* What follows `top` in `path`, without the slash; absent when it does not lie there. */
static struct slice below(struct slice path, struct slice top)
{
    struct slice none = {0};
    while (top.len > 0 && top.ptr[top.len - 1] == '/') {
        top.len--;
    }
    if (!slice_present(top) || !slice_starts(path, top) || (path.len > top.len && path.ptr[top.len] != '/')) {
        return none;
    }
    return slice_after(path, top.len + 1);
}

static void spell(struct call_path *path, struct slice spelling)
{
    for (size_t i = 0; i < path->count; i++) {
        if (slice_eq(path->spellings[i], spelling)) {
            return;
        }
    }
    path->spellings[path->count++] = spelling;
}

static struct slice joined(struct arena *arena, struct slice top, struct slice rest)
{
    return arena_format(arena, "%.*s%s%.*s", SLICE_ARG(top), rest.len > 0 ? "/" : "", SLICE_ARG(rest));
}

/* The agent's own spelling comes first. */
static void spell_all(struct arena *arena, const struct call_place *place, struct slice whole, struct call_path *out)
{
    struct slice inside = below(whole, place->inside), outside = below(whole, place->outside);
    if (!slice_present(inside) && slice_present(outside) && slice_present(place->inside)) {
        spell(out, joined(arena, place->inside, outside));
    }
    spell(out, whole);
    if (slice_present(inside) && slice_present(place->outside)) {
        spell(out, joined(arena, place->outside, inside));
    }
    out->relative = slice_present(inside) ? inside : outside;
    if (slice_present(out->relative)) {
        out->relative = out->relative.len > 0 ? out->relative : SLICE(".");
        spell(out, out->relative);
    }
}

bool call_path_read(struct arena *arena, const struct call_place *place, struct slice text, struct call_path *out)
{
    struct slice plain = without_scheme(arena, text);
    if (!can_be_path(text) || !can_be_path(plain)) {
        return false;
    }
    *out = (struct call_path){.is_known = plain.ptr[0] != '~', .is_direct = true};
    struct walk walk = {.place = place, .path = out};
    bool is_relative = plain.ptr[0] != '/';
    if (is_relative) {
        walk_text(&walk, place->directory);
    }
    walk_text(&walk, plain);
    struct slice whole = arena_copy(arena, walk.at.len > 0 ? buffer_slice(&walk.at) : SLICE("/"));
    buffer_release(&walk.at);
    out->walked = is_relative ? arena_format(arena, "%.*s/%.*s", SLICE_ARG(place->directory), SLICE_ARG(plain)) : plain;
    bool is_open = is_relative && !slice_present(place->directory); /* nobody knows where it starts */
    out->is_known = out->is_known && !slice_starts(whole, SLICE("/proc/")) && !slice_starts(whole, SLICE("/dev/fd"));
    if (is_open) {
        out->relative = slice_after(whole, 1);
        spell(out, out->relative);
    } else {
        spell_all(arena, place, whole, out);
    }
    return true;
}

/* --- patterns --- */

struct slice call_path_clean_pattern(struct arena *arena, struct slice pattern)
{
    struct buffer text = {0};
    struct slice part, left = pattern;
    bool is_absolute = slice_starts(pattern, SLICE("/"));
    while (left.len > 0) {
        slice_cut(left, '/', &part, &left);
        if (part.len > 0 && !slice_is(part, ".")) {
            buffer_add(&text, text.len > 0 || is_absolute ? SLICE("/") : SLICE(""));
            buffer_add(&text, part);
        }
    }
    struct slice clean = arena_copy(arena, text.len > 0 ? buffer_slice(&text) : is_absolute ? SLICE("/") : SLICE("."));
    buffer_release(&text);
    return clean;
}

/* The pattern itself, the directory it is about ("a" for "a/" + "*"), or what lies below. */
static bool is_meant(struct slice pattern, struct slice spelling)
{
    char room[2 * CALL_PATH_BYTES_MAX + 3];
    if (agent_glob_matches_nocase(pattern, spelling)) {
        return true;
    }
    if (spelling.len + 1 > sizeof room || pattern.len + 2 > sizeof room) {
        return true;
    }
    memcpy(room, spelling.ptr, spelling.len);
    room[spelling.len] = '/';
    if (agent_glob_matches_nocase(pattern, slice_from(room, spelling.len + 1))) {
        return true;
    }
    memcpy(room, pattern.ptr, pattern.len);
    memcpy(room + pattern.len, "/*", 2);
    return agent_glob_matches_nocase(slice_from(room, pattern.len + 2), spelling);
}

bool call_path_may_match(struct slice pattern, const struct call_path *path)
{
    for (size_t i = 0; i < path->count; i++) {
        if (is_meant(pattern, path->spellings[i])) {
            return true;
        }
    }
    return false;
}

bool call_path_matches(struct slice pattern, const struct call_path *path)
{
    if (!path->is_known || !path->is_direct) {
        return false;
    }
    if (!slice_starts(pattern, SLICE("/"))) {
        return slice_present(path->relative) && agent_glob_matches(pattern, path->relative);
    }
    for (size_t i = 0; i < path->count; i++) {
        struct slice spelling = path->spellings[i];
        if (slice_starts(spelling, SLICE("/")) && agent_glob_matches(pattern, spelling)) {
            return true;
        }
    }
    return false;
}
