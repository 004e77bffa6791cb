/* Snapshots of live sandboxes, for gateway tools. */
#ifndef SERVICE_GATEWAY_SNAPSHOT_H
#define SERVICE_GATEWAY_SNAPSHOT_H

#include "service/gateway/gateway.h"
#include "service/sandbox/runtime_host.h"

/* The caller's memory, for as long as the server runs. */
struct gateway_snapshots {
    struct runtime_host *runtimes;
    struct sandboxes *sandboxes;
    struct loop *loop; /* of the runtimes */
};

/* For gateway_options.snapshot, with a struct gateway_snapshots as owner. Any thread. */
void gateway_snapshot_take(void *owner, int64_t tenant_key, int64_t session_key, struct gateway_done done);
/* Writer. What was taken ({"snapshot","bytes"}) is the session's: it can be restored from it. */
MUST_CHECK enum status gateway_snapshot_keep(struct call *call, struct loaded_session *loaded,
                                             const struct json *snapshot);

#endif
