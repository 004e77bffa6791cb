/* A path that a call names, as every rule may mean it: as the agent sees it, relative to its tree, and as it is called
 * on this machine. One place reads the paths of all drivers. Pure: links are followed elsewhere (runner/tool/path.h),
 * and what they lead to is one more path of the call. */
#ifndef DOMAIN_CALL_PATH_H
#define DOMAIN_CALL_PATH_H

#include "base/arena.h"

/* Where a call works. Absolute; each may be absent. */
struct call_place {
    struct slice directory; /* where relative paths start, as the agent sees it */
    struct slice inside;    /* the top of the tree, as the agent sees it */
    struct slice outside;   /* the same on this machine */
};

enum { CALL_PATH_BYTES_MAX = 4096, CALL_PATH_SPELLINGS = 3 };

struct call_path {
    struct slice spellings[CALL_PATH_SPELLINGS]; /* the agent's own first */
    size_t count;
    struct slice relative; /* to the tree; absent outside of it */
    struct slice walked;   /* absolute, ".." and links still in it: what the kernel would be asked for */
    bool is_named;         /* a member that is a path; otherwise a text that may be one, which only tightens */
    bool is_known;         /* false: it leads where only the kernel or a shell can tell (/proc, ~) */
    bool is_direct;        /* false: ".." stands in it, which a link before it may lead elsewhere */
};

/* file:… */
bool call_path_is_url(struct slice text);
/* False when the text cannot be a path. Slices live in the arena. */
bool call_path_read(struct arena *arena, const struct call_place *place, struct slice text, struct call_path *out);
/* Without empty parts, "." and a slash at the end. */
struct slice call_path_clean_pattern(struct arena *arena, struct slice pattern);
/* For rules that tighten: any spelling, in any case, or anything below what the pattern names. */
bool call_path_may_match(struct slice pattern, const struct call_path *path);
/* For rules that allow: `pattern` begins with "/" and is compared with absolute spellings, or is about the tree. */
bool call_path_matches(struct slice pattern, const struct call_path *path);

#endif
