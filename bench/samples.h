// Latencies in microseconds, kept whole and sorted at the end: exact percentiles, no work in the measured loop.
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

struct samples {
    uint32_t *us; // owned
    size_t count;
    size_t capacity;
};

void samples_add(struct samples *samples, uint64_t elapsed_ns);
// Sorts; 0 when empty. `share` is 0.5 for the median.
uint32_t samples_percentile_us(struct samples *samples, double share);
void samples_release(struct samples *samples);

#endif
