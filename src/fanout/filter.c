#include "fanout/filter.h"

#include "base/arena.h"

struct filter *filter_new(const struct viewer_options *options)
{
    size_t count = options->type_count;
    if (count == 0 && !slice_present(options->thread_id)) {
        return NULL;
    }
    size_t text_bytes = options->thread_id.len;
    for (size_t i = 0; i < count; i++) {
        text_bytes += options->types[i].len;
    }
    struct filter *filter = memory_alloc(sizeof *filter + count * sizeof(struct slice) + text_bytes);
    char *at = (char *)&filter->types[count];
    filter->type_count = count;
    filter->thread_id = slice_place(options->thread_id, &at);
    for (size_t i = 0; i < count; i++) {
        filter->types[i] = slice_place(options->types[i], &at);
    }
    return filter;
}

static bool type_matches(struct slice pattern, struct slice type)
{
    if (pattern.len >= 2 && memcmp(pattern.ptr + pattern.len - 2, ".*", 2) == 0) {
        return slice_starts(type, slice_from(pattern.ptr, pattern.len - 1));
    }
    return slice_eq(pattern, type);
}

bool filter_passes_delta(const struct filter *filter, struct slice thread_id)
{
    return !filter || !slice_present(filter->thread_id) || slice_eq(filter->thread_id, thread_id);
}

bool filter_passes_event(const struct filter *filter, struct slice type, struct slice thread_id)
{
    if (!filter_passes_delta(filter, thread_id)) {
        return false;
    }
    bool passes = !filter || filter->type_count == 0;
    for (size_t i = 0; !passes && i < filter->type_count; i++) {
        passes = type_matches(filter->types[i], type);
    }
    return passes;
}
