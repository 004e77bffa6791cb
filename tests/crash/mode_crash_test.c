/* Three messages in every order of manners, at every tempo, to an agent that the server runs, and the power goes at
 * every sync of the disk: before it, with all that was not synced lost or torn, and after it, with nobody told.
 *
 * One good life of each script is lived through. At every point its process forks: the child cuts the power of its copy of
 * the disk, forgets everything but what the person in front of it was told, opens the database anew, lives on to the
 * end, and checks (witness.h). What a crash leaves is what is on the disk and what people were told; both change at a
 * sync only, so these are all the points there are.
 *
 * mode_crash [scripts, one in so many [the first of them]] */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../store/sim_disk.h"
#include "service/event.h"
#include "witness.h"

enum { ORDERS = MANNER_COUNT * MANNER_COUNT * MANNER_COUNT, SCRIPTS = ORDERS * TEMPO_COUNT * RESUME_COUNT, WORKERS = 2, QUIET_MAX = 200, STEP_MS = 20 };

enum end { LOSES, TEARS, KEEPS, END_COUNT };
static const char *const end_names[END_COUNT] = {"before it, all lost", "before it, torn", "after it"};

/* Of all processes. */
static struct tally {
    _Atomic int64_t scripts, points, passed, events, turns;
} *tally;

static struct life {
    struct world *world;
    struct client client;
    const struct script *script;
    int64_t sync;
} life;

static _Noreturn void fail(const char *where, const char *what)
{
    const struct script *script = life.script;
    fprintf(stderr, "%s %s %s, %s, resume %s: sync %lld, %s: %s\n", manner_names[script->manners[0]],
            manner_names[script->manners[1]], manner_names[script->manners[2]], tempo_names[script->tempo],
            resume_policy_words.names[script->policy], (long long)life.sync, where, what);
    witness_print(&life.client);
    _exit(1);
}

/* --- living --- */

static void live(struct world *world, const char *where)
{
    int quiet_rounds = 0;
    bool quiet = false;
    char problem[PROBLEM_BYTES];
    for (enum act act = ACT_NOTHING; act != ACT_DONE;) {
        act = client_act(&life.client, quiet);
        quiet_rounds = quiet && act == ACT_NOTHING ? quiet_rounds + 1 : 0;
        if (quiet_rounds > 0) {
            world_wait(world, STEP_MS);
        }
        if (quiet_rounds == QUIET_MAX) {
            fail(where, "nothing happens any more");
        }
        quiet = !world_round(world);
    }
    if (!witness_check(&life.client, true, problem)) {
        fail(where, problem);
    }
}

static void note_problem(void *owner, const char *sentence)
{
    fail(owner, sentence);
}

static void live_again(const struct world *former, const char *where)
{
    static struct world world;
    struct failure failure = {0};
    struct verify_report report = {.problem = note_problem, .owner = (void *)where};
    char problem[PROBLEM_BYTES];
    world_reopen(&world, former);
    client_begin_again(&life.client, &world);
    if (!witness_check(&life.client, false, problem)) {
        fail(where, problem);
    }
    world_run(&world);
    live(&world, where);
    world_must(store_verify(world.db, &report, &failure), &failure, "verify");
}

/* --- dying --- */

static bool ends_well(pid_t child)
{
    int status = 0;
    while (waitpid(child, &status, 0) < 0) {
        if (errno != EINTR) {
            return false;
        }
    }
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void die_and_live_again(enum end end)
{
    tally->points++;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        disk_watch_syncs(NULL, NULL);
        disk_seed((uint64_t)life.sync * END_COUNT + (uint64_t)end);
        disk_cut_power_so(end == TEARS ? DISK_TEARS : DISK_LOSES);
        live_again(life.world, end_names[end]);
        _exit(0);
    }
    if (child < 0 || !ends_well(child)) {
        _exit(1);
    }
    tally->passed++;
}

static void on_sync(void *owner, bool done)
{
    (void)owner;
    if (done) {
        die_and_live_again(KEEPS);
        return;
    }
    life.sync++;
    die_and_live_again(life.sync % 2 ? LOSES : TEARS);
}

/* --- all of it --- */

static struct script script_at(int number)
{
    int order = number % ORDERS;
    struct script script = {.tempo = (enum tempo)(number / ORDERS % TEMPO_COUNT),
                            .policy = (enum resume_policy)(number / ORDERS / TEMPO_COUNT)};
    for (int i = MESSAGES; i-- > 0; order /= MANNER_COUNT) {
        script.manners[i] = (enum manner)(order % MANNER_COUNT);
    }
    return script;
}

static _Noreturn void play(struct world *world, int number)
{
    struct script script = script_at(number);
    life = (struct life){.world = world, .script = &script};
    client_init(&life.client, &script, world);
    world_run(world);
    disk_watch_syncs(on_sync, NULL);
    live(world, "no crash");
    _exit(life.sync > 0 ? 0 : 1);
}

/* Every `workers`th script from `worker` on, each in a process of its own. */
static _Noreturn void work(struct world *world, int worker, int workers, int step)
{
    int wrong = 0;
    for (int number = worker * step; number < SCRIPTS; number += workers * step) {
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) {
            play(world, number);
        }
        wrong += child < 0 || !ends_well(child);
        tally->scripts++;
    }
    _exit(wrong ? 1 : 0);
}

int main(int argc, char **argv)
{
    static struct world world;
    int step = argc > 1 ? atoi(argv[1]) : 1;
    bool good = true;
    pid_t workers[WORKERS];
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    world_make(&world);
    for (int i = 0; i < WORKERS; i++) {
        workers[i] = fork();
        if (workers[i] == 0) {
            work(&world, i, WORKERS, step);
        }
    }
    for (int i = 0; i < WORKERS; i++) {
        good &= workers[i] > 0 && ends_well(workers[i]);
    }
    printf("%lld scripts, the power went at %lld of %lld points\n", (long long)tally->scripts, (long long)tally->passed,
           (long long)tally->points);
    return good && tally->passed == tally->points ? 0 : 1;
}
