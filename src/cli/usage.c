#include "cli/usage.h"

void usage_add(struct usage *usage, const struct json *numbers)
{
    usage->input_tokens += json_i64_of(numbers, "input_tokens");
    usage->output_tokens += json_i64_of(numbers, "output_tokens");
    usage->cost_microcents += json_i64_of(numbers, "cost_microcents");
    usage->turns++;
}

static void add_tokens(struct buffer *out, int64_t count)
{
    if (count < 10000) {
        buffer_format(out, "%lld", (long long)count);
    } else if (count < 1000000) {
        buffer_format(out, "%lld.%lldk", (long long)(count / 1000), (long long)(count % 1000 / 100));
    } else {
        buffer_format(out, "%lld.%lldM", (long long)(count / 1000000), (long long)(count % 1000000 / 100000));
    }
}

void usage_write(const struct usage *usage, struct buffer *out)
{
    add_tokens(out, usage->input_tokens);
    buffer_add(out, SLICE(" in, "));
    add_tokens(out, usage->output_tokens);
    buffer_add(out, SLICE(" out"));
    int64_t cost = usage->cost_microcents / 10000; /* hundredths of a cent */
    if (usage->cost_microcents) {
        buffer_format(out, ", $%lld.%04lld", (long long)(cost / 10000), (long long)(cost % 10000));
    }
}
