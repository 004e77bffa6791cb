/* Holds the JSON reader, JSON Patch and JSON Schema to their public suites. Cases come on standard input, see run.mjs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "wire/json_patch.h"
#include "wire/json_schema.h"

struct tally {
    int passed;
    int failed;
    int free_accepted; /* cases on which the standard leaves the choice */
    int free_refused;
    int on_purpose;
};

/* Valid JSON that the reader refuses by decision: names given twice mean different things to different readers, and a
 * zero byte cannot be stored as text by every engine. */
static const char *const refused_on_purpose[] = {
    "y_object_duplicated_key",
    "y_object_duplicated_key_and_value",
    "y_object_escaped_null_in_key",
    "y_string_null_escape",
};

static bool is_refused_on_purpose(const char *name)
{
    for (size_t i = 0; i < sizeof refused_on_purpose / sizeof refused_on_purpose[0]; i++) {
        if (strcmp(name, refused_on_purpose[i]) == 0) {
            return true;
        }
    }
    return false;
}

static void count(struct tally *tally, bool passed, const char *name, const char *what)
{
    if (passed) {
        tally->passed++;
    } else {
        tally->failed++;
        printf("FAIL %s: %s\n", name, what);
    }
}

static void check_json(struct arena *arena, const char *name, struct slice text, struct tally *tally)
{
    const struct json *value;
    struct failure failure;
    bool accepted = json_parse(arena, text, &value, &failure) == STATUS_OK;
    if (name[0] == 'i') {
        tally->free_accepted += accepted;
        tally->free_refused += !accepted;
        return;
    }
    if (is_refused_on_purpose(name)) {
        tally->on_purpose++;
        count(tally, !accepted, name, "it was accepted although it is refused on purpose");
        return;
    }
    count(tally, accepted == (name[0] == 'y'), name, accepted ? "it was accepted" : failure.detail);
}

static enum status patch_case(struct arena *arena, const struct json *json, struct buffer *out, struct failure *failure)
{
    const struct json_patch_limits limits = {.ops_max = 1000, .result_bytes_max = 1 << 20};
    struct json_patch patch;
    enum status status = json_patch_parse(arena, json_get(json, "patch"), &limits, &patch, failure);
    return status == STATUS_OK ? json_patch_apply(arena, json_get(json, "doc"), &patch, &limits, out, failure) : status;
}

static void check_patch(struct arena *arena, const char *name, struct slice text, struct tally *tally)
{
    const struct json *json, *result = NULL;
    struct failure failure = {0};
    struct buffer out = {0};
    if (json_parse(arena, text, &json, &failure) != STATUS_OK) {
        count(tally, false, name, failure.detail);
        return;
    }
    if (json_get(json, "disabled") && json_get(json, "error")) {
        return; /* about names given twice, which the reader refuses long before */
    }
    bool applied = patch_case(arena, json, &out, &failure) == STATUS_OK &&
                   json_parse(arena, buffer_slice(&out), &result, &failure) == STATUS_OK;
    const struct json *expected = json_get(json, "expected");
    if (json_get(json, "error")) {
        count(tally, !applied, name, "it was applied");
    } else if (!applied) {
        count(tally, false, name, failure.detail);
    } else {
        count(tally, !expected || json_equal(result, expected), name, "the result is another");
    }
    buffer_release(&out);
}

/* A schema with a word that is not offered must be refused, every other one understood. */
static void check_schema(struct arena *arena, const char *name, struct slice text, struct tally *tally)
{
    const struct json *json;
    struct failure failure = {0};
    if (json_parse(arena, text, &json, &failure) != STATUS_OK) {
        count(tally, false, name, failure.detail);
        return;
    }
    const struct json *schema = json_get(json, "schema");
    bool understood = json_schema_check(schema, &failure) == STATUS_OK;
    if (json_is(json_get(json, "refused"), JSON_TRUE)) {
        tally->on_purpose++;
        count(tally, !understood, name, "the schema was accepted although it holds a word that is not offered");
    } else if (!understood) {
        count(tally, false, name, failure.detail);
    } else {
        bool fits = json_schema_validate(schema, json_get(json, "data"), &failure) == STATUS_OK;
        count(tally, fits == json_is(json_get(json, "valid"), JSON_TRUE), name, fits ? "it fits" : failure.detail);
    }
}

static bool run_case(void (*check)(struct arena *, const char *, struct slice, struct tally *), struct tally *tally)
{
    char name[512];
    size_t len;
    if (scanf("%511[^\t]\t%zu", name, &len) != 2 || getchar() != '\n') {
        return false;
    }
    char *text = memory_alloc(len);
    if (fread(text, 1, len, stdin) != len) {
        exit(2);
    }
    struct arena arena = {0};
    check(&arena, name, slice_from(text, len), tally);
    arena_release(&arena);
    free(text);
    return true;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *suite;
        void (*check)(struct arena *arena, const char *name, struct slice text, struct tally *tally);
    } suites[] = {{"json", check_json}, {"patch", check_patch}, {"schema", check_schema}};
    struct tally tally = {0};
    for (size_t i = 0; argc > 1 && i < sizeof suites / sizeof suites[0]; i++) {
        while (strcmp(argv[1], suites[i].suite) == 0 && run_case(suites[i].check, &tally)) {
        }
    }
    printf("passed %d, failed %d, left to the reader: accepted %d, refused %d; refused on purpose %d\n", tally.passed,
           tally.failed, tally.free_accepted, tally.free_refused, tally.on_purpose);
    return tally.failed > 0 || tally.passed == 0;
}
