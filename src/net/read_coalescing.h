/* When the sockets of many streams are looked at together instead of each at once, as network cards moderate their
 * interrupts: only while the loop would otherwise wake for every single piece, and then for a fixed, short time. Knows
 * no clock and no descriptor: it is told the time. */
#ifndef NET_READ_COALESCING_H
#define NET_READ_COALESCING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct read_coalescing {
    int64_t gather_us;     /* how long pieces wait for each other; 0 = never */
    int64_t since_us;      /* begin of the span that is counted */
    int64_t looks, pieces; /* looks: those that met any */
    bool is_on;
};

void read_coalescing_init(struct read_coalescing *moderation, int64_t gather_us);
/* After every look at the sockets: how many had something to read. Whether to gather before the next look. */
bool read_coalescing_note(struct read_coalescing *moderation, int64_t now_us, size_t pieces);

#endif
