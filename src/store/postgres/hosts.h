/* The servers a URL names. libpq goes on to the next host only after some failures; here every failure counts: a host
 * that hangs up, a proxy without a server behind it, one that answers too late or only reads. */
#ifndef STORE_POSTGRES_HOSTS_H
#define STORE_POSTGRES_HOSTS_H

#include "base/arena.h"

struct host {
    const char *name, *address, *port; /* NULL = as the URL says */
};

struct hosts {
    struct arena texts;
    struct host *each;
    size_t count; /* at least 1 */
    size_t next;  /* to be tried first */
};

/* A URL that libpq cannot read has one host, itself: connecting tells what is wrong with it. */
void hosts_init(struct hosts *hosts, const char *url);
void hosts_release(struct hosts *hosts);

#endif
