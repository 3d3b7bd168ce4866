from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest

from toolkit.el import ElError
from toolkit.entities import MissingVariable, expand_path, expand_url
from toolkit.entities.env_references import check_references

ENVIRONMENT = {"PASSWORD": "p@ss/w:rd%", "HOME": "/p@ss/w:rd%", "XDG_NOTHING": "", "XDG_NESTED": "${env:HOME}"}


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("no reference", "no reference"),
        ("${env:HOME}", "/p@ss/w:rd%"),
        ("a ${env:HOME}/${env:XDG_NESTED}", "a /p@ss/w:rd%/${env:HOME}"),
        ("<${env:XDG_NOTHING}>", "<>"),
        ("${HOME} $HOME ${env:}", "${HOME} $HOME ${env:}"),
    ],
)
def test_references_give_way_to_values_once(text: str, expanded: str) -> None:
    assert expand_path(text, ENVIRONMENT) == expanded


@pytest.mark.parametrize(
    ("expand", "text", "name"),
    [(expand_path, "/sesame/${env:XDG_LOST}", "XDG_LOST"), (expand_url, "postgresql://sesame:${env:LOST}@db", "LOST")],
)
def test_a_variable_that_is_not_set_is_named_and_the_rest_of_the_value_is_not_shown(
    expand: Callable[[str, Mapping[str, str]], str], text: str, name: str
) -> None:
    with pytest.raises(MissingVariable, match=re.escape(f"${{env:{name}}}: the environment variable {name} is")) as it:
        expand(text, {})
    assert it.value.name == name
    assert "sesame" not in str(it.value)


@pytest.mark.parametrize(
    ("url", "expanded"),
    [
        ("postgresql://me:${env:PASSWORD}@h/x", "postgresql://me:p%40ss%2Fw%3Ard%25@h/x"),
        ("postgresql://me:${env:XDG_NESTED}@db/x", "postgresql://me:%24%7Benv%3AHOME%7D@db/x"),
        ("sqlite:///${env:HOME}/a@b", "sqlite:////p@ss/w:rd%/a@b"),
    ],
)
def test_what_stands_for_a_password_is_encoded(url: str, expanded: str) -> None:
    assert expand_url(url, ENVIRONMENT) == expanded


@pytest.mark.parametrize("text", ["/var/log", "${env:A}${env:_b2}/c", "$HOME}"])
def test_a_text_with_whole_references_passes(text: str) -> None:
    check_references(text)


@pytest.mark.parametrize(
    ("text", "position", "found"),
    [("a/${HOME}/b", 2, "${HOME}"), ("${env:A}${env:2}", 8, "${env:2}"), ("${env:A", 0, "${env:A"), ("x${", 1, "${")],
)
def test_anything_else_in_braces_is_refused_at_its_place(text: str, position: int, found: str) -> None:
    with pytest.raises(ElError, match=re.escape("expected a reference to an environment variable: ${env:NAME}")) as it:
        check_references(text)
    assert (it.value.position, it.value.found) == (position, found)
