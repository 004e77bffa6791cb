/* Regular expressions that cannot hang: matched by following all ways at once, in time proportional to text and
 * pattern. Known: . [a-z] [^a-z] \d \D \w \W \s \S \b ^ $ ( ) (?: ) | * + ? {m,n}; other characters after \ are
 * themselves, \t is a tab. Bytes, not characters, but for those that stand in the pattern as they are. */
#ifndef RUNNER_PATTERN_H
#define RUNNER_PATTERN_H

#include "base/arena.h"
#include "base/status.h"

struct pattern;

/* Lives in the arena. INVALID names the place of the mistake; TOO_LARGE beyond the limit of steps. */
MUST_CHECK enum status pattern_read(struct arena *arena, struct slice text, bool ignores_case, struct pattern **out,
                                    struct failure *failure);
/* Does the line (without its end) match anywhere? Not for two threads at once. */
bool pattern_matches(struct pattern *pattern, struct slice line);

#endif
