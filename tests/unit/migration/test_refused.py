"""What cannot be migrated: all of it is said at once, with file, line and what to do, and nothing is written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.migration.migrated import cluster, feed, make, make_of, process, sources
from toolkit.migration.draft import MigrationRefused
from toolkit.migration.new_files import NotAConfigRepo

VALID = cluster()


def refusal(folder: Path, **entities: str) -> list[str]:
    """Return what is said of each problem, without the folder."""
    with pytest.raises(MigrationRefused) as refused:
        make_of(folder, **entities)
    assert not (folder / "repo").exists()
    assert not [each for each in folder.iterdir() if each.suffix != ".xml"], "nothing is left of the attempt"
    return [str(each).replace(f"{folder}/", "") for each in refused.value.problems]


EXTERNAL = '<!DOCTYPE feed [<!ENTITY x SYSTEM "file:///etc/passwd">]><feed name="&x;" xmlns="uri:falcon:feed:0.1"/>'
LAUGHS = (
    '<!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;"><!ENTITY c "&b;&b;&b;&b;&b;&b;&b;">]>'
    "<feed>&c;</feed>"
)


@pytest.mark.parametrize(
    ("text", "output"),
    [
        ("<feed", "a.xml:1:1: xml-syntax: found no well-formed XML: unclosed token"),
        ("", "a.xml:1:1: xml-syntax: found no well-formed XML: no element found"),
        (
            EXTERNAL,
            "a.xml:1:16: xml-entity: found a document type or an entity (DTD), expected plain elements; write the",
        ),
        (LAUGHS, "a.xml:1:13: xml-entity: found a document type or an entity (DTD)"),
        ("<a/>", "a.xml:1:1: no-entity: found the root 'a', expected one of cluster, feed, process, datasource"),
        (
            '<feed xmlns="uri:falcon:cluster:0.1"/>',
            "a.xml:1:1: no-entity: found the namespace 'uri:falcon:cluster:0.1', expected uri:falcon:feed:0.1",
        ),
        (
            "<a>" * 60 + "</a>" * 60,
            "xml-syntax: found no well-formed XML: more than 10000 elements, or 50 levels of them",
        ),
        ("<feed>" + "<a/>" * 10_001 + "</feed>", "more than 10000 elements, or 50 levels of them"),
        ('<?xml version="1.0" encoding="nonsense"?><a/>', "xml-syntax: found no well-formed XML: unknown encoding"),
    ],
)
def test_what_is_no_entity(tmp_path: Path, text: str, output: str) -> None:
    (found,) = refusal(tmp_path, a=text)
    assert output in found


@pytest.mark.parametrize("text", [EXTERNAL, LAUGHS])
def test_no_entity_is_ever_expanded(tmp_path: Path, text: str) -> None:
    (found,) = refusal(tmp_path, a=text)
    assert "root:" not in found
    assert "lollol" not in found


@pytest.mark.parametrize(
    ("more", "output"),
    [
        (
            "<freqency>hours(1)</freqency>",
            (
                "f.xml:5: unknown-element: found the element 'freqency' in feed, which Falcon does not have there; "
                "expected: ACL, acl, availabilityFlag, cluster, clusters, frequency, groups, late-arrival, lifecycle, "
                "location, locations, notification, partition, partitions, properties, property, schema, sla, table, "
                "tags, timezone; did you mean frequency?"
            ),
        ),
        (
            '<late-arrival cutoff="hours(1)"/>',
            (
                "f.xml:5: unknown-attribute: found the attribute 'cutoff' in feed/late-arrival, which Falcon does not "
                "have there; expected: cut-off; did you mean cut-off?"
            ),
        ),
        (
            "<frequency>hours(2)</frequency>",
            "f.xml:5: duplicate-element: feed/frequency[2] is there again, expected it once in feed",
        ),
        (
            '<frequency xmlns="other">hours(2)</frequency>',
            "f.xml:5: unknown-element: found the element '{other}frequency' in feed",
        ),
        ("loose", "f.xml:1: unexpected-text: found the text 'loose' in feed, expected elements only"),
        (
            '<properties><property name="parallel" value="many"/></properties>',
            "f.xml:5: bad-value: found 'many' for parallel in feed/properties/property@value, expected a whole number",
        ),
        (
            '<properties><property name="a" value="1"/><property name="a" value="2"/></properties>',
            (
                "f.xml:5: duplicate-value: found '2' in feed/properties/property[2]@value, but line 5 says '1'; "
                "keep one of them"
            ),
        ),
        (
            "<tags>a</tags>",
            "f.xml:5: bad-value: found 'a' in feed/tags, expected key=value, key=value with each key once",
        ),
        (
            '<late-arrival cut-off="6 hours"/>',
            (
                "f.xml:5: bad-frequency: late_arrival.cut_off: \"6 hours\": at character 1: found '6 hours', expected "
                "minutes(N) or hours(N) or days(N) or months(N) (it would be feeds/clicks.yaml:7); "
                "did you mean hours(6)?"
            ),
        ),
        (
            "<timezone>Moon/Tranquility</timezone>",
            "f.xml:5: bad-timezone:",
        ),
    ],
)
def test_what_is_wrong_with_a_feed(tmp_path: Path, more: str, output: str) -> None:
    (found,) = refusal(tmp_path, c=VALID, f=feed().replace("\n</feed>", f"{more}\n</feed>").replace("\n  \n", "\n"))
    assert _without_column(found).startswith(output)


def _without_column(text: str) -> str:
    place, _, rest = text.partition(": ")
    return f"{place.rpartition(':')[0]}: {rest}"


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path) -> None:
    found = refusal(
        tmp_path,
        c=cluster(more="<colour/>"),
        f=feed(frequency="hours(1)", more="<nonsense/>"),
        p=process(workflow='<workflow engine="bash" path="/a"/>'),
        q=process(name="other", workflow="<nothing/>"),
        r=process(name="other"),
    )
    assert [(each.partition(":")[0], each.split(": ")[1]) for each in found] == [
        ("c.xml", "unknown-element"),
        ("f.xml", "unknown-element"),
        ("p.xml", "bad-value"),
        ("q.xml", "missing-element"),
        ("q.xml", "unknown-element"),
        ("r.xml", "duplicate-name"),
    ]


def test_a_broken_file_hides_no_problem_of_others(tmp_path: Path) -> None:
    found = refusal(
        tmp_path,
        a='<cluster name="main"',
        d="<a/>",
        f=feed(more="<nonsense/>"),
        g=feed("other", more='<late-arrival cut-off="6 hours"/>'),
        p=process(more='<inputs><input name="in" feed="clicks" start="now(0,0)" end="now(0,0)"/></inputs>'),
        q=process("second", workflow='<workflow engine="bash" path="/a"/>'),
    )
    assert [(each.partition(":")[0], each.split(": ")[1]) for each in found] == [
        ("a.xml", "xml-syntax"),
        ("d.xml", "no-entity"),
        ("f.xml", "unknown-element"),
        ("g.xml", "bad-frequency"),
        ("q.xml", "bad-value"),
    ], "and that `main` and `clicks` are unknown is not wrong with the files that name them"


def test_references_that_lead_nowhere(tmp_path: Path) -> None:
    more = '<inputs><input name="in" feed="clikcs" start="now(0,0)" end="now(0,0)"/></inputs>'
    wrong = feed("other").replace('<cluster name="main">', '<cluster name="mian">')
    found = refusal(tmp_path, c=VALID, f=feed(), g=wrong, p=process(more=more))
    assert found == [
        (
            "g.xml:3:1: unknown-cluster: found the cluster 'mian', expected one under clusters/ (it would be "
            "feeds/other.yaml:9); did you mean main?"
        ),
        (
            "p.xml:6:1: unknown-feed: found the feed 'clikcs', expected one under feeds/ (it would be "
            "processes/job.yaml:12); did you mean clicks?"
        ),
    ]


def test_a_name_is_one_entitys_over_all_kinds(tmp_path: Path) -> None:
    (found,) = refusal(tmp_path, c=VALID, f=feed("web"), p=process("web"))
    assert "found the process 'web', a name that the feed in f.xml:1 has already" in found


@pytest.mark.parametrize("name", ["", "a b", "../../etc/x", "a\n: b", "{}", "con fig/x", "1", "é"])
def test_a_name_that_is_none(tmp_path: Path, name: str) -> None:
    escaped = name.replace("\n", "&#10;")
    assert refusal(tmp_path, c=VALID, f=feed().replace('name="clicks"', f'name="{escaped}"'))


@pytest.mark.parametrize("name", ["../../../escaped", "a/b"])
def test_an_input_that_would_be_a_file_elsewhere(tmp_path: Path, name: str) -> None:
    more = f"""<inputs><input name="{name}" feed="clicks" start="now(0,0)" end="now(0,0)"/></inputs>
      <late-process policy="final"><late-input input="{name}" workflow-path="/a.pig"/></late-process>"""
    assert refusal(tmp_path, c=VALID, f=feed(), p=process(more=more))


def test_a_password_never_gets_into_the_config_repo(tmp_path: Path) -> None:
    more = '<properties><property name="db.password" value="Tr0ub4dor"/></properties>'
    (found,) = refusal(tmp_path, c=VALID, p=process(more=more))
    assert found.startswith("p.xml:6:1: secret-in-repo: ")
    assert "Tr0ub4dor" not in found


def test_a_large_file_is_not_read(tmp_path: Path) -> None:
    assert "more than 1048576" in refusal(tmp_path, a=" " * (1 << 20) + "<a/>")[0]


@pytest.mark.parametrize("name", ["missing.xml", "link.xml"])
def test_a_file_that_cannot_be_read(tmp_path: Path, name: str) -> None:
    (tmp_path / "link.xml").symlink_to("/etc/hostname")
    with pytest.raises(MigrationRefused) as refused:
        make(tmp_path / "repo", tmp_path / name)
    assert [each.rule for each in refused.value.problems] == ["unreadable"]


def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "repo").write_text("mine")
    with pytest.raises(NotAConfigRepo):
        make(tmp_path / "repo", *sources(tmp_path, c=VALID))
    assert (tmp_path / "repo").read_text() == "mine"


def test_a_folder_without_entities(tmp_path: Path) -> None:
    (tmp_path / "xml").mkdir()
    (tmp_path / "xml" / "workflow.xml").write_text("<workflow-app/>")
    with pytest.raises(MigrationRefused, match="no-entity"):
        make(tmp_path / "repo", tmp_path / "xml")


def test_what_is_no_entity_in_a_folder_is_left_alone_aloud(tmp_path: Path) -> None:
    folder = tmp_path / "xml"
    (folder / "deeper").mkdir(parents=True)
    sources(folder / "deeper", c=cluster(), f=feed())
    (folder / "workflow.xml").write_text("<workflow-app/>")
    (folder / "notes.txt").write_text("")
    (folder / ".git").mkdir()
    (folder / ".git" / "a.xml").write_text("no XML")
    made = make(tmp_path / "repo", folder)
    assert set(made.repository.entries) == {"main", "clicks"}
    assert [Path(each).name for each in made.migration.report.left_alone] == ["notes.txt", "workflow.xml"]
