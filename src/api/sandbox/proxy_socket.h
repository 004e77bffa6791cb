/* A WebSocket through a tunnel: its frames pass as they came, both ways, until one side ends it. */
#ifndef API_PROXY_SOCKET_H
#define API_PROXY_SOCKET_H

#include "api/core/request.h"

/* Reader, or writer for a ticket. The service is asked once the exchange is back on its loop; its 101 is the answer. */
MUST_CHECK enum status proxy_socket_open(struct request *request);

#endif
