/* What the output of a step must be: named fields with types, and what people must see before it is kept.
 *
 *     {"fields": {"summary": "string", "score": "number"}, "required": ["summary"]}
 *
 * Without `required` every field is. Members of an output that the contract does not name are kept in the result of the
 * session and written nowhere. */
#ifndef DOMAIN_CONTRACT_H
#define DOMAIN_CONTRACT_H

#include "base/arena.h"
#include "base/json.h"
#include "base/enum_names.h"

enum field_type {
    FIELD_IS_ANY,
    FIELD_IS_STRING,
    FIELD_IS_NUMBER,
    FIELD_IS_INTEGER,
    FIELD_IS_BOOLEAN,
    FIELD_IS_OBJECT,
    FIELD_IS_LIST,
    FIELD_TYPES
};
extern const struct enum_names field_type_enum;

enum { CONTRACT_FIELDS_MAX = 64, CONTRACT_NAME_BYTES_MAX = 64 };

/* Is it a contract? Absent or null is none. */
MUST_CHECK enum status contract_check(const struct json *contract, struct failure *failure);
/* Does the output keep it? INVALID (`output_contract`) names the first field that is missing or of another type.
 * Without a contract everything does. */
MUST_CHECK enum status contract_enforce(const struct json *contract, const struct json *output,
                                        struct failure *failure);
/* The fields of the output that the contract names, as an object, and their names as a list; both absent when there is
 * none. In the arena. */
struct contract_yield {
    struct slice fields, names;
};
struct contract_yield contract_yield(struct arena *arena, const struct json *contract, const struct json *output);

/* --- criteria: what an output may not choose ---
 *
 *     {"risk": {"options": {"low": {"score": 1}, "high": {"score": 0, "flag": true}, "fatal": {"hard_block": true}}}}
 *
 * A dimension looks at the field of its name; one without options looks at nothing. */
MUST_CHECK enum status criteria_check(const struct json *criteria, struct failure *failure);
/* Is each about a field of the contract, when there is one? */
MUST_CHECK enum status criteria_check_fields(const struct json *criteria, const struct json *contract,
                                             struct failure *failure);
struct safety {
    bool ok;
    struct slice dimension, option; /* what blocks it, the first one */
    int64_t score;                  /* of what it chose, summed */
    struct slice flags;             /* JSON list of the dimensions whose choice is marked; in the arena */
};
struct safety criteria_evaluate(struct arena *arena, const struct json *criteria, const struct json *output);

#endif
