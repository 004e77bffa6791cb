/* The first contact: what a server prints for the person who started it, and the token that lets commands of the same
 * account talk to it at once. */
#ifndef MAIN_ANNOUNCE_H
#define MAIN_ANNOUNCE_H

#include "main/options.h"
#include "service/identity/identity.h"

/* With `path`, and no file there: a token of the owner, in the transaction of the call; else *out_token is "". */
MUST_CHECK enum status owner_token_make(const char *path, struct call *call, char out_token[TOKEN_TEXT_BYTES]);
/* After the commit: writes the token, for the server's account only, and forgets it. */
MUST_CHECK enum status owner_token_keep(const char *path, char token[TOKEN_TEXT_BYTES], struct failure *failure);

/* To standard output: the address, the owner's one-time link where there is one, and what to type next. Says nothing
 * when there is neither a link nor a token file. */
void announce(const struct options *options, const char *address, const char *first_link);
/* Is it an address that announce tells? */
bool announce_is_for_browsers(const char *address);
/* The link alone, of a server that listens on unix sockets only: without a host unless the public address is told. */
void announce_socket(const struct options *options, const char *address, const char *first_link);

#endif
