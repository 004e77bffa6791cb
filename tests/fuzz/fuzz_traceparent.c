/* What is accepted can be written, and read as the same. */
#include "wire/traceparent.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct traceparent trace, again;
    char text[TRACEPARENT_TEXT_BYTES];
    if (traceparent_parse(slice_from(data, size), &trace)) {
        traceparent_format(&trace, text);
        CHECK(strlen(text) == TRACEPARENT_TEXT_BYTES - 1);
        CHECK(memcmp(text + 2, data + 2, sizeof text - 3) == 0);
        CHECK(traceparent_parse(slice_of(text), &again) && memcmp(&trace, &again, sizeof trace) == 0);
    }
    return 0;
}
