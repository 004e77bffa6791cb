/* The registry of sandboxes as the options ask for it, with outgoing HTTP for remote backends. */
#ifndef MAIN_SANDBOXING_H
#define MAIN_SANDBOXING_H

#include "main/options.h"
#include "runner/sandbox/sandboxes.h"

struct sandboxing;

/* `options` must outlive it. Tries once whether sandboxes work here. */
struct sandboxing *sandboxing_new(const struct options *options);
/* After every sandbox is gone and the loops have ended. */
void sandboxing_free(struct sandboxing *sandboxing);
struct sandboxes *sandboxing_registry(struct sandboxing *sandboxing);
/* On that loop's thread, before it ends: cuts calls of backends. */
void sandboxing_leave(struct sandboxing *sandboxing, struct loop *loop);

#endif
