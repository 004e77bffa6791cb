#include "cli/yaml_file.h"

#include <errno.h>
#include <stdio.h>

#include "base/buffer.h"
#include "wire/yaml.h"

static enum status read_all(const char *path, struct buffer *out, struct failure *failure)
{
    char piece[4096];
    size_t count;
    bool from_input = strcmp(path, "-") == 0;
    FILE *file = from_input ? stdin : fopen(path, "re");
    while (file && out->len <= YAML_BYTES_MAX && (count = fread(piece, 1, sizeof piece, file)) > 0) {
        buffer_add(out, slice_from(piece, count));
    }
    bool failed = !file || ferror(file);
    int code = errno;
    if (file && !from_input) {
        fclose(file);
    }
    return failed ? failure_set(failure, STATUS_INVALID, "bad_file", "%s can't be read: %s", path, strerror(code))
                  : STATUS_OK;
}

enum status yaml_file_read(struct arena *arena, const char *path, struct slice *out, struct failure *failure)
{
    struct buffer bytes = {0};
    struct failure reason;
    struct yaml yaml;
    enum status status = read_all(path, &bytes, failure);
    struct slice text = arena_copy(arena, buffer_slice(&bytes));
    buffer_release(&bytes);
    if (status == STATUS_OK && yaml_parse(arena, text, &yaml, &reason) != STATUS_OK) {
        status = failure_set(failure, STATUS_INVALID, "bad_file", "%s: %s", path, reason.detail);
    }
    if (status == STATUS_OK) {
        *out = yaml.text;
    }
    return status;
}
