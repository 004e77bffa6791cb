#include "service/session/media.h"
#include "service/turn/turn_run.h"
#include "wire/base64.h"

/* The files that a conversation refers to, read before its turn starts: the loop of the turn reads none. */

enum { MEDIA_PER_TURN_MAX = 100 };

struct gathering {
    struct call *call;
    struct turn *turn;
    struct turn_media *media;
    size_t count;
    size_t bytes_left;
    enum status status;
};

static bool is_known(const struct gathering *gathering, struct slice handle)
{
    for (size_t i = 0; i < gathering->count; i++) {
        if (slice_eq(gathering->media[i].handle, handle)) {
            return true;
        }
    }
    return false;
}

static struct slice encode(struct arena *arena, struct slice content)
{
    char *text = arena_bytes(arena, BASE64_ROOM(content.len) + 1);
    return slice_from(text, base64_encode_to(text, content, BASE64_STANDARD));
}

/* A file that is damaged is told as one that is not there: the conversation goes on without it. */
static enum status read_one(struct gathering *gathering, const struct hash *sha256, struct turn_media *out)
{
    struct call *call = gathering->call;
    struct blob blob;
    const struct turn_input *input = &gathering->turn->input;
    struct arena *arena = &gathering->turn->arena;
    enum status status =
        store_blob_get(call->db, input->tenant_key, input->session_key, sha256, arena, &blob, &call->failure);
    if (status != STATUS_OK) {
        return status == STATUS_NOT_FOUND ? STATUS_OK : status;
    }
    out->media_type = blob.media_type;
    out->name = blob.name;
    out->bytes = blob.bytes;
    if ((uint64_t)blob.bytes > gathering->bytes_left) {
        return STATUS_OK;
    }
    status = store_blob_read(call->db, &call->service->blobs, input->tenant_key, input->session_key, sha256,
                             call->arena, &blob, &call->failure);
    if (status == STATUS_OK) {
        out->data = encode(arena, blob.content);
        gathering->bytes_left -= blob.content.len;
    }
    return STATUS_OK;
}

static void gather(void *owner, struct slice handle)
{
    struct gathering *gathering = owner;
    struct hash sha256;
    if (gathering->status != STATUS_OK || gathering->count == MEDIA_PER_TURN_MAX || is_known(gathering, handle) ||
        !blob_handle_parse(handle, &sha256)) {
        return;
    }
    struct turn_media *media = &gathering->media[gathering->count++];
    *media = (struct turn_media){.handle = arena_copy(&gathering->turn->arena, handle)};
    gathering->status = read_one(gathering, &sha256, media);
}

/* Newest first: what does not fit is the oldest. */
static void gather_events(struct gathering *gathering, const struct event *events, size_t count)
{
    for (size_t i = count; i > 0; i--) {
        media_each_handle(gathering->call->arena, events[i - 1].content, gather, gathering);
        media_each_handle(gathering->call->arena, events[i - 1].metadata, gather, gathering);
    }
}

enum status turn_read_media(struct call *call, struct turn *turn)
{
    struct turn_input *input = &turn->input;
    struct turn_media found[MEDIA_PER_TURN_MAX];
    struct gathering gathering = {.call = call,
                                  .turn = turn,
                                  .media = found,
                                  .bytes_left = turn->host->options.limits.media_bytes_max,
                                  .status = STATUS_OK};
    gather_events(&gathering, input->since, input->since_count);
    gather_events(&gathering, input->message, input->message ? 1 : 0);
    gather_events(&gathering, input->history, input->history_count);
    if (gathering.count > 0) {
        struct turn_media *media = arena_array(&turn->arena, gathering.count, sizeof *media);
        memcpy(media, found, gathering.count * sizeof *media);
        input->media = media;
        input->media_count = gathering.count;
    }
    return gathering.status;
}
