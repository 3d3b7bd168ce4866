"""No file of the config repo, and no text in one, makes reading it slow or lets it fail without a finding.

Defended: the linter and every action that loads a config repo, against whoever may open a pull request. Reading, and
looking for credentials, takes time linear in the size of a file; a file over 1 MiB, a value over 4096 characters and
values nested over 100 levels are findings with their place. Looking for credentials is also defended against texts of
other programs that end in messages.
Not defended: the number of files in a repo; a time limit in CI is for that.

Where steps cannot be counted, since they are those of a regular expression, the texts are so long that what is not
linear does not come to an end.
"""

from __future__ import annotations

import pytest

from tests.security.counting import steps
from tests.unit.linter.repos import lint_texts
from toolkit.el import ElError, without_credentials
from toolkit.entities.layers import Layer, origin
from toolkit.entities.yaml_loading import MOST_CHARACTERS, load_yaml
from toolkit.entities.yaml_location import locate
from toolkit.storage.hadoop_conf import without_secrets

MANY = 100_000

SHAPES = {
    "tabs": "- x\t\n",
    "tabs in texts": '- "x\ty"\n',
    "tabs in comments": "- x # \t#\t\n",
    "duplicate keys": "- {a: 1, a: 2}\n",
    "tags": "- !x 1\n",
    "keys that are lists": "- {[a]: 1}\n",
}


@pytest.mark.extended
@pytest.mark.parametrize("unit", SHAPES.values(), ids=SHAPES)
def test_reading_takes_steps_in_proportion_to_the_number_of_elements(unit: str) -> None:
    short, long = (f"a:\n{unit * count}".encode() for count in (1200, 12_000))
    assert steps(lambda: load_yaml(long, "f.yaml")) <= 15 * steps(lambda: load_yaml(short, "f.yaml"))


def test_a_line_with_very_many_tabs_is_read_at_once() -> None:
    loaded = load_yaml(b"a: [" + b"1,\t" * 19_000 + b"1]\n", "f.yaml")  # nearly as many as a file may have
    assert [str(each) for each in loaded.problems[:2]] == [
        "f.yaml:1:7: tab: found a tab, expected blanks; use blanks",
        "f.yaml:1:10: tab: found a tab, expected blanks; use blanks",
    ]


def test_problems_that_nobody_would_read_are_counted() -> None:
    loaded = load_yaml(b"a:\n" + b"- x\t\n" * 5000, "f.yaml")
    assert len(loaded.problems) == 1001
    assert str(loaded.problems[-1]) == "f.yaml:1002:4: tab: the file has 4000 more problems from here on"


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"a: " + b"x" * (1 << 20), "f.yaml:1:1: too-large: the file has 1048579 bytes, expected at most 1048576"),
        (b"a: " + b"x" * 4097, "f.yaml:1:4: too-large: found a text of 4097 characters, expected at most 4096"),
        (b"a:\n- ? " + b"x" * 4097 + b"\n  : 1\n", "f.yaml:2:5: too-large: found a text of 4097 characters"),
        (b"z: " + b"{a: " * 1500 + b"1" + b"}" * 1500, "f.yaml:1:404: too-deep"),
        (b"? " + b"[" * 1500 + b"]" * 1500 + b"\n: 1\n", "f.yaml:1:3: key-type: found a list or a mapping as a key"),
        (b"? " * 1500 + b"1\n", "f.yaml:1:3: key-type: found a list or a mapping as a key"),
    ],
)
def test_what_is_too_large_or_too_deep_is_a_problem_with_its_place(data: bytes, problem: str) -> None:
    loaded = load_yaml(data, "f.yaml")
    assert loaded.data is None
    assert str(loaded.problems[0]).startswith(problem)


def test_all_that_is_too_large_is_said_at_once() -> None:
    long = "x" * (MOST_CHARACTERS + 1)
    loaded = load_yaml(f"a: {long}\nb: &b {long}\nc: [*b, *b, {'x' * MOST_CHARACTERS}]\n".encode(), "f.yaml")
    assert [(each.line, each.rule) for each in loaded.problems] == [(1, "too-large"), (2, "too-large")]


def test_aliases_in_a_key_do_not_multiply() -> None:
    bomb = "".join(f"? &k{n} [{', '.join([f'*k{n - 1}'] * 9)}]\n: 1\n" for n in range(1, 40))
    assert {each.rule for each in load_yaml(f"? &k0 [x]\n: 1\n{bomb}".encode(), "f.yaml").problems} == {"key-type"}


def test_finding_the_places_of_many_mistakes_takes_steps_in_proportion() -> None:
    def work(count: int) -> None:
        names = [f"c{number}" for number in range(count)]
        text = "clusters:\n" + "".join(f"- name: {name}\n" for name in names) + "".join(f"{n}: 1\n" for n in names)
        document = {"clusters": [{"name": name} for name in names]}
        layer = Layer(file="f.yaml", data=text.encode(), document=document)
        merged = {"clusters": [{"name": name} for name in names]}
        for number, name in enumerate(names):
            assert locate(text.encode(), (name,)) is not None
            found = origin([layer], merged, ("clusters", number, "name"))
            assert found is not None
            assert found.value.line == number + 2

    assert steps(lambda: work(1000)) <= 12 * steps(lambda: work(100))


UNITS = [
    "s3a://x:", "hdfs://x:", "abfs://x:", "jdbc://x:", "://", "://x:${", "?", "&", "?password", "eyJaaaaaaaa-",
    "eyJaaaaaaaa.", "${", ":", "a:b", "x@", "-----BEGIN ", "AccountKey=", "xoxa-",
]  # fmt: skip


@pytest.mark.parametrize("unit", UNITS)
def test_looking_for_credentials_comes_to_an_end(unit: str) -> None:
    text = unit * MANY
    shown = without_credentials(text)
    assert len(shown) == len(text)
    assert without_secrets(text + " ")
    assert without_credentials(f"{text} s3a://key:secret@b").endswith("@b")


@pytest.mark.extended
@pytest.mark.parametrize("unit", UNITS)
def test_looking_for_secrets_in_the_repo_comes_to_an_end(unit: str) -> None:
    report = lint_texts(
        {"holds.yaml": f"# {unit * 80_000}\nholds: [\n"}, select=("secret-in-repo", "yaml-syntax", "too-large")
    )
    assert {each.rule for each in report.findings} & {"yaml-syntax", "too-large"}


def test_a_malformed_address_is_refused_at_once() -> None:
    with pytest.raises(ElError):
        raise ElError(text="s3a://x:" * MANY, expected="something else")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a s3a://k:s/x@b/c hdfs://u@h/x", "a s3a://*****@b/c hdfs://*@h/x"),
        ('"s3a://k:s@b","hdfs://nn:8020/x@y"', '"s3a://***@b","hdfs://nn:8020/x@y"'),
        ("x@y s3a://k:s", "x@y s3a://k:s"),
        ("s3a://k:s3a://k:s@b", "s3a://***********@b"),
    ],
)
def test_credentials_are_found_as_before(text: str, shown: str) -> None:
    assert without_credentials(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see ftp://u:p@h/x?sig=1 and u:p@h", "see ftp://***@h/x?*** and ***@h"),
        ("u@h a:b c:d@e://x x:s3://y@z", "u@h a:b c:d@e://x x:s3://***@z"),
        ("'s3://b?x=1','s3://c?y=2'", "'s3://b?***','s3://c?***'"),
    ],
)
def test_secrets_are_hidden_as_before(text: str, shown: str) -> None:
    assert without_secrets(text) == shown
