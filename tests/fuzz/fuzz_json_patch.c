/* The input is an array of a document and a patch. What is applied gives sound JSON, twice the same, within the limits,
 * and leaves the document as it was. */
#include "wire/json_patch.h"
#include "fuzz.h"

static const struct json_patch_limits limits = {.ops_max = 50, .result_bytes_max = 2000};

static enum status apply(struct arena *arena, const struct json *document, const struct json *ops, struct buffer *out)
{
    struct json_patch patch;
    struct failure failure = {0};
    enum status status = json_patch_parse(arena, ops, &limits, &patch, &failure);
    if (status == STATUS_OK) {
        status = json_patch_apply(arena, document, &patch, &limits, out, &failure);
    }
    CHECK(status == STATUS_OK || (failure.status == status && failure.detail[0]));
    return status;
}

static void check(struct arena *arena, const struct json *document, const struct json *ops)
{
    struct buffer once = {0}, twice = {0};
    const struct json *result, *same;
    enum status status = apply(arena, document, ops, &once);
    CHECK(apply(arena, document, ops, &twice) == status);
    CHECK(slice_eq(buffer_slice(&once), buffer_slice(&twice)));
    CHECK(json_parse(arena, document->raw, &same, NULL) == STATUS_OK && json_equal(document, same));
    if (status == STATUS_OK) {
        CHECK(json_parse(arena, buffer_slice(&once), &result, NULL) == STATUS_OK);
    } else {
        CHECK(once.len == 0);
    }
    buffer_release(&once);
    buffer_release(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    const struct json *pair;
    if (json_parse(&arena, slice_from(data, size), &pair, NULL) == STATUS_OK && json_is(pair, JSON_ARRAY) &&
        pair->count == 2) {
        check(&arena, pair->child, pair->child->next);
    }
    arena_release(&arena);
    return 0;
}
