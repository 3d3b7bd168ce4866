"""Names that something on the way may take for something else; all of them stand in one directory."""

from __future__ import annotations

import unicodedata

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import BadName, NotFound

_NFC, _NFD = unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")
_AWKWARD = [
    "café über 日本",
    "🦊",
    "a b  c",
    " leading and trailing ",
    "%41",
    "%2F",
    "100%",
    "a+b&c=d;e,f",
    "#fragment",
    "what?",
    "*",
    "[a-z]",
    "{a,b}",
    "back\\slash",
    "'\"`$HOME",
    "new\nline",
    "tab\tand\rreturn",
    "...",
    ".hidden.",
    "-rf",
    "~",
    "month=3",
    "12:30",
    "n" * 255,
    "é" * 127 + "n",
    ".feedctl",
    ".feedctl-evicting-01",
]
_ALIKE = [("%41", "A"), (_NFC, _NFD), (_NFD, _NFC), ("*", "x"), ("[ab]", "a"), ("a?", "ab"), ("{a,b}", "a"), ("x", "X")]


def test_an_awkward_name_is_the_name_of_one_file_everywhere(store: Store) -> None:
    names = sorted(name for name in _AWKWARD if store.can_have(name) and not set(name) & set(store.server_lacks))
    for name in names:
        store.put(f"{name}/{name}")
    assert sorted(store.names()) == names  # S3 has a/ after a-1/
    for place, name in enumerate(names):
        path = store.at(f"{name}/{name}")
        assert store.names(name) == [name]
        assert store.content(f"{name}/{name}") == b""
        assert store.system.status(path).path == path
        assert store.system.content_summary(path.parent).files == 1
        assert sorted(entry.name for entry in store.system.list(store.base, start_from=name)) == names[place:]
        store.system.delete(path, below=path.parent)
        with pytest.raises(NotFound):
            store.system.status(path)
        if store.system.capabilities.directories:
            assert store.system.remove_if_empty(path.parent, below=store.base)
        assert sorted(store.names()) == names[place + 1 :]


def test_a_name_that_the_store_cannot_have_is_refused(store: Store) -> None:
    for name in _AWKWARD:
        if not store.can_have(name):
            with pytest.raises(BadName):
                store.put(f"{name}/file")
    assert store.names() == []


def test_names_that_some_take_for_one_are_two(store: Store) -> None:
    for number, (goes, stays) in enumerate(_ALIKE):
        store.put(f"{number}/{goes}/file")
        store.put(f"{number}/{stays}/file")
        store.system.delete(store.at(f"{number}/{goes}"), below=store.at(str(number)))
        assert store.names(str(number)) == [stays]


def test_names_of_our_own_are_listed_like_all_others(store: Store) -> None:
    store.put(".feedctl/runs/1")
    store.put(".feedctl-hold")
    store.put("data")
    assert sorted(store.names()) == sorted([".feedctl", ".feedctl-hold", "data"])
