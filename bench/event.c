#include "event.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HEAD[] = "{\"type\":\"bench.event\",\"role\":\"agent\",\"content\":[{\"type\":\"text\",\"text\":\"";
static const char TAIL[] = "\"}]}";
static const char PROSE[] =
    "The quick brown fox reads the log once more and finds that every event is where it was left ";

void mark_write(char out[MARK_SIZE + 1], long number)
{
    snprintf(out, MARK_SIZE + 1, "mark-%08lu.", (unsigned long)number % 100000000u);
}

const char *mark_find(const char *bytes, size_t size, long *out_number)
{
    const char *start = memmem(bytes, size, "mark-", 5);
    if (!start || (size_t)(start - bytes) + MARK_SIZE > size) {
        return NULL;
    }
    *out_number = strtol(start + 5, NULL, 10);
    return start + MARK_SIZE;
}

const char *marks_expect(const char *bytes, size_t size, long *next_mark)
{
    const char *end = bytes + size;
    long number;
    for (const char *at; (at = mark_find(bytes, (size_t)(end - bytes), &number)); bytes = at) {
        if (number != *next_mark) {
            die("event %ld came where %ld was next", number, *next_mark);
        }
        ++*next_mark;
    }
    return bytes;
}

void event_append(struct text *out, size_t size, long mark)
{
    char name[MARK_SIZE + 1];
    mark_write(name, mark);
    size_t end = out->size + size - strlen(TAIL);
    text_append(out, HEAD, strlen(HEAD));
    text_append(out, name, MARK_SIZE);
    while (out->size < end) {
        size_t room = end - out->size;
        text_append(out, PROSE, room < strlen(PROSE) ? room : strlen(PROSE));
    }
    text_append(out, TAIL, strlen(TAIL));
}

void event_append_batch(struct text *out, size_t size, long count, long first_mark)
{
    text_print(out, "{\"events\":[");
    for (long i = 0; i < count; i++) {
        if (i > 0) {
            text_append(out, ",", 1);
        }
        event_append(out, size, first_mark + i);
    }
    text_print(out, "]}");
}
