"""Falcon's own examples, read by a reader of our own and compared with what was migrated, element by element."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element

import pytest
from defusedxml.ElementTree import parse

from tests.unit.migration.migrated import EXAMPLES, ONE_OF_EACH_NAME, Made, Noon, make
from toolkit.config_source import from_directory
from toolkit.linter.engine import LintRequest, lint
from toolkit.linter.findings import Severity
from toolkit.migration.draft import MigrationRefused, TextOutcome


def root_of(path: Path) -> Element:
    """The root of an XML file, by another parser."""
    root = parse(path).getroot()
    assert root is not None
    return root


ALL_EXAMPLES = {root_of(path).get("name", ""): path for path in ONE_OF_EACH_NAME}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("falcon") / "repo", *ONE_OF_EACH_NAME)


def test_lint_accepts_what_was_migrated(made: Made) -> None:
    report = lint(LintRequest(snapshot=from_directory(made.path), time=Noon().now()))
    assert [each for each in report.findings if each.severity is not Severity.INFO] == []
    assert made.migration.report.refused == ()
    output = [(each.target.file, each.target.line, each.rule) for each in made.migration.report.accepted]
    assert sorted(output) == sorted((e.finding.file, e.finding.line, e.finding.rule) for e in report.suppressed)


@pytest.mark.parametrize("name", ALL_EXAMPLES)
def test_each_entity_says_what_its_xml_says(made: Made, name: str) -> None:
    root = root_of(ALL_EXAMPLES[name])
    found = dict(made.document(name))
    expected = {"cluster": _cluster, "feed": _feed, "process": _process}[_tag(root)](root)
    if _tag(root) == "process":
        assert found["workflow"].pop("args", []) == [] or expected["workflow"]["engine"] == "command"
    assert found == {"kind": _tag(root), "name": name, **expected}


def _tag(element: Element) -> str:
    return element.tag.rpartition("}")[2]


def _all(element: Element, path: str) -> list[Element]:
    return element.findall("/".join(f"{{*}}{step}" for step in path.split("/")))


def _text(element: Element, path: str) -> str | None:
    found = _all(element, path)
    return found[0].text if found else None


def _filled(**values: Any) -> dict[str, Any]:  # noqa: ANN401 - a document
    return {key: value for key, value in values.items() if value not in (None, "", [], {})}


def _cluster(root: Element) -> dict[str, Any]:
    endpoints = {each.get("type", ""): dict(each.attrib) for each in _all(root, "interfaces/interface")}
    for each in endpoints.values():
        del each["type"]
        each["endpoint"] = each["endpoint"].replace("hftp://", "webhdfs://")
        each["endpoint"] = each["endpoint"].replace("tcp://localhost:61616?daemon=true", "stomp://localhost:61613")
    return _filled(
        colo=root.get("colo"),
        description=root.get("description"),
        interfaces=endpoints,
        locations={each.get("name"): each.get("path") for each in _all(root, "locations/location")},
    )


def _feed(root: Element) -> dict[str, Any]:
    (acl,), (schema,) = _all(root, "ACL"), _all(root, "schema")
    (late,) = _all(root, "late-arrival")
    is_made = root.get("name") in {"out", "hcat-out"}
    return _filled(
        description=root.get("description"),
        owner=acl.get("owner"),
        groups=(_text(root, "groups") or "").split(",") if _text(root, "groups") else None,
        frequency=_text(root, "frequency"),
        timezone=_text(root, "timezone"),
        path_timezone="UTC",
        late_arrival={"cut_off": late.get("cut-off")},
        clusters=[_on_cluster(each) for each in _all(root, "clusters/cluster")],
        **_storage(root),
        acl={"owner": acl.get("owner"), "group": acl.get("group"), "permission": "0644"},
        schema=dict(schema.attrib),
        external=None if is_made else True,
    )


def _storage(element: Element) -> dict[str, Any]:
    tables = [each.get("uri") for each in _all(element, "table")]
    return _filled(
        locations={each.get("type"): each.get("path") for each in _all(element, "locations/location")},
        table=tables[0] if tables else None,
    )


def _on_cluster(element: Element) -> dict[str, Any]:
    retention = _all(element, "retention")
    return _filled(
        name=element.get("name"),
        type=element.get("type"),
        validity=dict(_all(element, "validity")[0].attrib),
        retention=dict(retention[0].attrib) if retention else None,
        **_storage(element),
    )


WORKFLOWS = {
    "pig-process": {"engine": "command", "path": "workflows/pig-process.pig.sh"},
    "hcat-pig-process": {"engine": "command", "path": "workflows/hcat-pig-process.pig.sh"},
    "oozie-mr-process": {"engine": "command", "path": "workflows/oozie-mr-process.oozie.sh"},
    "hive-process": {"engine": "spark_sql", "path": "workflows/app/hive/wordcount.hql"},
}


_REMOVED = {"pig-process": {"prepare": "delete"}}
"""Outputs before a run: `prepare: delete` for a path, a to-do for a partition of a table."""


def _process(root: Element) -> dict[str, Any]:
    def named(path: str) -> dict[str, dict[str, str]]:
        return {
            each.get("name", ""): {key: value for key, value in each.attrib.items() if key != "name"}
            for each in _all(root, path)
        }

    return _filled(
        clusters=[_on_cluster(each) for each in _all(root, "clusters/cluster")],
        parallel=int(_text(root, "parallel") or ""),
        order=_text(root, "order"),
        frequency=_text(root, "frequency"),
        timezone=_text(root, "timezone"),
        inputs=named("inputs/input"),
        outputs={
            name: {**each, **_REMOVED.get(root.get("name", ""), {})} for name, each in named("outputs/output").items()
        },
        properties={each.get("name"): each.get("value") for each in _all(root, "properties/property")},
        workflow=WORKFLOWS[root.get("name", "")],
    )


def _all_texts(path: Path) -> set[tuple[str, str]]:
    """Each attribute and each text of a file, with the tag that it is in."""
    found = set()
    for each in root_of(path).iter():
        found |= {(f"{_tag(each)}@{name}", value.strip()) for name, value in each.attrib.items()}
        if (each.text or "").strip():
            found.add((_tag(each), (each.text or "").strip()))
    return found


@pytest.mark.parametrize("name", ALL_EXAMPLES)
def test_the_report_names_every_attribute_and_text(made: Made, name: str) -> None:
    path = ALL_EXAMPLES[name]
    sources = [each.source for each in made.migration.report.rows if each.file == str(path) and each.source]
    named = {(each.place.rpartition("/")[2].partition("[")[0] + _attribute(each.place), each.text) for each in sources}
    assert _all_texts(path) - named == set()


def _attribute(place: str) -> str:
    last = place.rpartition("/")[2]
    return "" if "[" not in last else last.partition("]")[2]


@pytest.mark.parametrize("name", ALL_EXAMPLES)
def test_lines_of_the_report_show_what_they_say(made: Made, name: str) -> None:
    path = ALL_EXAMPLES[name]
    lines, files = path.read_text().splitlines(), made.files()
    for row in (each for each in made.migration.report.rows if each.file == str(path)):
        if row.source is not None and row.outcome is not TextOutcome.DROPPED:
            assert row.source.text in lines[row.source.line - 1]
        if row.target is not None:
            key = row.target.key.rpartition(".")[2].partition("[")[0]
            assert row.target.line > 0
            text = files[row.target.file].decode().splitlines()[row.target.line - 1]
            assert key in text or text.lstrip().startswith("- ")


def test_two_entities_of_one_name_are_refused_with_both_places(tmp_path: Path) -> None:
    with pytest.raises(MigrationRefused) as refused:
        make(tmp_path / "repo", EXAMPLES)
    assert [(Path(each.file).name, each.line, each.rule) for each in refused.value.problems] == [
        ("standalone-cluster.xml", 24, "duplicate-name")
    ]
    assert "embedded-cluster.xml:32" in str(refused.value)
    assert not (tmp_path / "repo").exists()
