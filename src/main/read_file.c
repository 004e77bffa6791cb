#include "main/read_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum status read_file(const char *path, size_t bytes_max, struct buffer *out, struct failure *failure)
{
    FILE *file = fopen(path, "re");
    char piece[4096];
    size_t count = 0;
    while (file && out->len <= bytes_max && (count = fread(piece, 1, sizeof piece, file)) > 0) {
        buffer_add(out, slice_from(piece, count));
    }
    bool failed = !file || ferror(file);
    int code = errno;
    if (file) {
        fclose(file);
    }
    if (failed) {
        return failure_set(failure, STATUS_INVALID, "bad_file", "%s can't be read: %s", path, strerror(code));
    }
    if (out->len > bytes_max) {
        return failure_set(failure, STATUS_INVALID, "bad_file", "%s has more than %zu bytes", path, bytes_max);
    }
    return STATUS_OK;
}
