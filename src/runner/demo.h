/* The demo: a scripted agent without any model, so that a newcomer sees a living session at once. It says in every turn
 * that it is a demo. */
#ifndef RUNNER_DEMO_H
#define RUNNER_DEMO_H

#include "runner/script.h"

extern const struct script demo_script;
/* Plays this script, which must live as long. */
struct driver demo_driver(const struct script *script);

#endif
