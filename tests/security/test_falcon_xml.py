"""Against whoever wrote an entity in Falcon: a text becomes a value of the YAML and nothing else, or is refused."""

from __future__ import annotations

import tempfile
from pathlib import Path
from xml.sax.saxutils import quoteattr

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.unit.migration.migrated import cluster, feed, make_of, process
from toolkit.entities import Document
from toolkit.entities.yaml_loading import load_yaml
from toolkit.migration.draft import MigrationRefused
from toolkit.migration.yaml_writing import with_comments, yaml_text

XML_TEXT = st.text(
    st.characters(codec="utf-8", exclude_characters="\ufffe\uffff").filter(lambda each: each >= " " or each in "\t\n"),
    max_size=40,
)
NASTY = st.sampled_from(
    [
        "a: b",
        "- x",
        "#c",
        "'",
        '"',
        "\\",
        "!!python/object/apply:os.system [id]",
        "&a *a",
        "<<: *x",
        "---\n",
        "...\n",
        "no",
        "on",
        "null",
        "~",
        "0x10",
        "0o14",
        "1e3",
        "1_000",
        "12:30",
        "2026-01-01",
        "= ",
        "?",
        "key:\n  evil: true",
        "\u2028x: y",
        "\x85x: y",
        "\ufeff",
        "${x}",
        "%TAG",
        "@x",
        "`x`",
        "{a: b}",
        "[a]",
        "|",
        ">",
        " lead",
        "trail ",
        "\ttab",
    ]
)
ANY = st.one_of(XML_TEXT, NASTY, st.builds("{}{}".format, NASTY, XML_TEXT))


@settings(deadline=None)
@given(st.dictionaries(ANY, ANY, max_size=5))
@example({"a": "x" * 5000})
def test_texts_are_read_as_they_were_written(values: dict[str, str]) -> None:
    document: Document = {"kind": "feed", "properties": values, "list": [{"name": each} for each in values]}
    text = with_comments(yaml_text(document, "\n".join(values)), {2: list(values), 3: list(values.values())})
    loaded = load_yaml(text.encode("utf-8", "backslashreplace"), "a.yaml")
    if loaded.data is None:
        assert {each.rule for each in loaded.problems} <= {"too-large", "encoding"}
    else:
        assert loaded.data == document


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=25)
@given(name=ANY, value=ANY, text=ANY)
def test_an_entity_says_what_its_xml_says_or_is_refused(name: str, value: str, text: str) -> None:
    prop = f"<property name={quoteattr(name)} value={quoteattr(value)}/>"
    xml = feed(more=f"<properties>{prop}</properties>").replace("<feed ", f"<feed description={quoteattr(text)} ")
    with tempfile.TemporaryDirectory() as folder:
        try:
            document = make_of(Path(folder), c=cluster(), f=xml).document("clicks")
        except MigrationRefused:
            return
        assert document["properties"] == {name.strip(): value}
        assert document.get("description", "") == text.strip()
        assert set(document) <= {"kind", "name", "description", *ALWAYS}


ALWAYS = ("frequency", "path_timezone", "locations", "clusters", "external", "properties")


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=25)
@given(path=ANY, name=ANY)
def test_no_text_becomes_a_file_elsewhere(path: str, name: str) -> None:
    more = f"<inputs><input name={quoteattr(name)} feed='clicks' start='now(0,0)' end='now(0,0)'/></inputs>"
    late_input = f"<late-input input={quoteattr(name)} workflow-path={quoteattr(path)}/>"
    late = f"<late-process policy='final'>{late_input}</late-process>"
    workflow = f'<workflow engine="hive" path={quoteattr(path)}/>'
    with tempfile.TemporaryDirectory() as folder:
        try:
            made = make_of(Path(folder), c=cluster(), f=feed(), p=process(workflow=workflow, more=more + late))
        except MigrationRefused:
            assert not (Path(folder) / "repo").exists()
            return
        there = {each.name for each in Path(folder).iterdir()}
        assert there == {"c.xml", "f.xml", "p.xml", "repo"}
        assert made.document("job")["workflow"]["path"].startswith("workflows/")
