/* Every call of git by the server is made here: what a repository says starts no program, reaches no network and asks
 * nobody. */
#ifndef RUNNER_GIT_CALL_H
#define RUNNER_GIT_CALL_H

#include "base/arena.h"
#include "base/status.h"

enum { GIT_WORDS_MAX = 256 };

struct git_call {
    struct arena *arena;
    const char *words[GIT_WORDS_MAX + 1]; /* NULL-ended */
    size_t count;
};

/* Words beyond GIT_WORDS_MAX are not added: callers bound what they add. */
void git_call_init(struct git_call *call, struct arena *arena, const char *verb);
void git_call_add(struct git_call *call, const char *word);
/* Copies. */
void git_call_add_text(struct git_call *call, struct slice word);

/* Protocols beside none. */
enum git_reach { GIT_STAYS, GIT_FETCHES, GIT_FETCHES_FILES };

/* Lists the names of all settings, each ended by a zero byte: what git_environment needs to know of a repository that
 * somebody else wrote. */
void git_call_init_names(struct git_call *call, struct arena *arena);

/* The variables of every call, `further` (NULL-ended; may be NULL) and, for each filter among the `names` of settings,
 * that it is none. NULL-ended; NULL when there are too many filters. */
const char *const *git_environment(struct arena *arena, enum git_reach reach, struct slice names,
                                   const char *const *further);

#endif
