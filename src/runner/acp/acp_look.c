/* Where the paths of a call lead is looked up beside the loop, for agents that have rules about paths: a link must not
 * lead past them. What is decided and shown is what was asked, whatever the agent says of the call meanwhile. */
#include <stdlib.h>

#include "runner/acp/acp_turn.h"
#include "runner/tool/path.h"

struct acp_look {
    struct acp_look *next;
    uv_work_t work;
    struct acp_agent *agent; /* NULL once it ended */
    struct arena arena;
    struct acp_asked asked; /* in the arena */
    int64_t turn;           /* its number */
    bool is_withdrawn;
};

/* --- beside the loop --- */

static void follow_one(struct acp_look *look, const struct call_path *path, struct slice *paths, size_t *count)
{
    struct call_facts *facts = &look->asked.facts;
    bool is_inside = !slice_eq(facts->place.inside, facts->place.outside);
    struct slice tree = is_inside ? facts->place.outside : (struct slice){0}, real;
    struct slice shown = path->spellings[0];
    if (!path->is_named || !path->is_known || !slice_starts(shown, SLICE("/"))) {
        return;
    }
    if (!path_follow(&look->arena, tree, facts->place.inside, path->walked, &real)) {
        facts->is_uncertain = true;
    } else if (!slice_eq(real, shown)) {
        paths[(*count)++] = real;
    }
}

static void on_work(uv_work_t *work)
{
    struct acp_look *look = work->data;
    struct call_facts *facts = &look->asked.facts;
    struct call_subject about;
    call_subject_read(&look->arena, facts, &about);
    size_t count = facts->path_count;
    struct slice *paths = arena_array(&look->arena, count + about.path_count, sizeof *paths);
    for (size_t i = 0; i < count; i++) {
        paths[i] = facts->paths[i];
    }
    for (size_t i = 0; i < about.path_count; i++) {
        follow_one(look, &about.paths[i], paths, &count);
    }
    facts->paths = paths;
    facts->path_count = count;
}

/* --- on the loop --- */

static void forget(struct acp_look *look)
{
    for (struct acp_look **at = &look->agent->looks; *at; at = &(*at)->next) {
        if (*at == look) {
            *at = look->next;
            return;
        }
    }
}

static void on_worked(uv_work_t *work, int uv_status)
{
    struct acp_look *look = work->data;
    struct acp_turn *turn = look->agent ? look->agent->turn : NULL;
    bool is_wanted = turn && turn->turn && turn->brief->number == look->turn && !look->is_withdrawn;
    look->asked.facts.is_uncertain |= uv_status != 0;
    if (look->agent) {
        forget(look);
        acp_ask_decide(look->agent, is_wanted ? turn : NULL, &look->asked);
    } else {
        acp_ask_drop(look->asked.ask);
    }
    arena_release(&look->arena);
    free(look);
}

static struct call_facts copy_facts(struct arena *arena, const struct call_facts *facts)
{
    struct call_facts copy = *facts;
    struct slice *paths = arena_array(arena, facts->path_count + 1, sizeof *paths);
    for (size_t i = 0; i < facts->path_count; i++) {
        paths[i] = arena_copy(arena, facts->paths[i]);
    }
    for (size_t i = 0; i < facts->word_count; i++) {
        copy.words[i] = arena_copy(arena, facts->words[i]);
    }
    copy.paths = paths;
    copy.tool = arena_copy(arena, facts->tool);
    copy.arguments = arena_copy(arena, facts->arguments);
    copy.place = (struct call_place){.directory = arena_copy(arena, facts->place.directory),
                                     .inside = arena_copy(arena, facts->place.inside),
                                     .outside = arena_copy(arena, facts->place.outside)};
    return copy;
}

void acp_look_start(struct acp_turn *turn, const struct acp_asked *asked)
{
    struct acp_look *look = memory_zeroed(sizeof *look);
    look->work.data = look;
    look->agent = turn->agent;
    look->turn = turn->brief->number;
    look->asked = (struct acp_asked){.ask = asked->ask,
                                     .facts = copy_facts(&look->arena, &asked->facts),
                                     .call_id = arena_copy(&look->arena, asked->call_id),
                                     .name = arena_copy(&look->arena, asked->name),
                                     .text = arena_copy(&look->arena, asked->text),
                                     .details = arena_copy(&look->arena, asked->details)};
    look->next = turn->agent->looks;
    turn->agent->looks = look;
    uv_queue_work(loop_uv(turn->agent->loop), &look->work, on_work, on_worked);
}

void acp_look_withdraw(struct acp_agent *agent, struct slice request)
{
    for (struct acp_look *look = agent->looks; look; look = look->next) {
        look->is_withdrawn |= slice_eq(buffer_slice(&look->asked.ask->request), request);
    }
}

void acp_looks_end(struct acp_agent *agent)
{
    for (struct acp_look *look = agent->looks; look; look = look->next) {
        look->agent = NULL;
    }
    agent->looks = NULL;
}
