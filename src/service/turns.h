/* Runs the turns of an agent that lives inside the server. A claim of its own stands in the writer and takes what is
 * pending, in every tenant; a claimed turn then lives on one loop:
 *
 *     claim ─(commit)→ act, act, … ─(settle)→ over
 *        ▲               │ delta: published    │
 *        └───────────────┘ event: appended     └ a lost lease, a refused write: over too, without a word
 *
 * Every write goes through the writer under the turn's lease. A turn that dies with the process runs again when its
 * lease ran out, as any worker's would. */
#ifndef SERVICE_TURNS_H
#define SERVICE_TURNS_H

#include "runner/script.h"
#include "service/writer.h"

struct turns_options {
    struct service *service;
    struct writer *writer;
    struct fanout *fanout;
    struct loop *loop; /* where the turns live */
    const struct script *driver;
    int64_t turns_max; /* at a time */
};

struct turns;

struct turns *turns_new(const struct turns_options *options);
/* The writer and the loop are started, or will be. */
void turns_start(struct turns *turns);
/* Gives every claimed session back and waits until nothing of it is left in the writer and the loop, which must both
 * still run. Nothing when it was not started, or is NULL. */
void turns_stop(struct turns *turns);
void turns_free(struct turns *turns);

#endif
