#include "fuzz_model.h"
#include "wire/anthropic.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_wire(&anthropic_wire, data, size);
}
