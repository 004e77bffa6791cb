/* What the reader accepts can be written again, read again, and is then the same. */
#include "base/json.h"
#include "fuzz.h"

static void write_value(struct json_out *out, const struct json *value)
{
    switch (value->kind) {
    case JSON_NULL:
        json_null(out);
        break;
    case JSON_FALSE:
    case JSON_TRUE:
        json_bool(out, value->kind == JSON_TRUE);
        break;
    case JSON_NUMBER:
        json_raw(out, value->raw);
        break;
    case JSON_STRING:
        json_text(out, value->text);
        break;
    case JSON_ARRAY:
        json_begin_array(out);
        for (const struct json *child = value->child; child; child = child->next) {
            write_value(out, child);
        }
        json_end_array(out);
        break;
    case JSON_OBJECT:
        json_begin_object(out);
        for (const struct json *child = value->child; child; child = child->next) {
            json_key_slice(out, child->key);
            write_value(out, child);
        }
        json_end_object(out);
        break;
    }
}

/* Slices lie inside the text, children inside their parent, and the counts are right. */
static void check_tree(const struct json *value, struct slice around)
{
    CHECK(value->raw.ptr >= around.ptr && value->raw.ptr + value->raw.len <= around.ptr + around.len);
    CHECK(value->kind != JSON_STRING || slice_is_utf8(value->text));
    uint32_t count = 0;
    for (const struct json *child = value->child; child; child = child->next) {
        check_tree(child, value->raw);
        count++;
    }
    CHECK(count == value->count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct buffer buffer = {0};
    struct json_out out = json_out_to(&buffer);
    struct slice text = slice_from(data, size);
    const struct json *value = NULL, *again = NULL;
    struct failure failure = {0};
    enum status status = json_parse(&arena, text, &value, &failure);
    CHECK((status == STATUS_OK) == (value != NULL));
    CHECK(status == STATUS_OK || (status == STATUS_INVALID && failure.detail[0]));
    if (value) {
        check_tree(value, text);
        write_value(&out, value);
        CHECK(json_parse(&arena, buffer_slice(&buffer), &again, NULL) == STATUS_OK);
        CHECK(json_equal(value, again) && json_equal(again, value));
        CHECK(json_parse(&arena, value->raw, &again, NULL) == STATUS_OK);
        CHECK(json_equal(value, again));
    }
    buffer_release(&buffer);
    arena_release(&arena);
    return 0;
}
