/* Durable timers: what happens when one is due. */
#ifndef SERVICE_TIMER_H
#define SERVICE_TIMER_H

#include "service/session/session.h"

/* Fires one due timer as the server itself and removes it. A timer whose reason is gone does nothing. */
MUST_CHECK enum status timer_fire(struct call *call, const struct timer *timer);

#endif
