#!/usr/bin/env python3
"""Turns store/sql/*.sql into sql.h (names, parameters, columns) and sql.c (texts).

A statement file holds blocks:
    -- parameters: i64               the types of parameters: of all files in parameters.sql, else of this file
    -- name: session_by_id           the statement for both engines
    -- name: session_by_id (sqlite)  or one block per engine, side by side
    -- name: event_read of event     statements of one family share the struct of their parameters
    -- fragment: session_columns     text that statements take in with {session_columns}
A schema file (schema_ENGINE.sql) holds append-only migrations:
    -- migration: 1 initial

In a statement `:name` is a parameter, `:name[2]` an element of one that is an array, `:session.name` a field of the
session given as `session` (the rows of domain/session_fields.c), and {SESSION_PENDING} an enumerator of a header.
"""
import argparse
import re
import sys
from pathlib import Path

ENGINES = ("sqlite", "postgres")
HEADING = re.compile(r"^-- (name|fragment|migration|parameters): *(\S+) *(.*)$")
LITERAL = r"'[^']*'"
PARAMETER = re.compile(LITERAL + r"|(?<!:):([a-z_]\w*)(?:\.([a-z_]\w*)|\[(\d)\])?")
# kind in sql_values.h, type in C
TYPES = {
    "i64": ("SQL_I64", "int64_t "),
    "i64?": ("SQL_OPTIONAL", "struct sql_optional "),
    "bool": ("SQL_BOOL", "bool "),
    "text": ("SQL_TEXT", "struct slice "),
    "bytes": ("SQL_BYTES", "struct slice "),
    "session": ("SQL_SESSION", "const struct session *"),
}
SESSION_KEY = -1  # as a field of a session: the key, which is not in the table of fields


class Mistake(Exception):
    pass


# --- reading ---


def blocks(path):
    """Yields (kind, name, rest of the heading, text) for every block of a file."""
    heading, lines = None, []
    for line in path.read_text(encoding="utf-8").splitlines():
        match = HEADING.match(line)
        if match:
            if heading:
                yield (*heading, "\n".join(lines).strip())
            heading, lines = match.groups(), []
        elif heading and not line.lstrip().startswith("--"):
            lines.append(line.rstrip())
        elif line.strip() and not line.lstrip().startswith("--"):
            raise Mistake(f"{path.name}: text before the first heading: {line}")
    if heading:
        yield (*heading, "\n".join(lines).strip())


class Statement:
    def __init__(self, name, file, family):
        self.name, self.file, self.family = name, file, family
        self.texts = {}


def read_heading(name, rest):
    match = re.fullmatch(r"(?:of (\w+))? *(?:\((\w+)\))?", rest)
    if not match or match[2] not in (None, *ENGINES):
        raise Mistake(f"{name}: unknown heading {rest}")
    return match[1], (match[2],) if match[2] else ENGINES


def put_texts(name, texts, engines, text):
    for engine in engines:
        if engine in texts:
            raise Mistake(f"{name} stands twice for {engine}")
        texts[engine] = text.rstrip(";")


def put_types(types, file, kind, names):
    """Types of parameters.sql are those of all files, and no file says otherwise."""
    scope = "" if file == "parameters" else file
    if kind not in TYPES:
        raise Mistake(f"{file}: unknown type {kind}")
    for name in names:
        if name in types.setdefault(scope, {}) or name in types.get("", {}):
            raise Mistake(f"{file}: the type of {name} stands twice")
        types[scope][name] = kind


def read_statements(paths):
    statements, fragments, types = {}, {}, {"": {}}
    for path in sorted(paths, key=lambda path: path.stem != "parameters"):
        for kind, name, rest, text in blocks(path):
            if kind == "parameters":
                put_types(types, path.stem, name, text.split())
                continue
            family, engines = read_heading(name, rest)
            if kind == "name":
                statement = statements.setdefault(name, Statement(name, path.stem, family))
                if statement.family != family:
                    raise Mistake(f"{name}: of two families")
                put_texts(name, statement.texts, engines, text)
            elif kind == "fragment":
                put_texts(name, fragments.setdefault(name, {}), engines, text)
            else:
                raise Mistake(f"{path.name}: unexpected heading {kind}")
    return statements, fragments, types


def read_migrations(path):
    found = []
    for kind, number, rest, text in blocks(path):
        if kind != "migration" or int(number) != len(found) + 1:
            raise Mistake(f"{path.name}: expected migration {len(found) + 1}, found {kind} {number}")
        found.append((int(number), rest, text))
    return found


def enumerators(text):
    """(name, number) of the enums of a C header whose values are plain: sql.c asserts those that are used."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for body in re.findall(r"\benum\b[^;{}]*\{([^{}]*)\}", text):
        known, number = {}, -1
        for item in filter(None, (item.strip() for item in body.split(","))):
            name, _, value = (part.strip() for part in item.partition("="))
            number = known.get(value, int(value) if value.isdigit() else None) if value else number + 1
            if number is None:
                break  # an expression: nothing that stands in a row
            known[name] = number
            yield name, number


class Enums:
    """Every enumerator of the headers, and which of them SQL names."""

    def __init__(self, headers, root):
        self.numbers, self.headers, self.used = {}, {}, {}
        for header in headers:
            for name, number in enumerators(header.read_text(encoding="utf-8")):
                self.numbers.setdefault(name, set()).add(number)
                self.headers[name] = header.relative_to(root).as_posix()

    def number(self, name):
        if len(self.numbers.get(name, ())) != 1:
            raise Mistake(f"{{{name}}}: no enumerator of this name in the headers, or several")
        self.used[name] = next(iter(self.numbers[name]))
        return str(self.used[name])


# --- texts ---


def expand(text, engine, fragments, enums, depth=0):
    def replace(match):
        name = match.group(1)
        if name.isupper():
            return enums.number(name)
        if engine not in fragments.get(name, {}) or depth > 8:
            raise Mistake(f"no fragment {name} for {engine}")
        return expand(fragments[name][engine], engine, fragments, enums, depth + 1)

    return re.sub(r"\{([A-Za-z_][A-Za-z_0-9]*)\}", replace, text)


def parameters_of(text):
    """(name, field of a session, element of an array) in the order of their first appearance."""
    found = (match.groups() for match in PARAMETER.finditer(text) if match[1])
    return list(dict.fromkeys((name, field, int(index) if index else None) for name, field, index in found))


def number_parameters(text, engine, order):
    sign = "?" if engine == "sqlite" else "$"  # to SQLite $1 is a name; ?1 is the number

    def replace(match):
        name, field, index = match.groups()
        return f"{sign}{order.index((name, field, int(index) if index else None)) + 1}" if name else match[0]

    return PARAMETER.sub(replace, text)


def without_literals(text):
    return re.sub(LITERAL, "''", text)


def is_write(text):
    plain = re.sub(r"\b(DO|FOR( NO KEY)?) UPDATE\b", "", without_literals(text))
    return bool(re.search(r"\b(INSERT (OR IGNORE )?INTO|UPDATE|DELETE FROM)\b", plain))


def split_list(text):
    """Splits at commas outside of parentheses, up to the FROM of the statement or its end."""
    parts, depth, start = [], 0, 0
    for match in re.finditer(LITERAL + r"|[(),]|\bFROM\b|\bLIMIT\b", text):
        sign = match[0]
        depth += (sign == "(") - (sign == ")")
        if depth < 0 or (depth == 0 and sign in ("FROM", "LIMIT")):
            text = text[: match.start()]
            break
        if depth == 0 and sign == ",":
            parts.append(text[start : match.start()])
            start = match.end()
    return [" ".join(part.split()) for part in [*parts, text[start:]]]


def column_names(items):
    """The names of columns, or None when one has none or two have the same."""
    names = [re.search(r"(?:^|\.|\bAS )([a-z_]\w*)$", item) for item in items]
    names = [match[1] for match in names if match]
    return names if len(names) == len(items) == len(set(names)) else None


def result_columns(text):
    match = re.search(r"\bRETURNING\b", text) or re.match(r"SELECT\b(?! DISTINCT)", text)
    return column_names(split_list(text[match.end() :])) if match else None


def literal(text):
    if text is None:
        return "NULL"
    lines = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    escaped = (line.replace("\\", "\\\\").replace('"', '\\"') for line in lines)
    return "\n        ".join(f'"{line}\\n"' for line in escaped)


class Program:
    """All statements with their texts, parameters and columns worked out."""

    def __init__(self, paths, enums, session_fields):
        self.statements, self.fragments, self.types = read_statements(paths)
        self.enums, self.session_fields = enums, session_fields
        for statement in self.statements.values():
            self.work_out(statement)
        self.fragment_columns = {name: self.columns_of(name) for name in self.fragments if name.endswith("_columns")}
        self.families = {}
        for statement in self.statements.values():
            members = self.families.setdefault(statement.family or statement.name, {})
            for name, field, index in statement.parameters:
                kind = self.type_of(statement, name)
                if members.setdefault(name, [kind, 0])[0] != kind:
                    raise Mistake(f"{statement.name}: {name} has another type than in its family")
                members[name][1] = max(members[name][1], 0 if index is None else index + 1)

    def columns_of(self, fragment):
        """The names of the columns of a fragment, the same on both engines."""
        texts = [expand(text, engine, self.fragments, self.enums) for engine, text in self.fragments[fragment].items()]
        names = [column_names(split_list(text)) for text in texts]
        if any(found != names[0] for found in names):
            raise Mistake(f"{fragment}: the engines have different columns")
        return names[0]

    def work_out(self, statement):
        full = {e: expand(text, e, self.fragments, self.enums) for e, text in statement.texts.items()}
        orders = {engine: parameters_of(text) for engine, text in full.items()}
        order = orders.get("postgres", orders.get("sqlite"))  # as unnest has them there
        if any(set(other) != set(order) for other in orders.values()):
            raise Mistake(f"{statement.name}: the engines take different parameters")
        if len({is_write(text) for text in full.values()}) != 1:
            raise Mistake(f"{statement.name}: only one engine writes")
        columns = [result_columns(text) for text in full.values()]
        statement.columns = columns[0] if all(found == columns[0] for found in columns) else None
        statement.parameters, statement.writes = order, is_write(next(iter(full.values())))
        statement.full = {e: number_parameters(text, e, order) for e, text in full.items()}

    def type_of(self, statement, name):
        kind = self.types[""].get(name) or self.types.get(statement.file, {}).get(name)
        if not kind:
            raise Mistake(f"{statement.name}: no type of the parameter {name}")
        return kind

    def field_number(self, field):
        if field == "key":
            return SESSION_KEY
        if field not in self.session_fields:
            raise Mistake(f"a session has no field {field}")
        return self.session_fields.index(field)


# --- writing ---


def struct(family, members):
    lines = [f"struct sql_{family} {{"]
    for name, (kind, length) in members.items():
        lines.append(f"    {TYPES[kind][1]}{name}{f'[{length}]' if length else ''};")
    return [*lines, "} SQL_NAMED;"]


def call_macro(program, statement):
    """sql_NAME(.parameter = value, …): the statement with all its values."""
    name = statement.name
    if statement.family:
        return []
    if not statement.parameters:
        return [f"#define sql_{name}() ((struct sql_call){{SQL_{name.upper()}, NULL}})"]
    return [f"#define sql_{name}(...) \\",
            f"    SQL_CALL(SQL_{name.upper()}, sql_{name}, {len(program.families[name])}, __VA_ARGS__)"]


def column_enum(prefix, names):
    names = [f"{prefix}_COLUMN_{name.upper()}" for name in [*names, "count"]]
    return ["enum { " + ", ".join(names) + " };"]


def column_enums(program):
    """Of fragments called x_columns, and of statements with a list of their own, or families that agree on one."""
    lists = {name.removesuffix("_columns"): columns for name, columns in program.fragment_columns.items() if columns}
    own = {}
    for statement in program.statements.values():
        if statement.columns not in lists.values():
            own.setdefault(statement.family or statement.name, []).append(statement.columns)
    lists |= {name: found[0] for name, found in own.items() if found[0] and all(each == found[0] for each in found)}
    return [line for name, columns in lists.items() for line in column_enum(name.upper(), columns)]


def header(program):
    lines = ["/* Generated by tools/sql_to_c.py from store/sql. */", "#ifndef STORE_SQL_H", "#define STORE_SQL_H", "",
             '#include "store/sql_values.h"', "", "enum sql {"]
    lines += [f"    SQL_{name.upper()}," for name in program.statements] + ["    SQL_COUNT", "};", ""]
    lines += ["/* A statement with its values. Borrows them. */", "struct sql_call {", "    enum sql sql;",
              "    const void *values; /* the struct of the statement or its family; NULL = it has no parameters */",
              "};", "", "struct sql_text {", "    const char *name;", "    bool writes;", "    int parameter_count;",
              "    const struct sql_parameter *parameters;",
              "    const char *sqlite; /* NULL = not used on this engine */", "    const char *postgres;", "};", "",
              "struct sql_migration {", "    int number;", "    const char *name;", "    const char *text;", "};", "",
              "extern const struct sql_text sql_texts[SQL_COUNT];"]
    for engine in ENGINES:
        lines.append(f"extern const struct sql_migration sql_migrations_{engine}[]; /* ends with number 0 */")
    shared = {statement.family for statement in program.statements.values()}
    for family, members in program.families.items():
        lines += ["", *struct(family, members)] if members else []
        if members and family in shared:
            lines += [f"#define sql_{family}(which, ...) SQL_CALL(which, sql_{family}, {len(members)}, __VA_ARGS__)"]
        elif members:
            lines += call_macro(program, program.statements[family])
    for statement in program.statements.values():
        lines += call_macro(program, statement) if not statement.parameters else []
    return "\n".join([*lines, "", *column_enums(program), "", "#endif", ""])


def parameter_table(program, statement):
    """Where the values of a statement are in its struct."""
    family = statement.family or statement.name
    lines = [f"static const struct sql_parameter {statement.name}_parameters[] = {{"]
    for name, field, index in statement.parameters:
        kind = TYPES[program.type_of(statement, name)][0]
        member = name if index is None else f"{name}[{index}]"
        if (kind == "SQL_SESSION") != (field is not None):
            raise Mistake(f"{statement.name}: {name} is a session, or has no fields")
        number = program.field_number(field) if field else 0
        lines.append(f'    {{"{field or member}", {kind}, {number}, offsetof(struct sql_{family}, {member})}},')
    return [*lines, "};", ""]


def source(program, migrations):
    enums = program.enums
    headers = sorted({enums.headers[name] for name in enums.used})
    lines = ['#include "store/sql.h"', "", "#include <assert.h>", "#include <stddef.h>", ""]
    lines += [f'#include "{name}"' for name in headers] + [""]
    lines += [f'static_assert({name} == {number}, "read from its header");' for name, number in enums.used.items()]
    lines.append("")
    for statement in program.statements.values():
        lines += parameter_table(program, statement) if statement.parameters else []
    lines.append("const struct sql_text sql_texts[SQL_COUNT] = {")
    for statement in program.statements.values():
        table = f"{statement.name}_parameters" if statement.parameters else "NULL"
        writes = "true" if statement.writes else "false"
        lines.append(f'    {{"{statement.name}", {writes}, {len(statement.parameters)}, {table},\n'
                     f'        {literal(statement.full.get("sqlite"))},\n'
                     f'        {literal(statement.full.get("postgres"))}}},')
    lines.append("};")
    for engine in ENGINES:
        lines += ["", f"const struct sql_migration sql_migrations_{engine}[] = {{"]
        lines += [f'    {{{number}, "{name}",\n        {literal(text)}}},' for number, name, text in migrations[engine]]
        lines += ["    {0, NULL, NULL},", "};"]
    return "\n".join([*lines, ""])


def headers_of(source):
    return sorted(path for room in ("domain", "store") for path in (source / room).rglob("*.h"))


def fields_of(source):
    """The file with the table of a session's fields."""
    return next((source / "domain").rglob("session_fields.c"))


def program_of(source, paths):
    """The statements of the files, with what the sources in the folder SOURCE say about them."""
    fields = re.findall(r'^    \{"(\w+)", FIELD_', fields_of(source).read_text(encoding="utf-8"), re.M)
    statements = [path for path in paths if not path.stem.startswith("schema_")]
    return Program(statements, Enums(headers_of(source), source), fields)


def write_changed(path, text):
    """Most changes of a header change no number: what is made of this file stays as it is."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--source", type=Path, required=True, help="the folder that includes are written from")
    options.add_argument("--depfile", type=Path, required=True)
    options.add_argument("out_header", type=Path)
    options.add_argument("out_source", type=Path)
    options.add_argument("inputs", type=Path, nargs="+")
    given = options.parse_args()
    source_folder = given.source.resolve()
    program = program_of(source_folder, given.inputs)
    schemas = {path.stem.removeprefix("schema_"): path for path in given.inputs if path.stem.startswith("schema_")}
    migrations = {engine: read_migrations(schemas[engine]) for engine in ENGINES}
    write_changed(given.out_header, header(program))
    write_changed(given.out_source, source(program, migrations))
    needed = " ".join(str(path) for path in [*headers_of(source_folder), fields_of(source_folder)])
    given.depfile.write_text(f"{given.out_header} {given.out_source}: {needed}\n", encoding="utf-8")


if __name__ == "__main__":
    try:
        main()
    except Mistake as mistake:
        sys.exit(f"sql_to_c: {mistake}")
