#include "runner/model/model_media.h"

#include "runner/model/model_context.h"
#include "wire/base64.h"

enum { TEXT_FILE_BYTES_MAX = 100 * 1024 };

bool media_is_part(const struct json *part)
{
    static const char *const types[] = {"image", "image_url", "picture", "file", "audio", "video", "document", NULL};
    struct slice type = json_text_of(part, "type");
    for (const char *const *one = types; *one; one++) {
        if (slice_is(type, *one)) {
            return true;
        }
    }
    return json_text_of(part, "handle").len > 0;
}

static bool is_one_of(struct slice text, const char *const *words)
{
    for (; *words; words++) {
        if (slice_is(text, *words)) {
            return true;
        }
    }
    return false;
}

/* What the vendors take. */
static bool is_image(struct slice media_type)
{
    static const char *const known[] = {"image/png", "image/jpeg", "image/gif", "image/webp", NULL};
    return is_one_of(media_type, known);
}

static bool is_text(struct slice media_type)
{
    static const char *const known[] = {"application/json", "application/xml",  "application/yaml",
                                        "application/toml", "application/x-sh", NULL};
    return slice_starts(media_type, SLICE("text/")) || is_one_of(media_type, known);
}

static struct model_block sentence(struct arena *arena, const char *what, const struct turn_media *media)
{
    struct slice name = media->name.len ? media->name : SLICE("without a name");
    struct slice type = media->media_type.len ? media->media_type : SLICE("of an unknown type");
    return (struct model_block){.kind = BLOCK_TEXT,
                                .text = arena_format(arena, "[%s: %.*s, %.*s, %lld bytes]", what, SLICE_ARG(name),
                                                     SLICE_ARG(type), (long long)media->bytes)};
}

static struct model_block text_file(struct arena *arena, const struct turn_media *media)
{
    struct slice text;
    struct buffer shown = {0};
    if (!base64_decode(arena, media->data, BASE64_STANDARD, &text) || !slice_is_utf8(text)) {
        return sentence(arena, "a file that is no text", media);
    }
    struct slice head = slice_utf8_prefix(text, TEXT_FILE_BYTES_MAX);
    buffer_format(&shown, "[the file %.*s%s]\n", SLICE_ARG(media->name), head.len < text.len ? ", its beginning" : "");
    context_fence(&shown, "attached-file", head);
    struct model_block block = {.kind = BLOCK_TEXT, .text = arena_copy(arena, buffer_slice(&shown))};
    buffer_release(&shown);
    return block;
}

static struct model_block by_handle(struct arena *arena, const struct turn_media *media)
{
    if (!slice_present(media->data)) {
        return sentence(arena, "a file that is not available", media);
    }
    if (is_image(media->media_type)) {
        return (struct model_block){.kind = BLOCK_IMAGE, .media_type = media->media_type, .data = media->data};
    }
    return is_text(media->media_type) ? text_file(arena, media)
                                      : sentence(arena, "a file of a type that this model can't be shown", media);
}

static const struct json *inner_of(const struct json *part)
{
    const struct json *source = json_get_value(part, "source"), *url = json_get_value(part, "image_url");
    return json_is(source, JSON_OBJECT) ? source : json_is(url, JSON_OBJECT) ? url : part;
}

struct model_block media_block(struct arena *arena, const struct turn_input *brief, const struct json *part)
{
    const struct json *inner = inner_of(part);
    struct slice handle = json_text_of(inner, "handle"), url = json_text_of(inner, "url");
    struct slice data = json_text_of(inner, "data"), media_type = json_text_of(inner, "media_type");
    const struct turn_media *media = handle.len ? turn_media_find(brief, handle) : NULL;
    if (media) {
        return by_handle(arena, media);
    }
    if (data.len && is_image(media_type)) {
        return (struct model_block){.kind = BLOCK_IMAGE, .media_type = media_type, .data = data};
    }
    bool may_be_image = slice_starts(json_text_of(part, "type"), SLICE("image")) || is_image(media_type);
    if (may_be_image && slice_starts(url, SLICE("https://"))) {
        return (struct model_block){.kind = BLOCK_IMAGE, .url = url};
    }
    if (slice_starts(url, SLICE("http"))) {
        return (struct model_block){.kind = BLOCK_TEXT,
                                    .text = arena_format(arena, "[a file at %.*s]", SLICE_ARG(url))};
    }
    return (struct model_block){.kind = BLOCK_TEXT,
                                .text = may_be_image ? SLICE("[an image that is not available]")
                                                     : SLICE("[a file that is not available]")};
}
