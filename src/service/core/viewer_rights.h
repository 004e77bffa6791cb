/* Decides for the fanout who may watch what, and whether they still may. Reader threads. */
#ifndef SERVICE_VIEWER_RIGHTS_H
#define SERVICE_VIEWER_RIGHTS_H

#include "fanout/fanout.h"

/* A credential is revoked when its token, cookie or link is gone, or its user's role in the tenant has changed. */
extern const struct viewer_rights service_viewer_rights;

#endif
