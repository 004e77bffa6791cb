#include "main/tool_options.h"

void tool_options(const struct options *options, struct tool_settings *out)
{
    *out = (struct tool_settings){
        .result_bytes_max = (size_t)options->tool_result_bytes_max,
        .result_lines_max = (size_t)options->tool_result_lines_max,
        .read_bytes_max = (size_t)options->tool_read_bytes_max,
        .write_bytes_max = (size_t)options->tool_write_bytes_max,
        .list_entries_max = (size_t)options->tool_list_entries_max,
        .search_files_max = (size_t)options->tool_search_files_max,
        .search_matches_max = (size_t)options->tool_search_matches_max,
        .search_ms_max = options->tool_search_ms_max,
        .command_bytes_max = (size_t)options->tool_command_bytes_max,
        .command_ms_max = options->tool_command_ms_max,
        .http_bytes_max = (size_t)options->tool_http_bytes_max,
        .http_ms_max = options->tool_http_ms_max,
        .allows_full_scope = options->tool_full_scope,
        .data_dir = options->data,
        .open_hosts = (const char *const *)options->tool_http_open.items,
        .open_host_count = options->tool_http_open.count,
    };
}
