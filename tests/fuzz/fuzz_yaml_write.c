/* Any JSON value, written as YAML, is read as the same value, and writing that gives the same bytes. */
#include "wire/yaml.h"
#include "wire/yaml_write.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct buffer first = {0}, second = {0};
    const struct json *value;
    struct yaml yaml;
    if (json_parse(&arena, slice_from(data, size), &value, NULL) == STATUS_OK) {
        yaml_write(&first, &arena, value);
        CHECK(yaml_parse(&arena, buffer_slice(&first), &yaml, NULL) == STATUS_OK || first.len > YAML_BYTES_MAX);
        if (first.len <= YAML_BYTES_MAX) {
            CHECK(json_equal(value, yaml.root));
            yaml_write(&second, &arena, yaml.root);
            CHECK(slice_eq(buffer_slice(&first), buffer_slice(&second)));
        }
    }
    buffer_release(&first);
    buffer_release(&second);
    arena_release(&arena);
    return 0;
}
