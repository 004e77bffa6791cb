#include "main/environment.h"

#include <stdio.h>

#include "base/log.h"
#include "cli/remote.h"
#include "main/options.h"

#define PREFIX "SOJOURN_"

/* Every row of these is a variable. */
static const struct option *const tables[] = {server_options, remote_option_table};

/* What else is read, or set by others for a service of this name: an orchestrator tells every process below it where
 * services are, as SOJOURN_SERVICE_HOST or SOJOURN_PORT_7070_TCP. */
static const struct known_name {
    struct slice name;
    bool begins; /* and whatever follows it */
} known_names[] = {
    {{"ACTIVE_FILE", 11}, false}, {{"GATEWAY_URL", 11}, false}, {{"GATEWAY_TOKEN", 13}, false},
    {{"SERVICE_", 8}, true},      {{"PORT_", 5}, true},         {{"PORT", 4}, false},
};
enum { TABLE_COUNT = 2, KNOWN_COUNT = sizeof known_names / sizeof *known_names, VARIABLES_MAX = 512, NAME_BYTES = 96 };

/* "log-level" of "LOG_LEVEL", as tables write it. */
static void option_name_of(struct slice variable, char *out, size_t room)
{
    snprintf(out, room, "%.*s", SLICE_ARG(variable));
    for (char *c = out; *c; c++) {
        *c = *c == '_' ? '-' : (char)(*c >= 'A' && *c <= 'Z' ? *c - 'A' + 'a' : *c);
    }
}

static bool is_row(struct slice variable)
{
    char name[NAME_BYTES], full[NAME_BYTES];
    bool found = false;
    option_name_of(variable, name, sizeof name);
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        const struct option *option = option_find(tables[i], slice_of(name));
        if (option) {
            option_environment_name(option, full, sizeof full);
            found = found || slice_is(variable, full + sizeof PREFIX - 1);
            option_environment_alias(option, full, sizeof full);
            found = found || slice_is(variable, full + sizeof PREFIX - 1);
        }
    }
    return found;
}

static bool is_known(struct slice variable)
{
    bool known = is_row(variable);
    for (size_t i = 0; i < KNOWN_COUNT; i++) {
        const struct known_name *one = &known_names[i];
        known = known || (one->begins ? slice_starts(variable, one->name) : slice_eq(variable, one->name));
    }
    return known;
}

/* The row that was probably meant; NULL when none is near. */
static const struct option *closest(struct slice variable)
{
    const char *names[VARIABLES_MAX];
    char name[NAME_BYTES];
    size_t count = 0;
    for (size_t i = 0; i < TABLE_COUNT; i++) {
        for (const struct option *option = tables[i]; option->name && count < VARIABLES_MAX; option++) {
            if (option->type != OPTION_SECTION) {
                names[count++] = option->name;
            }
        }
    }
    option_name_of(variable, name, sizeof name);
    const char *best = closest_name(slice_of(name), names, count);
    const struct option *of_server = best ? option_find(tables[0], slice_of(best)) : NULL;
    return of_server || !best ? of_server : option_find(tables[1], slice_of(best));
}

/* The name of a variable of ours that is set, means nothing, and what it should perhaps be called. */
static bool find_unknown(const char *assignment, struct slice *out_name, char *out_closest)
{
    struct slice name, value = {0};
    slice_cut(slice_of(assignment), '=', &name, &value);
    struct slice rest = slice_starts(name, SLICE(PREFIX)) ? slice_after(name, sizeof PREFIX - 1) : (struct slice){0};
    if (rest.len == 0 || value.len == 0 || is_known(rest)) {
        return false;
    }
    const struct option *meant = closest(rest);
    *out_name = name;
    out_closest[0] = '\0';
    if (meant) {
        option_environment_name(meant, out_closest, NAME_BYTES);
    }
    return true;
}

enum status environment_check(char *const *environment, struct failure *failure)
{
    struct slice name;
    char meant[NAME_BYTES];
    for (; *environment; environment++) {
        if (find_unknown(*environment, &name, meant)) {
            name = slice_utf8_prefix(name, 100);
            return failure_set(failure, STATUS_INVALID, "unknown_variable",
                               "no option is set by the variable %.*s%s%s; unset it, or see sojourn serve --help",
                               SLICE_ARG(name), meant[0] ? "; the closest is " : "", meant);
        }
    }
    return STATUS_OK;
}

void environment_warn(char *const *environment)
{
    struct slice name;
    char meant[NAME_BYTES];
    for (; *environment; environment++) {
        if (find_unknown(*environment, &name, meant)) {
            log_warn("unknown_variable", LOG_TEXT("variable", slice_utf8_prefix(name, 100)),
                     meant[0] ? LOG_TEXT("closest", slice_of(meant)) : (struct log_field){0});
        }
    }
}
