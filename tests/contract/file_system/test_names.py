from __future__ import annotations

import unicodedata

import pytest

from tests.contract.file_system.stores import Store
from toolkit.storage import BadName, NotFound

_NFC, _NFD = unicodedata.normalize("NFC", "é"), unicodedata.normalize("NFD", "é")
_AWKWARD = [
    pytest.param("café über 日本", id="scripts"),
    pytest.param("🦊", id="emoji"),
    pytest.param("a b  c", id="blanks"),
    pytest.param(" leading and trailing ", id="edges"),
    pytest.param("%41", id="percent"),
    pytest.param("%2F", id="percent-slash"),
    pytest.param("100%", id="percent-alone"),
    pytest.param("a+b&c=d;e,f", id="query-like"),
    pytest.param("#fragment", id="hash"),
    pytest.param("what?", id="question"),
    pytest.param("*", id="star"),
    pytest.param("[a-z]", id="brackets"),
    pytest.param("{a,b}", id="braces"),
    pytest.param("back\\slash", id="backslash"),
    pytest.param("'\"`$HOME", id="quotes"),
    pytest.param("new\nline", id="newline"),
    pytest.param("tab\tand\rreturn", id="control"),
    pytest.param("...", id="dots"),
    pytest.param(".hidden.", id="dot-edges"),
    pytest.param("-rf", id="option"),
    pytest.param("~", id="tilde"),
    pytest.param("month=3", id="key"),
    pytest.param("12:30", id="colon"),
    pytest.param("n" * 255, id="longest"),
    pytest.param("é" * 127 + "n", id="longest-in-bytes"),
    pytest.param(".feedctl", id="own"),
    pytest.param(".feedctl-evicting-01", id="aside"),
]


@pytest.mark.parametrize("name", _AWKWARD)
def test_an_awkward_name_is_the_name_of_one_file_everywhere(store: Store, name: str) -> None:
    if set(name) & set(store.server_lacks):
        pytest.skip("the test bed's server cannot have this name, though a real one can")
    if set(name) & set(store.lacks):
        with pytest.raises(BadName):
            store.put(f"{name}/file")
        return
    store.put(f"{name}/{name}")
    store.put("beside")
    assert sorted(store.names()) == sorted([name, "beside"])
    assert store.names(name) == [name]
    assert store.content(f"{name}/{name}") == b""
    assert store.system.status(store.at(f"{name}/{name}")).path == store.at(f"{name}/{name}")
    assert store.system.content_summary(store.at(name)).files == 1
    assert [entry.name for entry in store.system.list(store.base, start_from=name)][:1] == [name]
    store.system.delete(store.at(f"{name}/{name}"), below=store.at(name))
    with pytest.raises(NotFound):
        store.system.status(store.at(f"{name}/{name}"))
    if store.system.capabilities.directories:
        assert store.system.remove_if_empty(store.at(name), below=store.base)
    assert store.names() == ["beside"]


@pytest.mark.parametrize(
    ("goes", "stays"),
    [("%41", "A"), (_NFC, _NFD), (_NFD, _NFC), ("*", "x"), ("[ab]", "a"), ("a?", "ab"), ("{a,b}", "a"), ("x", "X")],
)
def test_names_that_some_take_for_one_are_two(store: Store, goes: str, stays: str) -> None:
    store.put(f"{goes}/file")
    store.put(f"{stays}/file")
    store.system.delete(store.at(goes), below=store.base)
    assert store.names() == [stays]


def test_names_of_our_own_are_listed_like_all_others(store: Store) -> None:
    store.put(".feedctl/runs/1")
    store.put(".feedctl-hold")
    store.put("data")
    assert sorted(store.names()) == sorted([".feedctl", ".feedctl-hold", "data"])
