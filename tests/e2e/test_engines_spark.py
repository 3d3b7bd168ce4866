"""The engines of Spark, on a real one."""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.e2e.spark_site import SETTINGS, SparkSite
from tests.unit.programs.calls import LOCAL, never
from toolkit.entities import Credential, Engine, SparkAttributes, Workflow
from toolkit.programs.left_over import processes_of
from toolkit.programs.opening import ENGINES, opened_engines
from toolkit.programs.port import StepCall, StepEnd, StepMark
from toolkit.runs.errors import Stopped

pytestmark = pytest.mark.slow

NASTY = "ab'\"`\\;-/*\n\r\t${}u0 é\u2028\U0001f600%_"


@pytest.fixture(scope="module")
def sharing(java_home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSite]:
    """The engines of a run, whose steps share an application."""
    with opened_engines() as engines:
        yield SparkSite(engines=engines, directory=tmp_path_factory.mktemp("shared"), java_home=java_home)


@pytest.fixture(params=[pytest.param("own", marks=pytest.mark.extended), "shared"])
def site(request: pytest.FixtureRequest, java_home: Path, tmp_path: Path) -> SparkSite:
    """A site whose steps of SQL have applications of their own, or share one."""
    if request.param == "own":
        return SparkSite(engines=ENGINES, directory=tmp_path, java_home=java_home)
    found: SparkSite = request.getfixturevalue("sharing")
    return found


def call_of(directory: Path, java_home: Path, engine: Engine, script: str, **changes: object) -> StepCall:
    site = SparkSite(engines=ENGINES, directory=directory, java_home=java_home)
    return site.call(script, engine=engine, **changes)


def run(call: StepCall) -> tuple[StepEnd, list[StepMark]]:
    marks: list[StepMark] = []
    return ENGINES[call.engine].run(call, marks.append, never), marks


def test_no_text_of_a_property_leaves_its_place_in_sql(site: SparkSite, tmp_path: Path) -> None:
    """The oracle is Spark itself: what it read of each text, as a string and as a name."""
    rng = random.Random(15)  # noqa: S311 - texts, not keys
    values = ["'; DROP TABLE x; --", "\\", "\\'", "${env:HOME}", "*/", "\\u0041", "`", "``", "\\%"]
    values += ["".join(rng.choices(NASTY, k=rng.randint(1, 12))) for _ in range(40)]
    properties = {f"p{number}": value for number, value in enumerate(values)}
    names = [f"'${{{name}}}' AS a{name}, \"x${{{name}}}\" AS b{name}" for name in properties]
    named = ", ".join(f"1 AS `{name}:${{{name}}}`" for name in properties)
    script = f"""-- ${{unknown}} ; in a comment
SET spark.sql.variable.substitute=true;
INSERT OVERWRITE DIRECTORY '${{out}}/texts' USING json SELECT {", ".join(names)};
INSERT OVERWRITE DIRECTORY '${{out}}/names' USING json SELECT {named}
"""
    out = {"out": str(tmp_path / "out 'put'")}

    end, marks = site.run(site.call(script, properties={**properties, **out}))

    assert end.succeeded, end
    assert (end.application or "").startswith("local-")
    assert marks == [StepMark(log=marks[0].log), StepMark(log=marks[0].log, application=end.application)]
    (text,) = _rows(tmp_path / "out 'put'" / "texts")
    assert [(text[f"ap{n}"], text[f"bp{n}"]) for n in range(len(values))] == [(each, f"x{each}") for each in values]
    (name,) = _rows(tmp_path / "out 'put'" / "names")
    assert set(name) == {f"{name}:{value}" for name, value in properties.items()}


@pytest.mark.extended
@pytest.mark.parametrize(
    ("statement", "message", "may_retry"),
    [
        ("SELECT nope FROM range(3)", "[UNRESOLVED_COLUMN.WITH_SUGGESTION]", False),
        ("SELECT * FROM json.`/no/such/path`", "[PATH_NOT_FOUND]", None),
    ],
)
def test_the_failing_statement_is_named_with_its_line(
    site: SparkSite, tmp_path: Path, statement: str, message: str, *, may_retry: bool | None
) -> None:
    script = f"SELECT 1;\n\n-- why\n{statement};\nINSERT OVERWRITE DIRECTORY '{tmp_path}/never' USING json SELECT 1"

    end, _ = site.run(site.call(script))

    assert end.exit_code == 1
    assert end.message.startswith("statement 2 of 3, line 4, failed: ")
    assert message in end.message
    assert end.may_retry is may_retry
    assert not (tmp_path / "never").exists()


APPLICATION = """
import json, os, sys
from pyspark.sql import SparkSession
session = SparkSession.builder.getOrCreate()
found = [sys.argv[1:], session.conf.get("spark.feedctl.x"), os.environ["clicks"], os.environ["PW"]]
open("said.json", "w").write(json.dumps(found))
print(found)
sys.exit(3)
"""


@pytest.mark.extended
def test_an_application_gets_its_arguments_settings_and_secrets_and_its_exit_code_counts(
    tmp_path: Path, java_home: Path
) -> None:
    (tmp_path / "pw").write_text("geheim\n")
    spark = SparkAttributes(conf={**SETTINGS, "spark.feedctl.x": "a b"}, args=("--at=${clicks}",))
    workflow = Workflow(spark=spark, secrets={"PW": Credential(file=str(tmp_path / "pw"))})
    call = call_of(
        tmp_path, java_home, Engine.SPARK_SUBMIT, APPLICATION, workflow=workflow, data=("/a,/b", "/o"),
        properties={"clicks": "it's; $HOME"},
    )  # fmt: skip
    script = tmp_path / "job.py"
    script.write_text(APPLICATION)

    end, _ = run(replace(call, path=str(script)))

    found = json.loads((tmp_path / "said.json").read_text())
    assert found == [["/a,/b", "/o", "--at=it's; $HOME"], "a b", "it's; $HOME", "geheim"]
    assert end.exit_code == 3
    assert "geheim" not in call.log.read_text()


@pytest.mark.extended
def test_a_stop_in_the_middle_of_a_script_ends_jvm_and_python(tmp_path: Path, java_home: Path) -> None:
    script = "SELECT max(sqrt(id)) FROM range(1000000000000)"
    call = call_of(tmp_path, java_home, Engine.SPARK_SQL, script, cluster=LOCAL)

    def check() -> None:
        if call.log.exists() and "Starting task" in call.log.read_text():
            raise Stopped(reason="received SIGTERM")

    begin = time.monotonic()
    with pytest.raises(Stopped):
        ENGINES[call.engine].run(call, lambda _mark: None, check)

    assert not processes_of(call.log)
    assert time.monotonic() - begin < 120


def _rows(directory: Path) -> list[dict[str, object]]:
    lines = (line for each in directory.glob("*.json") for line in each.read_text(encoding="utf-8").split("\n"))
    return [json.loads(line) for line in lines if line]
