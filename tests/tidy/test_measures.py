"""The table of measures in docs/architecture.md is what tools/measures.py counts."""
from harness import check, test
from harness.tree import read, report, table_rows
from tidy.test_tables import program

# Such measures move with every change, so the table names a bound: as many at least, or at most.
AT_LEAST = {"asserts", "asserts per thousand lines"}


@test
def test_measures_are_what_the_table_says():
    shown = {row[0]: row[2] for row in table_rows(read("docs/architecture.md"), "Measures")}
    counted = program("measures").measures()
    check.equal(sorted(shown), sorted(counted), "measures in docs/architecture.md")
    problems = []
    for name, value in counted.items():
        now, said = float(value), float(shown[name])
        if now < said if name in AT_LEAST else now > said:
            problems.append(f"{name}: {value}, and docs/architecture.md says {shown[name]}")
    report(problems, "measures that became worse")
