/* The drivers of agents that this server runs, made from its options. */
#ifndef MAIN_DRIVERS_H
#define MAIN_DRIVERS_H

#include "main/options.h"
#include "runner/driver.h"

struct drivers;
struct provider_options;

/* The options must live as long. */
struct drivers *drivers_new(const struct options *options);
/* When the turns have stopped, which closes each driver. */
void drivers_free(struct drivers *drivers);
/* It listens there ("http://127.0.0.1:8080"): sandboxes reach it at the first such address, unless an option says
 * where.
 */
void drivers_listen(struct drivers *drivers, const char *address);
/* How providers of models are reached; lives as long as the drivers. */
const struct provider_options *drivers_providers(const struct drivers *drivers);
/* NULL where this server has none of that kind. */
const struct driver *drivers_of(const struct drivers *drivers, enum agent_driver kind);

#endif
