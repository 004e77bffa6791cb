// A load generator for one thread and as little CPU as possible: it runs on the cores of the server it measures.
#include "load.h"

#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct mode {
    const char *name;
    const char *summary;
    void (*run)(const struct options *options);
};

static const struct mode MODES[] = {
    {"append", "closed loop of appends: --connections --sessions --events (per request) --seconds [--resp]",
     mode_append},
    {"sse", "one event at a time to --connections readers: --events --pid", mode_sse},
    {"replay", "reads a session of --events whole: --count --connections [--json]", mode_replay},
    {"claims", "claim, heartbeat, settle over --count pending sessions: --connections [--chain] [--silent]",
     mode_claims},
    {"list", "latency of the first page: --query --count", mode_list},
    {"relay", "pieces of --events each to --connections viewers at --rate per second: --provider --subscribe",
     mode_relay},
    {"fill", "creates --count sessions of --events each: --connections", mode_fill},
};

enum kind { KIND_NUMBER, KIND_TEXT, KIND_FLAG, KIND_PID };

struct setting {
    const char *name;
    enum kind kind;
    size_t offset; // in struct options
};

static const struct setting SETTINGS[] = {
    {"host", KIND_TEXT, offsetof(struct options, target.host)},
    {"port", KIND_NUMBER, offsetof(struct options, target.port)},
    {"token", KIND_TEXT, offsetof(struct options, target.token)},
    {"resp", KIND_FLAG, offsetof(struct options, target.is_resp)},
    {"connections", KIND_NUMBER, offsetof(struct options, connections)},
    {"sessions", KIND_NUMBER, offsetof(struct options, sessions)},
    {"events", KIND_NUMBER, offsetof(struct options, events)},
    {"count", KIND_NUMBER, offsetof(struct options, count)},
    {"bytes", KIND_NUMBER, offsetof(struct options, bytes)},
    {"seconds", KIND_NUMBER, offsetof(struct options, seconds)},
    {"rate", KIND_NUMBER, offsetof(struct options, rate)},
    {"provider", KIND_NUMBER, offsetof(struct options, provider)},
    {"json", KIND_FLAG, offsetof(struct options, json)},
    {"chain", KIND_FLAG, offsetof(struct options, chain)},
    {"silent", KIND_FLAG, offsetof(struct options, silent)},
    {"session", KIND_TEXT, offsetof(struct options, session)},
    {"query", KIND_TEXT, offsetof(struct options, query)},
    {"subscribe", KIND_TEXT, offsetof(struct options, subscribe)},
    {"publish", KIND_TEXT, offsetof(struct options, publish)},
    {"pid", KIND_PID, 0},
};

_Noreturn static void usage(void)
{
    fputs("usage: load MODE --port PORT [options]\n", stderr);
    for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
        fprintf(stderr, "  %-8s %s\n", MODES[i].name, MODES[i].summary);
    }
    fputs("every mode: --host 127.0.0.1 --token TOKEN --bytes 300\n", stderr);
    exit(2);
}

static int positive(const char *name, const char *text)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (value <= 0 || value > 1000000000 || *end) {
        die("--%s %s: a number from 1 to 1000000000 is needed", name, text);
    }
    return (int)value;
}

static void add_pid(struct options *options, const char *text)
{
    if (options->pid_count == MAX_PIDS) {
        die("at most %d --pid", MAX_PIDS);
    }
    options->pids[options->pid_count++] = positive("pid", text);
}

static void set_option(struct options *options, const struct setting *setting, const char *value)
{
    void *field = (char *)options + setting->offset;
    switch (setting->kind) {
    case KIND_NUMBER:
        *(int *)field = positive(setting->name, value);
        break;
    case KIND_TEXT:
        *(const char **)field = value;
        break;
    case KIND_FLAG:
        *(int *)field = 1;
        break;
    case KIND_PID:
        add_pid(options, value);
        break;
    }
}

static const struct setting *find_setting(const char *argument)
{
    if (strncmp(argument, "--", 2) != 0) {
        usage();
    }
    for (size_t i = 0; i < sizeof SETTINGS / sizeof *SETTINGS; i++) {
        if (strcmp(argument + 2, SETTINGS[i].name) == 0) {
            return &SETTINGS[i];
        }
    }
    die("%s: no such option", argument);
}

static void read_options(struct options *options, int argc, char **argv)
{
    for (int i = 2; i < argc; i++) {
        const struct setting *setting = find_setting(argv[i]);
        if (setting->kind != KIND_FLAG && i + 1 == argc) {
            die("%s: a value is needed", argv[i]);
        }
        set_option(options, setting, setting->kind == KIND_FLAG ? NULL : argv[++i]);
    }
    if (options->target.port == 0) {
        die("--port is needed");
    }
    if (options->bytes < 120) {
        die("--bytes: at least 120");
    }
}

int main(int argc, char **argv)
{
    struct options options = {.target = {.host = "127.0.0.1"},
                              .connections = 1,
                              .sessions = 1,
                              .events = 1,
                              .count = 1,
                              .bytes = 300,
                              .seconds = 5,
                              .rate = 1,
                              .query = ""};
    if (argc < 2) {
        usage();
    }
    signal(SIGPIPE, SIG_IGN);
    for (size_t i = 0; i < sizeof MODES / sizeof *MODES; i++) {
        if (strcmp(argv[1], MODES[i].name) != 0) {
            continue;
        }
        read_options(&options, argc, argv);
        MODES[i].run(&options);
        return 0;
    }
    usage();
}
