/* Three messages in every order of manners to an agent that the server runs, and the power goes at every sync of the
 * disk: before it, when what was not synced is lost or torn, and after it, when nobody was told yet.
 *
 * Each script is lived through once without a crash. At every point its process forks: the child cuts the power of its
 * copy of the disk, keeps nothing but what the person in front of it was told, opens the database anew, lives on to the
 * end and checks what was promised (witness.h). A crash leaves what is on the disk and what people know, and nobody is
 * told anything before its sync, so that these are all the points there are.
 *
 * mode_crash [script]: that one alone. SOJOURN_TEST_ROUNDS takes every script, not only what the parts below say. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../store/sim_disk.h"
#include "witness.h"

enum {
    ORDERS = MANNER_COUNT * MANNER_COUNT * MANNER_COUNT,
    WORKERS = 2,
    QUIET_ROUNDS_MAX = 200, /* so many times a little later nothing has happened */
    LITTLE_MS = 20,
    DEATHS_MAX = 2,
    SECOND_SYNCS = 3, /* of a second life, at which it ends too */
};

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOW_BUILD
#endif
#endif
#if defined(SLOW_BUILD) || defined(__SANITIZE_ADDRESS__)
enum { ORDERS_APART = 25 }; /* a few orders of each part */
#else
enum { ORDERS_APART = 1 };
#endif

/* One script for each order: every `apart`th of them; every `twice`th of all (0 = none) with a second crash too. */
static const struct part {
    enum tempo tempo;
    enum resume_policy policy;
    int apart, twice;
} parts[] = {
    {ONE_BY_ONE, RESUME_RETRY, 1, 62},  {WHEN_ASKED, RESUME_RETRY, 1, 62}, {AT_ONCE, RESUME_RETRY, 25, 0},
    {WHEN_RESTED, RESUME_RETRY, 25, 0}, {ONE_BY_ONE, RESUME_ASK, 25, 0},   {WHEN_ASKED, RESUME_ASK, 25, 0},
    {AT_ONCE, RESUME_ASK, 25, 0},       {WHEN_RESTED, RESUME_ASK, 25, 0},  {ONE_BY_ONE, RESUME_FAIL, 25, 0},
    {WHEN_ASKED, RESUME_FAIL, 25, 0},   {AT_ONCE, RESUME_FAIL, 25, 0},     {WHEN_RESTED, RESUME_FAIL, 25, 0},
};
enum { PARTS = sizeof parts / sizeof *parts, SCRIPTS = PARTS * ORDERS };

/* Of all processes. */
static struct tally {
    _Atomic int64_t scripts, points, passed;
} * tally;

enum end { LOSES, TEARS, KEEPS };
static const char *const end_names[] = {"lost", "torn", "kept"};

/* What this process lives through. */
static struct life {
    struct world *world;
    struct client client;
    struct script script;
    int number; /* of the script */
    int deaths, deaths_max;
    int64_t syncs[DEATHS_MAX]; /* in each life */
    enum end ends[DEATHS_MAX];
    int64_t told, now_ms; /* at the last point */
} life;

static _Noreturn void fail(const char *what)
{
    const struct script *script = &life.script;
    fprintf(stderr, "script %d: %s, %s, %s; %s; resume: %s\n", life.number, manner_names[script->manners[0]],
            manner_names[script->manners[1]], manner_names[script->manners[2]], tempo_names[script->tempo],
            resume_policy_enum.names[script->policy]);
    for (int i = 0; i < life.deaths; i++) {
        fprintf(stderr, "life %d ends at sync %lld: %s\n", i + 1, (long long)life.syncs[i], end_names[life.ends[i]]);
    }
    fprintf(stderr, "life %d: %s\n", life.deaths + 1, what);
    witness_print(&life.client);
    _exit(1);
}

/* --- living --- */

static void live(void)
{
    struct world *world = life.world;
    int quiet_rounds = 0;
    bool quiet = false;
    char problem[PROBLEM_BYTES];
    for (enum act act = ACT_NOTHING; act != ACT_DONE;) {
        act = client_act(&life.client, quiet);
        quiet_rounds = quiet && act == ACT_NOTHING ? quiet_rounds + 1 : 0;
        if (quiet_rounds > 0) {
            world_wait(world, LITTLE_MS);
        }
        if (quiet_rounds == QUIET_ROUNDS_MAX) {
            fail("nothing happens any more");
        }
        quiet = !world_round(world);
    }
    if (!witness_check(&life.client, true, problem)) {
        fail(problem);
    }
}

static void on_problem(void *owner, const char *sentence)
{
    (void)owner;
    fail(sentence);
}

static void live_again(void)
{
    struct world *world = memory_zeroed(sizeof *world);
    struct failure failure = {0};
    struct verify_report report = {.problem = on_problem};
    char problem[PROBLEM_BYTES];
    world_reopen(world, life.world);
    life.world = world;
    client_begin_again(&life.client, world);
    if (!witness_check(&life.client, false, problem)) {
        fail(problem);
    }
    world_run(world);
    live();
    disk_watch_syncs(NULL, NULL);
    if (store_verify(world->db, &report, &failure) != STATUS_OK) {
        fail(failure.detail);
    }
}

/* --- dying --- */

static bool ends_well(pid_t child)
{
    int status = 0;
    while (child > 0 && waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void watch(void);

static void die(enum end end)
{
    life.ends[life.deaths++] = end;
    watch();
    disk_seed((uint64_t)life.number << 32 | (uint64_t)life.syncs[life.deaths - 1]);
    disk_cut_power_so(end == TEARS ? DISK_TEARS : DISK_LOSES);
    if (life.deaths == life.deaths_max) {
        disk_trust();
    }
    live_again();
    _exit(0);
}

static void die_beside(enum end end)
{
    tally->points++;
    pid_t child = fork();
    if (child == 0) {
        die(end);
    }
    if (!ends_well(child)) {
        _exit(1);
    }
    tally->passed++;
}

/* A crash before a sync leaves what one after the sync before left, unless somebody was told something or time went
 * by in between. */
static bool is_new_point(bool done)
{
    bool is_new = done || life.told != life.client.told || life.now_ms != life.world->now_ms;
    life.told = life.client.told;
    life.now_ms = life.world->now_ms;
    return is_new;
}

static void on_sync(void *owner, bool done)
{
    int64_t *syncs = &life.syncs[life.deaths];
    (void)owner;
    *syncs += !done;
    if (is_new_point(done) && (life.deaths == 0 || *syncs <= SECOND_SYNCS)) {
        die_beside(done ? KEEPS : *syncs % 2 ? LOSES : TEARS);
    }
}

static void watch(void)
{
    disk_watch_syncs(life.deaths < life.deaths_max ? on_sync : NULL, NULL);
}

/* --- all of it --- */

static struct script script_at(int number)
{
    const struct part *part = &parts[number / ORDERS];
    struct script script = {.tempo = part->tempo, .policy = part->policy};
    int order = number % ORDERS;
    for (int i = MESSAGES; i-- > 0; order /= MANNER_COUNT) {
        script.manners[i] = (enum manner)(order % MANNER_COUNT);
    }
    return script;
}

static bool is_taken(int number, bool all)
{
    int apart = ORDERS_APART * (all ? 1 : parts[number / ORDERS].apart);
    return number % ORDERS % apart == number / ORDERS % apart;
}

static void play(struct world *world, int number)
{
    struct writer_stats figures;
    int twice = parts[number / ORDERS].twice;
    life = (struct life){.world = world, .script = script_at(number), .number = number};
    bool dies_twice = twice && number % ORDERS % twice == 0 && ORDERS_APART == 1;
    life.deaths_max = dies_twice ? DEATHS_MAX : 1;
    client_init(&life.client, &life.script, world);
    world_run(world);
    watch();
    live();
    writer_figures_read(world->writer, &figures);
    if (figures.groups == 0 || figures.groups > life.syncs[0]) {
        fail("something was committed without a sync");
    }
    _exit(0);
}

static void play_beside(struct world *world, int number, bool *good)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        play(world, number);
    }
    if (!ends_well(child)) {
        fprintf(stderr, "script %d failed; run it alone: mode_crash %d\n", number, number);
        *good = false;
    }
    tally->scripts++;
}

/* One of WORKERS processes takes its share. */
static void work(struct world *world, int worker)
{
    bool good = true, all = getenv("SOJOURN_TEST_ROUNDS");
    int taken = 0;
    for (int number = 0; number < SCRIPTS; number++) {
        if (is_taken(number, all) && taken++ % WORKERS == worker) {
            play_beside(world, number, &good);
        }
    }
    _exit(good ? 0 : 1);
}

static bool work_together(struct world *world)
{
    pid_t workers[WORKERS];
    bool good = true;
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        if (workers[i] == 0) {
            work(world, i);
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        good &= ends_well(workers[i]);
    }
    return good;
}

int main(int argc, char **argv)
{
    static struct world world;
    bool good = true;
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED) {
        return 1;
    }
    world_make(&world);
    if (argc > 1) {
        play_beside(&world, atoi(argv[1]) % SCRIPTS, &good);
    } else {
        good = work_together(&world);
    }
    printf("%lld scripts over %d orders, crashes at %lld of %lld points: %s\n", (long long)tally->scripts, ORDERS,
           (long long)tally->passed, (long long)tally->points, good ? "every promise was kept" : "FAILED");
    return good && tally->points > 0 && tally->passed == tally->points ? 0 : 1;
}
