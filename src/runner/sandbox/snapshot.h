/* The tree of a sandbox as one compressed archive, named by the SHA-256 of its bytes and kept in a directory per
 * session: DIR/TENANT/SESSION/ID.tar.zst. Packing and unpacking are done by tar and zstd in processes of their own,
 * behind bubblewrap with nothing but the tree and the archive in sight, so that no archive can write elsewhere. */
#ifndef RUNNER_SNAPSHOT_H
#define RUNNER_SNAPSHOT_H

#include "base/status.h"
#include "runner/sandbox/sandbox.h"

enum { SNAPSHOT_ID_BYTES = 65 };

/* Borrowed during the call only. */
struct snapshot_request {
    const char *dir; /* of all snapshots; made when it is missing */
    int64_t tenant_key, session_key;
    const char *tree;  /* what is packed, or an empty directory to unpack into */
    const char *etc;   /* of bubble_write_etc; NULL = without protection */
    int64_t bytes_max; /* of the archive; unpacking: of one file in it; 0 = no limit */
    int64_t time_ms_max;
};

struct snapshot_result {
    enum status status;
    char id[SNAPSHOT_ID_BYTES];
    int64_t bytes; /* of the archive */
    struct failure failure;
};
struct snapshot_callback {
    void *owner;
    void (*tell)(void *owner, const struct snapshot_result *news); /* on the loop, later */
};

/* Loop thread. Durable when told; TOO_LARGE (`snapshot_too_large`) leaves nothing behind. */
void snapshot_save(struct loop *loop, const struct snapshot_request *order, struct snapshot_callback told);
/* Loop thread. `snapshot_missing` or `snapshot_corrupt`: the tree is then worthless. */
void snapshot_restore(struct loop *loop, const struct snapshot_request *order, struct slice id,
                      struct snapshot_callback told);
/* Any thread. Removes all but the newest `keep`, and what unfinished ones left; 0 = the session is gone. */
void snapshot_collect(const char *dir, int64_t tenant_key, int64_t session_key, size_t keep);
bool snapshot_exists(const char *dir, int64_t tenant_key, int64_t session_key, struct slice id);

#endif
