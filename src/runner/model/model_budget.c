#include "runner/model/model_turn.h"

enum { PER_PRICE = 1000000 };

static int64_t at_least_0(int64_t value)
{
    return value > 0 ? value : 0;
}

/* A stream that never told its usage is counted by its bytes, so that the cost is never too small by much. */
void budget_count(struct model_turn *turn, const struct model_usage *usage, size_t input_bytes, size_t output_bytes)
{
    struct model_totals *totals = &turn->totals;
    struct model_price price = agent_price(turn->agent, model_choice_of(turn));
    int64_t input = usage->input_tokens, output = usage->output_tokens;
    if (input < 0 || output < 0) {
        totals->is_estimated = true;
        input = input >= 0 ? input : (int64_t)(input_bytes / CHARS_PER_TOKEN) + 1;
        output = output >= 0 ? output : (int64_t)(output_bytes / CHARS_PER_TOKEN) + 1;
    }
    totals->calls++;
    totals->input_tokens += input;
    totals->output_tokens += output;
    totals->cache_read_tokens += at_least_0(usage->cache_read_tokens);
    totals->cache_write_tokens += at_least_0(usage->cache_write_tokens);
    totals->reasoning_tokens += at_least_0(usage->reasoning_tokens);
    totals->price += model_price_of(&price, input, usage->cache_read_tokens, usage->cache_write_tokens, output);
}

/* Rounded up: a cap is never passed by rounding. */
int64_t budget_cost(const struct model_turn *turn)
{
    return (turn->totals.price + PER_PRICE - 1) / PER_PRICE;
}

struct slice budget_usage(struct model_turn *turn)
{
    const struct model_totals *totals = &turn->totals;
    const struct model_choice *choice = model_choice_of(turn);
    struct buffer text = {0};
    struct json_out out = json_out_to(&text);
    json_begin_object(&out);
    json_put_i64(&out, "input_tokens", totals->input_tokens);
    json_put_i64(&out, "output_tokens", totals->output_tokens);
    json_put_i64(&out, "cache_read_tokens", totals->cache_read_tokens);
    json_put_i64(&out, "cache_write_tokens", totals->cache_write_tokens);
    json_put_i64(&out, "reasoning_tokens", totals->reasoning_tokens);
    json_put_i64(&out, "cost_microcents", budget_cost(turn));
    json_put_i64(&out, "model_calls", totals->calls);
    json_put_text(&out, "model", choice->model);
    json_put_text(&out, "provider", choice->provider);
    if (totals->is_estimated) {
        json_put_bool(&out, "estimated", true);
    }
    json_end_object(&out);
    struct slice json = arena_copy(&turn->arena, buffer_slice(&text));
    buffer_release(&text);
    return json;
}

/* --- the cap --- */

enum { MICROCENTS_PER_CENT = 1000000, CENTS = 100 };

/* "$1.25" */
static struct slice money(struct arena *arena, int64_t microcents)
{
    int64_t cents = (microcents + MICROCENTS_PER_CENT - 1) / MICROCENTS_PER_CENT;
    return arena_format(arena, "$%lld.%02lld", (long long)(cents / CENTS), (long long)(cents % CENTS));
}

static void ask_for_more(struct model_turn *turn, int64_t cost)
{
    struct arena *arena = &turn->arena;
    struct slice most = money(arena, turn->agent->cost_microcents_max), spent = money(arena, cost);
    turn->ask_id = arena_format(arena, "t%lld-budget-%lld", (long long)turn->brief->number, (long long)turn->rounds);
    turn->stage = STAGE_ASK_BUDGET;
    struct ask ask = {
        .id = turn->ask_id,
        .kind = ASK_APPROVAL,
        .turn = turn->brief->number,
        .tool = SLICE("budget"),
        .call_id = turn->ask_id,
        .arguments = arena_format(arena, "{\"cost_microcents\":%lld,\"cost_microcents_max\":%lld}", (long long)cost,
                                  (long long)turn->agent->cost_microcents_max),
        .text = arena_format(arena, "Budget of %.*s exceeded (%.*s spent), go on?", SLICE_ARG(most), SLICE_ARG(spent)),
        .quorum = 1,
    };
    turn_ask(turn->turn, &ask);
}

bool budget_allows(struct model_turn *turn)
{
    int64_t cost = turn->brief->cost_microcents + budget_cost(turn), most = turn->agent->cost_microcents_max;
    if (most <= 0 || cost < most || turn->is_over_budget_allowed) {
        return true;
    }
    switch (turn->agent->on_exceed) {
    case EXCEED_PAUSE:
        ask_for_more(turn, cost);
        return false;
    case EXCEED_WARN:
        if (!turn->is_over_budget_told) {
            turn->is_over_budget_told = true;
            event_budget_warning(turn, cost);
        }
        return true;
    case EXCEED_FAIL:
    case EXCEED_COUNT:
        break;
    }
    model_end(turn, TURN_ERROR, TURN_BUDGET_EXCEEDED, SLICE("the cost of the session has reached the agent's cap"));
    return false;
}

void budget_answered(struct model_turn *turn, const struct ask *ask)
{
    bool goes_on = ask->state == ASK_ANSWERED && ask->decision != DECISION_DENY && ask->decision != DECISION_NONE;
    turn->ask_id = (struct slice){NULL, 0};
    if (!goes_on) {
        model_end(turn, TURN_ERROR, TURN_BUDGET_EXCEEDED,
                  SLICE("nobody allowed to go on beyond the agent's cap on cost"));
        return;
    }
    turn->is_over_budget_allowed = true;
    model_go(turn);
}
