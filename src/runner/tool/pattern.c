#include "runner/tool/pattern.h"

#include <ctype.h>

enum { STEPS_MAX = 2000, DEPTH_MAX = 32, REPEAT_MAX = 1000 };

enum step_kind { STEP_BYTE, STEP_ANY, STEP_SET, STEP_SPLIT, STEP_GO, STEP_BEGIN, STEP_END, STEP_EDGE, STEP_MATCH };

struct byte_set {
    uint64_t bits[4];
};

/* Ways on are relative, so that a run of steps may be moved and copied. */
struct step {
    enum step_kind kind;
    unsigned char byte;
    int way, other_way; /* STEP_GO, STEP_SPLIT */
    const struct byte_set *set;
};

/* The places in the program that are alive at one byte of the text. */
struct places {
    int at[STEPS_MAX];
    int count;
};

struct pattern {
    struct step steps[STEPS_MAX];
    int count;
    bool ignores_case;
    struct places now, next;
    int stack[2 * STEPS_MAX];
    unsigned seen[STEPS_MAX], round;
};

struct reading {
    struct arena *arena;
    struct pattern *pattern;
    struct slice text;
    size_t at;
    int depth;
    const char *problem; /* of the first mistake; NULL = none */
    bool is_too_large;
};

static void read_either(struct reading *r);

/* --- reading --- */

static void fail(struct reading *r, const char *problem)
{
    r->problem = r->problem ? r->problem : problem;
}

static bool at_end(const struct reading *r)
{
    return r->problem || r->at >= r->text.len;
}

static bool take(struct reading *r, char c)
{
    if (!at_end(r) && r->text.ptr[r->at] == c) {
        r->at++;
        return true;
    }
    return false;
}

static bool make_room(struct reading *r, int count)
{
    if (r->pattern->count + count > STEPS_MAX) {
        r->is_too_large = true;
        fail(r, "it is too large");
        return false;
    }
    return true;
}

static void add(struct reading *r, struct step step)
{
    if (make_room(r, 1)) {
        r->pattern->steps[r->pattern->count++] = step;
    }
}

static void insert(struct reading *r, int at, struct step step)
{
    struct pattern *p = r->pattern;
    if (make_room(r, 1)) {
        memmove(&p->steps[at + 1], &p->steps[at], (size_t)(p->count - at) * sizeof p->steps[0]);
        p->steps[at] = step;
        p->count++;
    }
}

static bool set_has(const struct byte_set *set, unsigned char c)
{
    return set->bits[c / 64] >> (c % 64) & 1;
}

static void set_add(struct byte_set *set, unsigned char from, unsigned char to)
{
    for (unsigned c = from; c <= to; c++) {
        set->bits[c / 64] |= (uint64_t)1 << (c % 64);
    }
}

static void set_turn(struct byte_set *set)
{
    for (int i = 0; i < 4; i++) {
        set->bits[i] = ~set->bits[i];
    }
}

/* \d \w \s and their opposites; false for any other letter. */
static bool set_add_class(struct byte_set *set, char letter)
{
    struct byte_set class = {{0}};
    switch (tolower((unsigned char)letter)) {
    case 'd':
        set_add(&class, '0', '9');
        break;
    case 'w':
        set_add(&class, '0', '9');
        set_add(&class, 'a', 'z');
        set_add(&class, 'A', 'Z');
        set_add(&class, '_', '_');
        break;
    case 's':
        set_add(&class, ' ', ' ');
        set_add(&class, '\t', '\r');
        break;
    default:
        return false;
    }
    if (isupper((unsigned char)letter)) {
        set_turn(&class);
    }
    for (int i = 0; i < 4; i++) {
        set->bits[i] |= class.bits[i];
    }
    return true;
}

static void add_set(struct reading *r, struct byte_set set)
{
    struct byte_set *kept = arena_alloc(r->arena, sizeof *kept);
    if (r->pattern->ignores_case) {
        for (unsigned c = 'a'; c <= 'z'; c++) {
            unsigned char lower = (unsigned char)c, upper = (unsigned char)toupper((int)c);
            if (set_has(&set, lower) || set_has(&set, upper)) {
                set_add(&set, lower, lower);
                set_add(&set, upper, upper);
            }
        }
    }
    *kept = set;
    add(r, (struct step){.kind = STEP_SET, .set = kept});
}

static void add_byte(struct reading *r, char c)
{
    unsigned char byte = (unsigned char)(r->pattern->ignores_case ? tolower((unsigned char)c) : (unsigned char)c);
    add(r, (struct step){.kind = STEP_BYTE, .byte = byte});
}

static char escaped(char c)
{
    return c == 't' ? '\t' : c;
}

static void read_escape(struct reading *r)
{
    struct byte_set set = {{0}};
    if (at_end(r)) {
        fail(r, "a single \\ stands at the end");
        return;
    }
    char c = r->text.ptr[r->at++];
    if (c == 'b') {
        add(r, (struct step){.kind = STEP_EDGE});
    } else if (set_add_class(&set, c)) {
        add_set(r, set);
    } else {
        add_byte(r, escaped(c));
    }
}

/* One byte, or a class (then true), within [ ]. */
static bool read_member(struct reading *r, struct byte_set *set, unsigned char *out)
{
    char c = r->text.ptr[r->at++];
    if (c == '\\' && !at_end(r)) {
        c = r->text.ptr[r->at++];
        if (set_add_class(set, c)) {
            return true;
        }
        c = escaped(c);
    }
    *out = (unsigned char)c;
    return false;
}

static void read_set(struct reading *r)
{
    struct byte_set set = {{0}};
    bool turned = take(r, '^'), first = true;
    while (!at_end(r) && (first || r->text.ptr[r->at] != ']')) {
        unsigned char from, to;
        first = false;
        if (read_member(r, &set, &from)) {
            continue;
        }
        to = from;
        bool ranges = r->at + 1 < r->text.len && r->text.ptr[r->at] == '-' && r->text.ptr[r->at + 1] != ']';
        r->at += ranges;
        if (ranges && (read_member(r, &set, &to) || to < from)) {
            fail(r, "a range in [ ] runs backwards");
        }
        set_add(&set, from, to);
    }
    if (!take(r, ']')) {
        fail(r, "a [ is not closed");
    }
    if (turned) {
        set_turn(&set);
    }
    add_set(r, set);
}

static void read_group(struct reading *r)
{
    if (++r->depth > DEPTH_MAX) {
        fail(r, "its brackets are nested too deep");
        return;
    }
    if (take(r, '?') && !take(r, ':')) {
        fail(r, "of the (? groups only (?: ) is known");
    }
    /* Every group costs a step, so that even empty ones run into the limit when they are repeated. */
    add(r, (struct step){.kind = STEP_GO, .way = 1});
    read_either(r);
    if (!take(r, ')')) {
        fail(r, "a ( is not closed");
    }
    r->depth--;
}

static void read_atom(struct reading *r)
{
    char c = r->text.ptr[r->at++];
    switch (c) {
    case '(':
        read_group(r);
        break;
    case '[':
        read_set(r);
        break;
    case '\\':
        read_escape(r);
        break;
    case '.':
        add(r, (struct step){.kind = STEP_ANY});
        break;
    case '^':
        add(r, (struct step){.kind = STEP_BEGIN});
        break;
    case '$':
        add(r, (struct step){.kind = STEP_END});
        break;
    case '*':
    case '+':
    case '?':
        fail(r, "there is nothing before *, + or ? that could be repeated");
        break;
    default:
        add_byte(r, c);
    }
}

/* --- repeating: what stands from `start` on --- */

static void repeat_freely(struct reading *r, int start)
{
    int len = r->pattern->count - start;
    insert(r, start, (struct step){.kind = STEP_SPLIT, .way = 1, .other_way = len + 2});
    add(r, (struct step){.kind = STEP_GO, .way = -(len + 1)});
}

static void repeat_copies(struct reading *r, const struct step *steps, int len)
{
    for (int i = 0; i < len; i++) {
        add(r, steps[i]);
    }
}

/* {least,most}; most -1 = no end. */
static void repeat_counted(struct reading *r, int start, int least, int most)
{
    int len = r->pattern->count - start;
    struct step *kept = arena_array(r->arena, (size_t)len, sizeof *kept);
    memcpy(kept, &r->pattern->steps[start], (size_t)len * sizeof *kept);
    r->pattern->count = start;
    for (int i = 0; i < least && !r->problem; i++) {
        repeat_copies(r, kept, len);
    }
    if (most < 0) {
        int from = r->pattern->count;
        repeat_copies(r, kept, len);
        repeat_freely(r, from);
    }
    for (int i = least; i < most && !r->problem; i++) {
        add(r, (struct step){.kind = STEP_SPLIT, .way = 1, .other_way = len + 1});
        repeat_copies(r, kept, len);
    }
}

static int read_number(struct reading *r)
{
    int number = -1;
    while (!at_end(r) && isdigit((unsigned char)r->text.ptr[r->at]) && number <= REPEAT_MAX) {
        number = (number < 0 ? 0 : number) * 10 + (r->text.ptr[r->at++] - '0');
    }
    return number;
}

static void read_counts(struct reading *r, int start)
{
    int least = read_number(r), most = least;
    if (take(r, ',')) {
        most = read_number(r);
    }
    if (least < 0 || least > REPEAT_MAX || most > REPEAT_MAX || (most >= 0 && most < least) || !take(r, '}')) {
        fail(r, "{ } must hold m, m,n or m, with numbers up to 1000 (write \\{ for the character)");
        return;
    }
    repeat_counted(r, start, least, most);
}

static void read_repeats(struct reading *r, int start)
{
    while (!at_end(r)) {
        int len = r->pattern->count - start;
        if (take(r, '*')) {
            repeat_freely(r, start);
        } else if (take(r, '+')) {
            add(r, (struct step){.kind = STEP_SPLIT, .way = -len, .other_way = 1});
        } else if (take(r, '?')) {
            insert(r, start, (struct step){.kind = STEP_SPLIT, .way = 1, .other_way = len + 1});
        } else if (take(r, '{')) {
            read_counts(r, start);
        } else {
            return;
        }
    }
}

static void read_either(struct reading *r)
{
    int start = r->pattern->count;
    while (!at_end(r) && r->text.ptr[r->at] != '|' && r->text.ptr[r->at] != ')') {
        int atom = r->pattern->count;
        read_atom(r);
        read_repeats(r, atom);
    }
    if (!take(r, '|')) {
        return;
    }
    insert(r, start, (struct step){.kind = STEP_SPLIT, .way = 1, .other_way = r->pattern->count - start + 2});
    int go = r->pattern->count;
    add(r, (struct step){.kind = STEP_GO});
    read_either(r);
    if (!r->problem) {
        r->pattern->steps[go].way = r->pattern->count - go;
    }
}

enum status pattern_read(struct arena *arena, struct slice text, bool ignores_case, struct pattern **out,
                         struct failure *failure)
{
    struct pattern *pattern = arena_alloc(arena, sizeof *pattern);
    struct reading r = {.arena = arena, .pattern = pattern, .text = text};
    pattern->ignores_case = ignores_case;
    if (text.len > STEPS_MAX) {
        r.is_too_large = true;
        fail(&r, "it is too long");
    }
    read_either(&r);
    if (!at_end(&r)) {
        fail(&r, "a ) was never opened");
    }
    add(&r, (struct step){.kind = STEP_MATCH});
    *out = pattern;
    return !r.problem ? STATUS_OK
                      : failure_set(failure, r.is_too_large ? STATUS_TOO_LARGE : STATUS_INVALID, "invalid_pattern",
                                    "The pattern is not accepted: %s (character %zu).", r.problem, r.at);
}

/* --- matching --- */

static bool is_word(struct slice line, size_t at)
{
    return at < line.len && (isalnum((unsigned char)line.ptr[at]) || line.ptr[at] == '_');
}

static bool is_edge(struct slice line, size_t at)
{
    return is_word(line, at) != (at > 0 && is_word(line, at - 1));
}

/* Adds a place and all that is reached from it without a byte. True when the end of the pattern is among them. */
static bool spread(struct pattern *p, struct places *to, int from, struct slice line, size_t at)
{
    int top = 0;
    p->stack[top++] = from;
    while (top > 0) {
        int here = p->stack[--top];
        const struct step *step = &p->steps[here];
        if (p->seen[here] == p->round) {
            continue;
        }
        p->seen[here] = p->round;
        switch (step->kind) {
        case STEP_MATCH:
            return true;
        case STEP_SPLIT:
            p->stack[top++] = here + step->other_way;
            p->stack[top++] = here + step->way;
            break;
        case STEP_GO:
            p->stack[top++] = here + step->way;
            break;
        case STEP_BEGIN:
        case STEP_END:
        case STEP_EDGE:
            if (step->kind == STEP_BEGIN ? at == 0 : step->kind == STEP_END ? at == line.len : is_edge(line, at)) {
                p->stack[top++] = here + 1;
            }
            break;
        case STEP_BYTE:
        case STEP_ANY:
        case STEP_SET:
            to->at[to->count++] = here;
            break;
        }
    }
    return false;
}

static bool takes(const struct pattern *p, const struct step *step, unsigned char c)
{
    if (step->kind == STEP_BYTE) {
        return step->byte == (p->ignores_case ? (unsigned char)tolower(c) : c);
    }
    return step->kind == STEP_ANY || set_has(step->set, c);
}

bool pattern_matches(struct pattern *p, struct slice line)
{
    struct places *now = &p->now, *next = &p->next;
    now->count = 0;
    p->round++;
    for (size_t at = 0;; at++) {
        if (spread(p, now, 0, line, at)) {
            return true;
        }
        if (at == line.len) {
            return false;
        }
        next->count = 0;
        p->round++;
        for (int i = 0; i < now->count; i++) {
            if (takes(p, &p->steps[now->at[i]], (unsigned char)line.ptr[at]) &&
                spread(p, next, now->at[i] + 1, line, at + 1)) {
                return true;
            }
        }
        struct places *swap = now;
        now = next;
        next = swap;
    }
}
