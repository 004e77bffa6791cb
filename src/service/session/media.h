/* Media inside what is said: images, sound and files that came as base64 become files of the session
 * (store/blob/blob.h), and what is stored names them by handle:
 *
 *     {"type": "image", "media_type": "image/png", "data": "iVBORw0…"}
 *  →  {"type": "image", "media_type": "image/png", "handle": "blob:…", "bytes": 1234, "url": "/api/sessions/…"}
 *
 * Understood: data URLs and base64 beside a media type, at any depth, as AI SDK, Anthropic, OpenAI and Agent Client
 * Protocol write them. */
#ifndef SERVICE_MEDIA_H
#define SERVICE_MEDIA_H

#include "service/core/service.h"
#include "store/blob/blob.h"

/* What was taken out; content lives in the arena it was taken out with. Zeroes are an empty list. */
struct media_list {
    struct blob *blobs;
    size_t count, room;
};

/* False: there is nothing to take out. Cheap. */
bool media_is_likely(struct slice json);
/* `*json` with handles in place of media, in the arena; untouched when there are none. TOO_LARGE for a medium above
 * service->limits.file.bytes_max. */
MUST_CHECK enum status media_extract(const struct service *service, struct arena *arena, struct slice session_id,
                                     struct slice *json, struct media_list *list, struct failure *failure);
/* INVALID `contains_secret` when a client's medium holds the value of a secret, encoded as it came. */
MUST_CHECK enum status media_check_secrets(struct call *call, const struct media_list *list);
/* Reader or writer: the bytes are on disk. */
MUST_CHECK enum status media_write(struct call *call, const struct session *session, const struct media_list *list);
/* Reader or writer: LIMITED (`too_many_files`) when the session would have too many with `count` more. */
MUST_CHECK enum status media_check_room(struct call *call, const struct session *session, size_t count);
/* Writer: the session refers to all of the list. LIMITED (`too_many_files`) when it has too many then. */
MUST_CHECK enum status media_attach(struct call *call, const struct session *session, const struct media_list *list);
/* The same without a limit: what agents make. */
MUST_CHECK enum status media_put(struct call *call, const struct session *session, const struct media_list *list);
/* Writer: take out and keep, for what did not come prepared. */
MUST_CHECK enum status media_extract_and_attach(struct call *call, const struct session *session, struct slice *json);
/* Calls `each` with every handle in the JSON. */
void media_each_handle(struct arena *arena, struct slice json, void (*each)(void *owner, struct slice handle),
                       void *owner);

/* The path under which the file is served. */
struct slice media_url(struct arena *arena, struct slice session_id, const struct hash *sha256);

#endif
