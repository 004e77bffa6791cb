#include "world.h"

#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../store/sim_disk.h"
#include "../unit/service/stage.h"
#include "service/agent/agent.h"
#include "service/core/viewer_rights.h"
#include "talker.h"

static const struct db_options database = {
    .engine = DB_SQLITE, .path = "db", .vfs = "sim", .cache_kib = 1024, .checkpoint_pages = 120, .prepare_late = true};

void world_must(enum status status, const struct failure *failure, const char *doing)
{
    if (status != STATUS_OK) {
        fprintf(stderr, "%s: %s: %s\n", doing, failure->code, failure->detail);
        _exit(1);
    }
}

/* --- time --- */

static int64_t world_time(struct clock *clock)
{
    return ((struct world *)clock)->now_ms;
}

void world_wait(struct world *world, int64_t ms)
{
    world->now_ms += ms;
}

/* --- what it is made of --- */

static void set_up(struct world *world)
{
    world->clock = (struct clock){.wall_ms = world_time, .steady_ms = world_time};
    world->service = stage_service(&world->clock, &world->ids);
    world->service.limits.sessions.per_user_max = 100;
    world->service.limits.claim.attempts_max = 100;
    world->service.limits.ask.pending_max = 10;
    world->service.limits.ask.rules_max = 10;
    world->service.limits.ask.role = ACCESS_COLLABORATOR;
    world->service.limits.retention.idempotency_ms = 24 * 3600 * 1000;
}

static void open_database(struct world *world)
{
    struct failure failure = {0};
    world_must(db_open(&database, &world->db, &failure), &failure, "the database does not open");
}

struct call world_look(struct world *world, struct arena *arena)
{
    return (struct call){
        .service = &world->service,
        .db = world->db,
        .arena = arena,
        .who = &world->who,
        .now_ms = world->now_ms,
        .steady_ms = world->now_ms,
    };
}

/* --- the first life --- */

static void make_session(struct call *call, const char *policy)
{
    bool created;
    const struct json *definition = NULL;
    struct agent_row row;
    struct session_access entry;
    struct slice text =
        arena_format(call->arena, "{\"id\":\"%s\",\"driver\":\"demo\",\"resume\":\"%s\"}", policy, policy);
    struct session_input input = {
        .id = slice_of(policy), .type = SLICE("agent"), .agent = slice_of(policy), .attempt = 1, .ttl_ms = -1};
    world_must(json_parse(call->arena, text, &definition, &call->failure), &call->failure, "an agent");
    world_must(agent_push(call, definition, &row, &created), &call->failure, "an agent");
    world_must(session_create(call, &input, &entry, &created), &call->failure, "a session");
}

void world_make(struct world *world)
{
    struct transaction transaction;
    struct failure failure = {0};
    struct publication *publication = NULL;
    *world = (struct world){.now_ms = 1700000000000};
    if (sodium_init() < 0) {
        abort();
    }
    disk_reset(1);
    id_source_init_seeded(&world->ids, 7);
    set_up(world);
    open_database(world);
    transaction_init(&transaction, &world->service, world->db);
    struct call call = world_look(world, &world->arena);
    call.transaction = &transaction;
    world_must(transaction_begin(&transaction, &failure), &failure, "the first life");
    world_must(stage_owner(&call, &world->arena, &world->who), &call.failure, "a first owner");
    for (int i = 0; i < RESUME_COUNT; i++) {
        make_session(&call, resume_policy_enum.names[i]);
    }
    world_must(transaction_commit(&transaction, &publication, &failure), &failure, "the first life");
    publication_unref(publication);
    transaction_release(&transaction);
}

void world_reopen(struct world *world, const struct world *former)
{
    *world = (struct world){.now_ms = former->now_ms + 1, .ids = former->ids, .who = former->who};
    set_up(world);
    open_database(world);
}

/* --- running --- */

static bool take_read(void *owner, struct read_job *job)
{
    struct world *world = owner;
    job->work.next = NULL;
    *world->reads_end = &job->work;
    world->reads_end = &job->work.next;
    return true;
}

static void hear(void *owner, const struct publication *publication)
{
    struct world *world = owner;
    turn_host_on_commit(world->turns, publication);
}

static void save_partial(void *owner, int64_t tenant_key, int64_t session_key, const struct partial *partial)
{
    struct world *world = owner;
    writer_save_partial(world->writer, tenant_key, session_key, partial);
}

void world_run(struct world *world)
{
    struct fanout_options fanout = {.clock = &world->clock,
                                    .rights = &service_viewer_rights,
                                    .heartbeat_ms = 3600000,
                                    .partial_flush_ms = 3600000, /* of the loop's own time, which is not the world's */
                                    .viewers_max = 1,
                                    .page_events = 10,
                                    .owner = world,
                                    .submit_read = take_read,
                                    .save_partial = save_partial};
    world->reads_end = &world->reads;
    world->loop = loop_new(0);
    world->fanout = fanout_new(&fanout, &world->loop, 1);
    world->writer = writer_new(&(struct writer_options){.service = &world->service,
                                                        .db = world->db,
                                                        .fanout = world->fanout,
                                                        .group_max = 64,
                                                        .queue_max = 100,
                                                        .on_commit = hear,
                                                        .on_commit_owner = world});
    world->turns = turn_host_new(&(struct turn_host_options){.service = &world->service,
                                                             .writer = world->writer,
                                                             .fanout = world->fanout,
                                                             .loop = world->loop,
                                                             .read_owner = world,
                                                             .submit_read = take_read,
                                                             .drivers = {[DRIVER_DEMO] = &talker},
                                                             .limits.max = 8,
                                                             .limits.interrupt_ms = 5000,
                                                             .limits.history_events_max = 200,
                                                             .limits.said_bytes_max = 65536,
                                                             .limits.media_bytes_max = 65536});
    turn_host_start(world->turns);
}

static bool run_reads(struct world *world)
{
    bool any = world->reads;
    while (world->reads) {
        struct read_job *job = (struct read_job *)world->reads;
        world->reads = job->work.next;
        if (!world->reads) {
            world->reads_end = &world->reads;
        }
        job->run(job, world->db);
    }
    return any;
}

bool world_round(struct world *world)
{
    struct writer_stats before, after;
    writer_figures_read(world->writer, &before);
    writer_step(world->writer);
    uv_run(loop_uv(world->loop), UV_RUN_NOWAIT);
    bool read = run_reads(world);
    writer_figures_read(world->writer, &after);
    return read || after.jobs != before.jobs || after.groups != before.groups || after.queue_length > 0;
}
