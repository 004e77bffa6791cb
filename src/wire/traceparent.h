/* The W3C Trace Context header "traceparent": taken from a request, passed on with a span of our own. */
#ifndef WIRE_TRACEPARENT_H
#define WIRE_TRACEPARENT_H

#include "base/id.h"
#include "base/status.h"

enum { TRACEPARENT_TEXT_BYTES = 56, TRACEPARENT_SAMPLED = 1 };

struct traceparent {
    unsigned char trace_id[16];
    unsigned char parent_id[8];
    unsigned char flags;
};

/* False, with *out untouched, when the header is malformed; the standard then asks for a new trace. Later versions are
 * read as far as version 00 goes. */
MUST_CHECK bool traceparent_parse(struct slice text, struct traceparent *out);
/* "00-TRACE-PARENT-FLAGS", zero-terminated. */
void traceparent_format(const struct traceparent *trace, char out[TRACEPARENT_TEXT_BYTES]);
/* The same trace with a fresh parent id: what we send onwards. */
void traceparent_child(const struct traceparent *trace, struct id_source *ids, struct traceparent *out);

#endif
