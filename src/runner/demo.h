/* The demo: a scripted agent without any model, so that a newcomer sees a living session at once. It says in every turn
 * that it is a demo. */
#ifndef RUNNER_DEMO_H
#define RUNNER_DEMO_H

#include "runner/script.h"

extern const struct script demo_script;
extern const struct driver demo_driver;

#endif
