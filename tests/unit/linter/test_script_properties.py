"""`${name}` in scripts: properties that only environments give, and how long a large script takes."""

from __future__ import annotations

import time

from tests.unit.linter.repos import lint_texts

SCRIPT = "workflows/hourly.sql"


def unknown(script: str, environment: str = "", names: tuple[str, ...] = ()) -> list[str]:
    texts = {SCRIPT: script, "repo.yaml": "name: a\nenvironments: [prod]\n", "environments/prod.yaml": environment}
    report = lint_texts(texts, environments=names, select=("unknown-property",))
    return [f"{each.line}:{each.column}" for each in report.findings]


def test_a_property_that_an_environment_gives_is_known_where_no_environment_is_looked_at() -> None:
    given = "entities: {hourly_job: {properties: {schema_of_prod: a}}}\n"
    script = "SELECT '${schema_of_prod}', '${counts}'"
    assert unknown(script, given) == []
    assert unknown(script, given, ("prod",)) == []
    assert unknown(script, "description: a\n") == unknown(script, "description: a\n", ("prod",)) == ["1:9"]


def test_a_script_full_of_unknown_names_takes_no_time_that_grows_with_the_square_of_it() -> None:
    began = time.process_time()
    assert len(unknown("SELECT ${nobody}\n" * 10_000)) == 10_000
    assert time.process_time() - began < 20  # minutes, when the lines above each name were counted for each
