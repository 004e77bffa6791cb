/* An agent by script: each turn calls a tool for which it needs a person's approval, says what came of it, and ends.
 * Each of these three steps is a transaction of its own. */
#ifndef TESTS_CRASH_TALKER_H
#define TESTS_CRASH_TALKER_H

#include "runner/driver.h"

extern const struct driver talker;

#endif
