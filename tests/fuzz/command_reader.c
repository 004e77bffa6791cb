/* Lines on standard input, each ended by a zero byte, as they are read: one JSON object per line. For the tests that
 * hold the reading against real shells. */
#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "domain/command.h"

static void show(const struct command_reading *reading)
{
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_bool(&out, "is_certain", reading->is_certain);
    json_key(&out, "forms");
    json_begin_array(&out);
    for (size_t i = 0; i < reading->count; i++) {
        json_text(&out, reading->forms[i].text);
    }
    json_end_array(&out);
    json_end_object(&out);
    printf("%.*s\n", SLICE_ARG(buffer_slice(&text)));
    buffer_release(&text);
}

int main(void)
{
    struct arena arena = {0};
    char *line = NULL;
    size_t room = 0;
    for (ssize_t len = getdelim(&line, &room, 0, stdin); len > 0; len = getdelim(&line, &room, 0, stdin)) {
        struct json command = {
            .kind = JSON_STRING, .key = SLICE("command"), .text = slice_from(line, (size_t)len - (line[len - 1] == 0))};
        struct json call = {.kind = JSON_OBJECT, .child = &command, .count = 1};
        struct command_reading reading;
        if (command_read_call(&arena, &call, &reading)) {
            show(&reading);
        }
        arena_reset(&arena);
    }
    free(line);
    arena_release(&arena);
    return 0;
}
