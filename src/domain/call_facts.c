#include "base/json.h"
#include "domain/call_subject.h"

void call_facts_write(struct buffer *to, const struct call_facts *facts)
{
    struct json_out out = json_out_to(to);
    json_begin_object(&out);
    json_maybe_text(&out, "tool", facts->tool.len > 0 ? facts->tool : (struct slice){0});
    json_put_bool(&out, "is_cut", facts->is_cut);
    json_put_bool(&out, "is_uncertain", facts->is_uncertain);
    json_put_bool(&out, "runs_command", facts->runs_command);
    json_put_bool(&out, "shows_more", facts->shows_more);
    json_maybe_text(&out, "directory", facts->place.directory);
    json_maybe_text(&out, "inside", facts->place.inside);
    json_maybe_text(&out, "outside", facts->place.outside);
    json_key(&out, "paths");
    json_begin_array(&out);
    for (size_t i = 0; i < facts->path_count; i++) {
        json_text(&out, facts->paths[i]);
    }
    json_end_array(&out);
    json_end_object(&out);
}

static void read_paths(struct arena *arena, const struct json *list, struct call_facts *out)
{
    struct slice *paths = arena_array(arena, list ? list->count + 1 : 1, sizeof *paths);
    out->paths = paths;
    for (const struct json *item = list ? list->child : NULL; item; item = item->next) {
        paths[out->path_count++] = item->text;
    }
}

void call_facts_read(struct arena *arena, struct slice fields, struct slice tool, struct slice arguments,
                     struct call_facts *out)
{
    const struct json *kept = NULL;
    *out = (struct call_facts){.tool = tool, .arguments = arguments};
    if (!slice_present(fields)) {
        return;
    }
    if (json_parse(arena, fields, &kept, NULL) != STATUS_OK) {
        out->is_cut = true;
        return;
    }
    out->tool = json_text_of(kept, "tool");
    json_as_bool(json_get(kept, "is_cut"), &out->is_cut);
    json_as_bool(json_get(kept, "is_uncertain"), &out->is_uncertain);
    json_as_bool(json_get(kept, "runs_command"), &out->runs_command);
    json_as_bool(json_get(kept, "shows_more"), &out->shows_more);
    out->place = (struct call_place){.directory = json_text_of(kept, "directory"),
                                     .inside = json_text_of(kept, "inside"),
                                     .outside = json_text_of(kept, "outside")};
    read_paths(arena, json_get_value(kept, "paths"), out);
}
