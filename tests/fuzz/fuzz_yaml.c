/* Whatever is accepted is sound JSON, every value has a line of the text, and every refusal names one. */
#include "wire/yaml.h"
#include "fuzz.h"

static unsigned count_lines(struct slice text)
{
    unsigned lines = 2; /* an empty value at the end stands on the line after the last */
    for (size_t i = 0; i < text.len; i++) {
        /* NEL, LS and PS break lines in YAML too: counting the last byte of each is enough for a bound. */
        unsigned char c = (unsigned char)text.ptr[i];
        lines += c == '\n' || c == '\r' || c == 0x85 || c == 0xA8 || c == 0xA9;
    }
    return lines;
}

static void check_lines(const struct yaml *yaml, const struct json *value, unsigned lines)
{
    unsigned line = yaml_line(yaml, value);
    CHECK(line >= 1 && line <= lines);
    for (const struct json *child = value->child; child; child = child->next) {
        CHECK(yaml_line(yaml, child) >= line);
        check_lines(yaml, child, lines);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct slice text = slice_from(data, size);
    struct yaml yaml = {0};
    struct failure failure = {0};
    enum status status = yaml_parse(&arena, text, &yaml, &failure);
    if (status == STATUS_OK) {
        check_lines(&yaml, yaml.root, count_lines(text));
    } else {
        CHECK(status == STATUS_TOO_LARGE || slice_starts(slice_of(failure.detail), SLICE("Line ")));
        CHECK(!yaml.root);
    }
    arena_release(&arena);
    return 0;
}
