#include "base/words.h"

#include <stdio.h>

int words_find(struct words words, struct slice name)
{
    for (int i = 0; i < words.count; i++) {
        if (slice_is(name, words.names[i])) {
            return i;
        }
    }
    return -1;
}

void words_list(struct words words, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (int i = 0; i < words.count && used < room; i++) {
        int len = snprintf(out + used, room - used, "%s%s", i ? ", " : "", words.names[i]);
        used += len > 0 ? (size_t)len : 0;
    }
}
