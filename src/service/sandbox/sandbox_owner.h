/* Which of the servers of one database has the files of a session's sandbox (PostgreSQL; decision 44). A local sandbox
 * belongs to the node that made it until it is stopped, or asleep with a snapshot that every node reaches. The others
 * leave the session alone while that node lives; when it is lost, whoever comes first takes over what can be restored.
 * Writer thread. Private to the files of the runtime host. */
#ifndef SERVICE_SANDBOX_OWNER_H
#define SERVICE_SANDBOX_OWNER_H

#include "domain/agent.h"
#include "service/core/transaction.h"

struct host_place {
    enum { HOST_HERE, HOST_NOWHERE, HOST_ELSEWHERE, HOST_LOST } at;
    bool counts;       /* false: it belongs to no node, and is always here */
    struct slice node; /* whose it is, or was */
};

MUST_CHECK enum status sandbox_owner_find(struct call *call, const struct session *session, const struct agent *agent,
                                          struct host_place *out);
/* The node is lost: says so in the log (runtime.lost), unless the session sleeps and can be woken here. Afterwards it
 * is nobody's. */
MUST_CHECK enum status sandbox_owner_take_over(struct call *call, struct loaded_session *loaded,
                                               const struct host_place *place, bool snapshot_kept);
/* It is this node's from now on (`needed`), or nobody's. */
MUST_CHECK enum status sandbox_owner_keep(struct call *call, const struct session *session,
                                          const struct host_place *place, bool needed);

#endif
