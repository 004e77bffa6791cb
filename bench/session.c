// What several modes share: sessions, sets of connections, and what the server's processes have used.
#include "load.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct connection *connections_open(const struct options *options, int count)
{
    struct connection *connections = calloc((size_t)count, sizeof *connections);
    if (!connections) {
        die("out of memory");
    }
    for (int i = 0; i < count; i++) {
        connection_open(&connections[i], &options->target, i);
    }
    return connections;
}

void connections_close(struct connection *connections, int count)
{
    for (int i = 0; i < count; i++) {
        connection_close(&connections[i]);
    }
    free(connections);
}

void session_create(struct connection *connection, const struct options *options, const char *status, char out_id[129])
{
    struct text body = {0};
    text_print(&body, "{\"type\":\"agent\",\"agent\":\"bench\",\"status\":\"%s\"}", status);
    request_build(&connection->request, &options->target, "POST", "/api/sessions", "", &body);
    text_release(&body);
    connection_call(connection);
    connection_expect_success(connection, "create a session");
    if (!json_find_string(connection_body(connection), "id", out_id, 129)) {
        die("no id in the new session: %s", connection_body(connection));
    }
}

double server_cpu_s(const struct options *options)
{
    double ticks = 0;
    for (int i = 0; i < options->pid_count; i++) {
        char path[64];
        unsigned long user = 0;
        unsigned long system = 0;
        snprintf(path, sizeof path, "/proc/%d/stat", options->pids[i]);
        FILE *file = fopen(path, "re");
        // The name in parentheses may hold blanks, so the fields are counted from the last parenthesis of a short name.
        if (!file ||
            fscanf(file, "%*d (%*[^)]) %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2) {
            die("cannot read %s", path);
        }
        fclose(file);
        ticks += (double)(user + system);
    }
    return ticks / (double)sysconf(_SC_CLK_TCK);
}

double server_queued_s(const struct options *options)
{
    double total_s = 0;
    for (int i = 0; i < options->pid_count; i++) {
        char pattern[64];
        glob_t found = {0};
        snprintf(pattern, sizeof pattern, "/proc/%d/task/*/schedstat", options->pids[i]);
        if (glob(pattern, 0, NULL, &found) != 0) {
            die("cannot read %s", pattern);
        }
        for (size_t thread = 0; thread < found.gl_pathc; thread++) {
            unsigned long long queued_ns = 0;
            FILE *file = fopen(found.gl_pathv[thread], "re");
            if (file && fscanf(file, "%*u %llu", &queued_ns) == 1) {
                total_s += (double)queued_ns / 1e9;
            }
            if (file) {
                fclose(file);
            }
        }
        globfree(&found);
    }
    return total_s;
}

long server_rss_kb(const struct options *options)
{
    long total_kb = 0;
    for (int i = 0; i < options->pid_count; i++) {
        char path[64];
        char line[256];
        snprintf(path, sizeof path, "/proc/%d/status", options->pids[i]);
        FILE *file = fopen(path, "re");
        if (!file) {
            die("cannot read %s", path);
        }
        while (fgets(line, sizeof line, file)) {
            if (strncmp(line, "VmRSS:", 6) == 0) {
                total_kb += strtol(line + 6, NULL, 10);
            }
        }
        fclose(file);
    }
    return total_kb;
}
