/* An agent by script: each turn calls a tool for which it needs a person's approval, and then says a word. Every step is
 * durable before the next begins. */
#ifndef TESTS_CRASH_TALKER_H
#define TESTS_CRASH_TALKER_H

#include "runner/driver.h"

extern const struct driver talker;

#endif
