/* Which addresses belong to the public internet. Whoever calls out for somebody else asks here about the address it is
 * about to connect to, not about the name: names change between two questions. Any thread. */
#ifndef NET_ADDRESS_H
#define NET_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

/* False for what is private, loopback, link-local, shared (carrier), documentation, benchmark, multicast, reserved or
 * unspecified, for every IPv4 address in IPv6 clothes but NAT64 of a public one, and for families other than IP. */
bool address_is_public(const struct sockaddr *address);
/* 127.0.0.0/8 and ::1. */
bool address_is_loopback(const struct sockaddr *address);

#endif
