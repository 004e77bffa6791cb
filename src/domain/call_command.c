#include "domain/agent_fields.h"
#include "domain/call_subject.h"

bool call_command_matches(struct slice pattern, struct slice command)
{
    bool has_tail = pattern.len > 2 && pattern.ptr[pattern.len - 1] == '*' && pattern.ptr[pattern.len - 2] == ' ';
    return agent_glob_matches(pattern, command) ||
           (has_tail && agent_glob_matches(slice_from(pattern.ptr, pattern.len - 2), command));
}

bool call_line_is(struct slice pattern, const struct call_subject *about)
{
    return !memchr(pattern.ptr, '*', pattern.len) && slice_present(about->line) && slice_eq(pattern, about->line);
}

bool call_line_matches(struct slice pattern, const struct call_subject *about)
{
    size_t count = 0;
    for (size_t i = 0; about->has_command && i < about->command.count; i++) {
        const struct command_form *form = &about->command.forms[i];
        if (form->is_plain && !call_command_matches(pattern, form->exact)) {
            return false;
        }
        count += form->is_plain;
    }
    return count > 0 && about->command.is_certain;
}
