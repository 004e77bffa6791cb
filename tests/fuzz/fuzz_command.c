/* Whatever a line is: a certain one hides nothing that stands behind it, and reads the same inside another shell. */
#include "base/arena.h"
#include "domain/command.h"
#include "fuzz.h"

static struct command_reading read_line(struct arena *arena, struct slice line)
{
    struct json command = {.kind = JSON_STRING, .key = SLICE("command"), .text = line};
    struct json call = {.kind = JSON_OBJECT, .child = &command, .count = 1};
    struct command_reading reading;
    CHECK(command_read_call(arena, &call, &reading));
    CHECK(reading.count > 0 && reading.count <= COMMAND_FORMS_MAX);
    return reading;
}

static bool has_form(const struct command_reading *reading, struct slice text, bool is_plain)
{
    for (size_t i = 0; i < reading->count; i++) {
        if (slice_eq(reading->forms[i].text, text) && (reading->forms[i].is_plain || !is_plain)) {
            return true;
        }
    }
    return false;
}

static void check_bytes(struct slice line)
{
    for (size_t i = 0; i < line.len; i++) {
        CHECK((line.ptr[i] >= ' ' && line.ptr[i] < 127) || line.ptr[i] == '\n' || line.ptr[i] == '\t');
    }
}

/* No quote, comment or document of it swallows the next command. */
static void check_what_follows(struct arena *arena, struct slice line, const struct command_reading *alone)
{
    struct command_reading both = read_line(arena, arena_format(arena, "%.*s\necho after", SLICE_ARG(line)));
    CHECK(has_form(&both, SLICE("echo after"), true) || both.count == COMMAND_FORMS_MAX);
    CHECK(both.is_certain || both.count == COMMAND_FORMS_MAX);
    for (size_t i = 0; i < alone->count; i++) {
        CHECK(has_form(&both, alone->forms[i].text, alone->forms[i].is_plain));
    }
}

static void check_nested(struct arena *arena, struct slice line, const struct command_reading *alone)
{
    struct command_reading nested = read_line(arena, arena_format(arena, "sh -c '%.*s'", SLICE_ARG(line)));
    for (size_t i = 0; i < alone->count && nested.is_certain; i++) {
        CHECK(has_form(&nested, alone->forms[i].text, false));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct slice line = slice_from(data, size);
    struct command_reading reading = read_line(&arena, line);
    if (reading.is_certain && size < 65536) {
        check_bytes(line);
        check_what_follows(&arena, line, &reading);
        if (!memchr(line.ptr, '\'', line.len)) {
            check_nested(&arena, line, &reading);
        }
    }
    arena_release(&arena);
    return 0;
}
