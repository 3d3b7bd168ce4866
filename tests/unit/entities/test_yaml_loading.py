from __future__ import annotations

import pytest

from toolkit.entities.yaml_loading import load_yaml

BOMB = "a: &a [1,1,1,1,1,1,1,1,1,1]\n" + "".join(
    f"{new}: &{new} [{','.join([f'*{old}'] * 10)}]\n" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("NO", "NO"),
        ("on", "on"),
        ("yes", "yes"),
        ("2026-01-01", "2026-01-01"),
        ("0750", "0750"),
        ("12:30", "12:30"),
        ("1_000", "1_000"),
        (".nan", ".nan"),
        (".inf", ".inf"),
        ("1e999", "1e999"),
        ("0x", "0x"),
        ("'1'", "1"),
        ('"true"', "true"),
        ("true", True),
        ("FALSE", False),
        ("~", None),
        ("null", None),
        ("", None),
        ("0", 0),
        ("-17", -17),
        ("0x1F", 31),
        ("0o17", 15),
        ("1.5", 1.5),
        ("1e3", 1000.0),
        ("9" * 60, "9" * 60),
    ],
)
def test_scalars_are_read_the_1_2_way(text: str, value: object) -> None:
    loaded = load_yaml(f"key: {text}\n".encode(), "f.yaml")
    assert loaded.data is not None
    assert loaded.data["key"] == value
    assert type(loaded.data["key"]) is type(value)
    assert loaded.has_null == (value is None)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "f.yaml:1:1: empty-file: the file is empty"),
        (b"# nothing\n", "f.yaml:1:1: empty-file: the file is empty"),
        (b"- 1\n", "f.yaml:1:1: wrong-type: found a list, expected a mapping"),
        (b"hello\n", "f.yaml:1:1: wrong-type: found a single value, expected a mapping"),
        (b"a: 1\nb: 2\na: 3\n", "f.yaml:3:1: duplicate-key: the key 'a' is there twice"),
        (b"a:\n  b: 1\n  b: 2\n", "f.yaml:3:3: duplicate-key: the key 'b' is there twice"),
        (b"a:\n\tb: 1\n", "f.yaml:2:1: tab: found a tab, expected blanks"),
        (b"a:\t1\n", "f.yaml:1:3: tab: found a tab, expected blanks"),
        (b"a: 1\n---\nb: 2\n", "f.yaml:2:1: yaml-documents: found a second document, expected one"),
        (b"a: \xff\n", "f.yaml:1:4: encoding: found the byte 0xff, expected UTF-8"),
        (b"\xef\xbb\xbfa: 1\n", "f.yaml:1:1: encoding: found a byte order mark"),
        ("a: 1\n".encode("utf-16"), "f.yaml:1:1: encoding: found the byte 0xff, expected UTF-8"),
        (b"a: 1\nb: \x07\n", "f.yaml:2:4: encoding: found the control character #x0007"),
        (b"a: !!python/object:os.system 1\n", "f.yaml:1:4: yaml-tag: found the tag 'tag:yaml.org,2002:python"),
        (b"a: {b\n", "f.yaml:1:4: yaml-syntax: the { is not closed"),
        (b"a: [b,\n\n  # c", "f.yaml:3:6: yaml-syntax: found the end of the file, expected a value"),
        (b"a: *b\n", "f.yaml:1:4: yaml-syntax: found '*' with a name, an alias of YAML without its anchor"),
        (b"1: a\n", "f.yaml:1:1: key-type: found '1' as a key, expected text"),
        (b"true: a\n", "f.yaml:1:1: key-type: found 'true' as a key, expected text"),
        (b"? [a]\n: b\n", "f.yaml:1:3: key-type: found a list or a mapping as a key, expected text"),
        (
            b"a: &b [*b]\n",
            "f.yaml:1:4: too-deep: values are nested deeper than 100 levels, or an alias contains itself",
        ),
        (b"a: " + b"[" * 200 + b"]" * 200, "f.yaml:1:104: too-deep"),
        (b"a: " + b"[" * 60_000, "f.yaml:1:2003: too-deep"),
        (b"a: [" + b"1," * 20_000 + b"1]", "f.yaml:1:1: too-large: the file has more than 20000 keys and values"),
        (BOMB.encode(), "f.yaml:1:4: alias-bomb: aliases make more than 200000 values of this file"),
    ],
)
def test_what_is_no_plain_yaml_mapping_is_one_problem_with_its_place(data: bytes, problem: str) -> None:
    loaded = load_yaml(data, "f.yaml")
    assert loaded.data is None
    assert [str(each)[: len(problem)] for each in loaded.problems] == [problem]


def test_all_problems_of_a_file_are_reported() -> None:
    loaded = load_yaml(b"a: 1\na: 2\nb: !x 1\n3: c\n", "f.yaml")
    assert [each.rule for each in loaded.problems] == ["duplicate-key", "yaml-tag", "key-type"]


def test_tabs_inside_texts_and_comments_are_allowed() -> None:
    loaded = load_yaml(b"a: 'x\ty' # and\tthen\nsql: |\n  select\n  \tone\n", "f.yaml")
    assert loaded.problems == ()
    assert loaded.data == {"a": "x\ty", "sql": "select\n\tone\n"}


def test_aliases_within_reason_are_read() -> None:
    loaded = load_yaml(b"a: &a {x: 1}\nb: *a\n", "f.yaml")
    assert loaded.data == {"a": {"x": 1}, "b": {"x": 1}}


def test_columns_count_characters_not_bytes() -> None:
    loaded = load_yaml('{"größe": 1, "größe": 2}\n'.encode(), "f.yaml")
    assert [(each.line, each.column) for each in loaded.problems] == [(1, 14)]
