#include "fuzz_model.h"
#include "wire/openai.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    return fuzz_wire(&openai_wire, data, size);
}
