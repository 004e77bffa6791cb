#include "samples.h"
#include "client.h"

#include <stdlib.h>

void samples_add(struct samples *samples, uint64_t elapsed_ns)
{
    if (samples->count == samples->capacity) {
        samples->capacity = samples->capacity ? samples->capacity * 2 : 65536;
        samples->us = realloc(samples->us, samples->capacity * sizeof *samples->us);
        if (!samples->us) {
            die("out of memory");
        }
    }
    samples->us[samples->count++] = (uint32_t)(elapsed_ns / 1000);
}

static int compare_us(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left;
    uint32_t b = *(const uint32_t *)right;
    return (a > b) - (a < b);
}

uint32_t samples_percentile_us(struct samples *samples, double share)
{
    if (samples->count == 0) {
        return 0;
    }
    qsort(samples->us, samples->count, sizeof *samples->us, compare_us);
    size_t index = (size_t)(share * (double)samples->count);
    return samples->us[index < samples->count ? index : samples->count - 1];
}

void samples_release(struct samples *samples)
{
    free(samples->us);
    *samples = (struct samples){0};
}
