/* The input is an array of a schema and a value. A checked schema decides, the same way with and without a failure to
 * fill; what does not fit says why. */
#include "wire/json_schema.h"
#include "fuzz.h"

static void check(const struct json *schema, const struct json *value)
{
    struct failure failure = {0};
    if (json_schema_check(schema, &failure) != STATUS_OK) {
        CHECK(failure.status == STATUS_INVALID && failure.detail[0]);
        return;
    }
    enum status status = json_schema_validate(schema, value, &failure);
    CHECK(status == json_schema_validate(schema, value, NULL));
    CHECK(status == STATUS_OK || (failure.status == STATUS_INVALID && failure.detail[0]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    const struct json *pair;
    if (json_parse(&arena, slice_from(data, size), &pair, NULL) == STATUS_OK && json_is(pair, JSON_ARRAY) &&
        pair->count == 2) {
        check(pair->child, pair->child->next);
    }
    arena_release(&arena);
    return 0;
}
