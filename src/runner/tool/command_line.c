#include "runner/tool/command_line.h"

#include "domain/agent_fields.h"

enum { WORDS_MAX = 512 };

struct splitting {
    struct slice line;
    size_t at;
    char *to; /* behind the last byte of the word */
    const char *problem;
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t';
}

/* Within " " a backslash quotes only what would end or change the text there. */
static void take_double(struct splitting *s)
{
    while (s->at < s->line.len && s->line.ptr[s->at] != '"') {
        char c = s->line.ptr[s->at++];
        if ((c == '$' || c == '`')) {
            s->problem = "$ and ` mean nothing without a shell; put the word in single quotes to pass them on";
        }
        if (c == '\\' && s->at < s->line.len && strchr("\"\\$`", s->line.ptr[s->at])) {
            c = s->line.ptr[s->at++];
        }
        *s->to++ = c;
    }
}

static void take_quoted(struct splitting *s, char quote)
{
    if (quote == '"') {
        take_double(s);
    } else {
        while (s->at < s->line.len && s->line.ptr[s->at] != quote) {
            *s->to++ = s->line.ptr[s->at++];
        }
    }
    if (s->at++ >= s->line.len) {
        s->problem = "a quote is not closed";
    }
}

static void take_word(struct splitting *s)
{
    while (s->at < s->line.len && !is_space(s->line.ptr[s->at]) && !s->problem) {
        char c = s->line.ptr[s->at++];
        if (c == '\'' || c == '"') {
            take_quoted(s, c);
        } else if (c == '\\') {
            s->problem = s->at < s->line.len ? s->problem : "a single \\ stands at the end";
            *s->to++ = s->at < s->line.len ? s->line.ptr[s->at++] : 0;
        } else if (c == 0 || strchr("|&;<>()$`*?[]{}#!~\n\r", c)) {
            s->problem = "there is no shell: | & ; < > ( ) $ ` * ? [ ] { } # ! ~ and line ends must stand in quotes, "
                         "and are then passed on as they are";
        } else {
            *s->to++ = c;
        }
    }
    *s->to++ = 0;
}

enum status command_line_split(struct arena *arena, struct slice line, const char *const **out, struct failure *failure)
{
    struct splitting s = {.line = line, .to = arena_bytes(arena, 2 * line.len + 2)};
    const char **words = arena_array(arena, WORDS_MAX + 1, sizeof *words);
    size_t count = 0;
    s.problem = line.len && memchr(line.ptr, 0, line.len) ? "it holds a zero byte" : NULL;
    while (!s.problem) {
        while (s.at < line.len && is_space(line.ptr[s.at])) {
            s.at++;
        }
        if (s.at >= line.len) {
            break;
        }
        if (count == WORDS_MAX) {
            s.problem = "it has more than 512 words";
            break;
        }
        words[count++] = s.to;
        take_word(&s);
    }
    s.problem = !s.problem && (count == 0 || !words[0][0]) ? "it is empty" : s.problem;
    *out = words;
    return s.problem ? failure_set(failure, STATUS_INVALID, "invalid_command", "The command is refused: %s.", s.problem)
                     : STATUS_OK;
}

bool command_line_is_allowed(struct slice line, const struct slice *allowed, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (agent_glob_matches(allowed[i], line)) {
            return true;
        }
    }
    return false;
}
