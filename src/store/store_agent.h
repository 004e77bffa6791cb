/* Agents, what they remember and when they look back: part of store/store.h, by which it is included. */
#ifndef STORE_STORE_AGENT_H
#define STORE_STORE_AGENT_H

#include "domain/introspection.h"
#include "domain/session.h"
#include "store/db.h"

/* --- agents --- */
enum agent_origin { AGENT_BUILT_IN = 0, AGENT_OF_FILE = 1, AGENT_OF_API = 2, AGENT_ORIGIN_COUNT };
/* One version of a definition. Never changed, but for the mark that it was removed. */
struct agent_row {
    int64_t tenant_key; /* 0 = of a file or built in: for all tenants */
    struct slice slug;
    int64_t version;
    struct slice definition; /* JSON, as agent_write writes it */
    enum agent_origin source;
    int64_t created_at_ms;
    struct slice created_by; /* actor, or absent */
    int64_t removed_at_ms;   /* 0 = new sessions may use it */
};
/* The next version of its slug; sets agent->version. Numbers of a tenant and of tenant 0 never meet, so that a session
 * finds its version by number. CONFLICT `agent_changed`: somebody else took the number. */
MUST_CHECK enum status store_agent_insert(struct db *db, struct agent_row *agent, struct failure *failure);
/* What a new session of the tenant gets: its own newest, else that of tenant 0; NOT_FOUND when none is left. */
MUST_CHECK enum status store_agent_newest(struct db *db, int64_t tenant_key, struct slice slug, struct arena *arena,
                                          struct agent_row *out, struct failure *failure);
/* Also when it was removed. */
MUST_CHECK enum status store_agent_by_version(struct db *db, int64_t tenant_key, struct slice slug, int64_t version,
                                              struct arena *arena, struct agent_row *out, struct failure *failure);
/* All versions below `before` (0 = from the newest), newest first. */
MUST_CHECK enum status store_agent_versions(struct db *db, int64_t tenant_key, struct slice slug, int64_t before,
                                            int64_t limit, struct arena *arena, struct agent_row **out,
                                            size_t *out_count, struct failure *failure);
/* The newest version of every agent the tenant has, by slug, those after `after` (absent = from the first). */
MUST_CHECK enum status store_agent_list(struct db *db, int64_t tenant_key, struct slice after, int64_t limit,
                                        struct arena *arena, struct agent_row **out, size_t *out_count,
                                        struct failure *failure);
/* Marks the tenant's own versions; false when there was nothing left to mark. */
MUST_CHECK enum status store_agent_remove(struct db *db, int64_t tenant_key, struct slice slug, int64_t now_ms,
                                          bool *out_removed, struct failure *failure);
/* --- looking back --- */
MUST_CHECK enum status store_introspection_put(struct db *db, const struct introspection *row, struct failure *failure);
MUST_CHECK enum status store_introspection_get(struct db *db, int64_t tenant_key, int64_t session_key,
                                               struct introspection *out, struct failure *failure);
/* Those that run, in all tenants. */
MUST_CHECK enum status store_introspection_running(struct db *db, int64_t limit, struct arena *arena,
                                                   struct introspection **out, size_t *out_count,
                                                   struct failure *failure);

/* --- memories of agents --- */
struct memory {
    int64_t tenant_key;
    struct slice agent, owner; /* owner of the sessions it comes from; empty = nobody */
    struct slice id;
    struct slice text;
    struct slice session_id; /* where it was written last */
    int64_t created_at_ms, updated_at_ms;
};
/* Inserts, or replaces text, session and time of the one with its id. */
MUST_CHECK enum status store_memory_put(struct db *db, const struct memory *memory, struct failure *failure);
MUST_CHECK enum status store_memory_get(struct db *db, int64_t tenant_key, struct slice agent, struct slice id,
                                        struct arena *arena, struct memory *out, struct failure *failure);
struct memory_search {
    int64_t tenant_key;
    struct slice agent, owner;
    bool of_all; /* of every owner */
    struct slice after;
    int64_t limit;
};
/* By id, which is the order in which they were added. */
MUST_CHECK enum status store_memory_list(struct db *db, const struct memory_search *search, struct arena *arena,
                                         struct memory **out, size_t *out_count, struct failure *failure);
MUST_CHECK enum status store_memory_count(struct db *db, int64_t tenant_key, struct slice agent, struct slice owner,
                                          int64_t *out, struct failure *failure);
MUST_CHECK enum status store_memory_delete(struct db *db, int64_t tenant_key, struct slice agent, struct slice id,
                                           struct failure *failure);

#endif
