/* Collects the bytes of files that no session refers to any more (store/blob/blob.h): at the start, and again and
 * again. */
#ifndef SERVICE_BLOBS_H
#define SERVICE_BLOBS_H

#include "loop/loop.h"
#include "service/core/writer.h"

struct blobs_options {
    const struct service *service;
    struct writer *writer;
    struct loop *loop; /* of its timer */
    void *read_owner;
    bool (*submit_read)(void *owner, struct read_job *job);
    struct blobs_limits limits;
};

struct blobs;

struct blobs *blobs_new(const struct blobs_options *options);
/* The loop runs, or will. */
void blobs_start(struct blobs *blobs);
/* Waits until nothing of it is left in the loop, the readers and the writer, which must still run. Nothing when it was
 * not started, or is NULL. */
void blobs_stop(struct blobs *blobs);
void blobs_free(struct blobs *blobs);

#endif
