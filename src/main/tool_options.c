#include "main/tool_options.h"

void tool_options(const struct options *options, struct tool_settings *out)
{
    *out = options->tools;
    out->data_dir = options->data;
    out->open_hosts = (const char *const *)options->tool_http_open.items;
    out->open_host_count = options->tool_http_open.count;
}
