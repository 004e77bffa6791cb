#include "store/postgres/hosts.h"

#include <libpq-fe.h>
#include <stdlib.h>
#include <string.h>

static const char *value_of(const PQconninfoOption *options, const char *key)
{
    for (; options && options->keyword; options++) {
        if (strcmp(options->keyword, key) == 0) {
            return options->val && *options->val ? options->val : NULL;
        }
    }
    return NULL;
}

static size_t elements(const char *list)
{
    size_t count = list != NULL;
    for (; list && *list; list++) {
        count += *list == ',';
    }
    return count;
}

/* NULL where the list has none. A list of one stands for all. */
static const char *element(struct arena *arena, const char *list, size_t index)
{
    size_t count = elements(list);
    if (count > 1 && index >= count) {
        return NULL;
    }
    for (size_t skip = count > 1 ? index : 0; skip > 0; skip--) {
        list = strchr(list, ',') + 1;
    }
    size_t len = list ? strcspn(list, ",") : 0;
    return len ? arena_format(arena, "%.*s", (int)len, list).ptr : NULL;
}

static void hosts_split(struct hosts *hosts, const PQconninfoOption *options)
{
    const char *names = value_of(options, "host"), *addresses = value_of(options, "hostaddr");
    const char *ports = value_of(options, "port");
    size_t count = elements(names) > elements(addresses) ? elements(names) : elements(addresses);
    if (count < 2) {
        return;
    }
    hosts->count = count;
    hosts->each = arena_array(&hosts->texts, count, sizeof *hosts->each);
    for (size_t i = 0; i < count; i++) {
        hosts->each[i] = (struct host){
            .name = element(&hosts->texts, names, i),
            .address = element(&hosts->texts, addresses, i),
            .port = element(&hosts->texts, ports, i),
        };
    }
}

void hosts_init(struct hosts *hosts, const char *url)
{
    *hosts = (struct hosts){.count = 1};
    hosts->each = arena_array(&hosts->texts, 1, sizeof *hosts->each);
    hosts->each[0] = (struct host){0};
    PQconninfoOption *options = PQconninfoParse(url, NULL);
    hosts_split(hosts, options);
    PQconninfoFree(options);
}

void hosts_release(struct hosts *hosts)
{
    arena_release(&hosts->texts);
    *hosts = (struct hosts){0};
}
