from __future__ import annotations

from toolkit.entities import ConfigError, ConfigProblem


def problem(file: str = "feeds/a.yaml", line: int = 3, hint: str = "") -> ConfigProblem:
    return ConfigProblem(file=file, line=line, column=7 if line else 0, rule="bad-value", message="found x", hint=hint)


def test_a_problem_reads_like_a_compilers() -> None:
    assert str(problem(hint="use y")) == "feeds/a.yaml:3:7: bad-value: found x; use y"
    assert str(problem(line=0)) == "feeds/a.yaml: bad-value: found x"


def test_the_error_has_every_problem_once_and_sorted() -> None:
    error = ConfigError(problems=[problem("b.yaml"), problem("a.yaml", 10), problem("a.yaml", 9), problem("b.yaml")])
    assert [(each.file, each.line) for each in error.problems] == [("a.yaml", 9), ("a.yaml", 10), ("b.yaml", 3)]
    assert str(error).startswith("the config repo has 3 problems:\na.yaml:9:7: ")


def test_a_flood_of_problems_is_cut_in_the_text_only() -> None:
    error = ConfigError(problems=[problem(line=line) for line in range(1, 301)])
    assert len(error.problems) == 300
    assert str(error).endswith("... and 200 more")
