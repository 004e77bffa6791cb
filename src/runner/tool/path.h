/* Where file tools may go, and how they get there without being led elsewhere. A path is resolved once by the kernel
 * (openat2: beneath the tree, no magic links); what it really names is then checked, and from there on no link is
 * followed any more: whoever swaps a directory for a link meanwhile gets a refusal, not another file.
 *
 * Blocks on the disk: never on a loop. */
#ifndef RUNNER_PATH_H
#define RUNNER_PATH_H

#include <sys/stat.h>

#include "base/arena.h"
#include "base/buffer.h"
#include "base/status.h"
#include "domain/agent.h"

enum path_use { PATH_READ, PATH_WRITE };

struct path_scope {
    enum fs_scope fs_scope; /* as the operator allows it */
    struct slice tree;      /* of the sandbox, absolute; absent = none */
    struct slice mount;     /* where the sandbox shows it to its processes; absent = the same place */
    struct slice workspace; /* project tier and wider, absolute; absent = none */
    struct slice hidden;    /* of the machine, refused in the full tier: the server's own files; absent = none */
    /* Asked when links made the path another one, and for what is found below it; NULL = nothing to ask. */
    bool (*allow)(const void *owner, struct slice meant, struct slice real);
    const void *owner;
};

/* A place in a tree: its directory, held open, and its name there ("." = the tree itself). */
struct resolved_path {
    int dir;
    struct slice name;
    struct slice real;  /* absolute, without links, on this machine */
    struct slice shown; /* as the agent knows it: relative to its tree, or absolute */
    bool exists;
    bool is_machine; /* reached from the top of the machine: full tier */
};

/* Without leading slashes, "." and empty parts; ".." takes one part away. False when it would leave the top, is too
 * long or holds a zero byte. */
MUST_CHECK bool path_clean(struct arena *arena, struct slice path, struct slice *out);
/* The absolute path a call means, cleaned of "." and "..", links not looked at: what permission rules are compared
 * with. The text itself when it makes no sense. */
struct slice path_absolute(struct arena *arena, const struct path_scope *scope, struct slice path);
/* FORBIDDEN: out of scope, protected, or led out by a link. NOT_FOUND: to be read and not there, or its directory is no
 * directory. With PATH_WRITE missing directories are made. Slices live in the arena. */
MUST_CHECK enum status path_find(struct arena *arena, const struct path_scope *scope, struct slice path,
                                 enum path_use use, struct resolved_path *out, struct failure *failure);
void resolved_path_close(struct resolved_path *spot);
/* The directory a session works in, links followed, when it then is one of `roots` or lies below one; else absent. */
struct slice path_project(struct arena *arena, const char *const *roots, size_t count, struct slice directory);

/* Where an absolute path of somebody in a sandbox leads, links followed as far as they are there: for comparing with
 * rules, not for opening. `tree` is what the sandbox shows at `mount`; absent = the machine itself. False when it is
 * too long or goes round in circles. */
MUST_CHECK bool path_follow(struct arena *arena, struct slice tree, struct slice mount, struct slice path,
                            struct slice *out);
/* A regular file, opened for reading; devices, pipes and sockets are refused without being opened. */
MUST_CHECK enum status path_open_file(const struct resolved_path *spot, int *out_fd, struct stat *out_stat,
                                      struct failure *failure);
/* A directory, for reading its entries. */
MUST_CHECK enum status path_open_directory(const struct resolved_path *spot, int *out_fd, struct failure *failure);
/* All of a file of at most `bytes_max`; text only: binary files are refused. */
MUST_CHECK enum status path_read_text(const struct resolved_path *spot, size_t bytes_max, struct buffer *out,
                                      struct stat *out_stat, struct failure *failure);
/* Replaces the file at once: readers see the old one or the new one. Keeps its permission bits. With `before` it is
 * refused (STALE) when the file is no longer the one that was read. */
MUST_CHECK enum status path_write(const struct resolved_path *spot, struct slice content, const struct stat *before,
                                  struct failure *failure);
/* Is it one of the server's own files? Asked of what is reached from the top of the machine. */
bool path_is_hidden(struct arena *arena, const struct path_scope *scope, struct slice real);
/* May a tool look into, or change, something of this name anywhere in a tree? */
bool path_is_protected(struct slice name, enum path_use use);

/* The regular file `name` of an open directory, for reading; -1 when it is anything else. Links are not followed. */
int path_open_entry(int dir, const char *name, struct stat *out_stat);

#endif
