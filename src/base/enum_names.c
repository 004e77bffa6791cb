#include "base/enum_names.h"

#include <stdio.h>

int enum_names_find(struct enum_names words, struct slice name)
{
    for (int i = 0; i < words.count; i++) {
        if (slice_is(name, words.names[i])) {
            return i;
        }
    }
    return -1;
}

void enum_names_list(struct enum_names words, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < words.count && used < room; i++) {
        int len = snprintf(out + used, room - used, "%s%s", i ? ", " : "", words.names[i]);
        used += len > 0 ? (size_t)len : 0;
    }
}
