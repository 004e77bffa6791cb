#include "domain/tool_spec.h"

const struct tool_spec *tool_spec_find(struct slice name)
{
    for (int id = 0; id < TOOL_COUNT; id++) {
        if (slice_is(name, tool_specs[id].name)) {
            return &tool_specs[id];
        }
    }
    return NULL;
}
