"""`.ci/site`: links and navigation of the site, and the check of what was built."""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import cast

import pytest

_SITE = Path(__file__).parents[3] / ".ci" / "site"
_BUILD = runpy.run_path(str(_SITE / "build.py"))
_LINKS = runpy.run_path(str(_SITE / "links.py"))
Sections = list[dict[str, list[str]]]
relinked = cast("Callable[[str, PurePosixPath, str], str]", _BUILD["relinked"])
navigation = cast("Callable[[Sections, list[str]], Sections]", _BUILD["navigation"])
findings = cast("Callable[[Path], Iterator[str]]", _LINKS["findings"])


@pytest.mark.parametrize(
    ("file", "name", "link", "expected"),
    [
        ("docs/reference/json.md", "reference/json.md", "[log](../../CHANGELOG.md)", "[log](../changelog.md)"),
        ("docs/architecture.md", "architecture.md", "[how](../CONTRIBUTING.md#run)", "[how](contributing.md#run)"),
        ("CONTRIBUTING.md", "contributing.md", "[how](docs/architecture.md)", "[how](architecture.md)"),
        ("docs/limits.md", "limits.md", "[site](https://example.com/a.md)", "[site](https://example.com/a.md)"),
        ("docs/limits.md", "limits.md", "[the lint](../toolkit/linter/__init__.py)", "the lint"),
        ("docs/limits.md", "limits.md", "[gone](no-such-page.md)", "[gone](no-such-page.md)"),
    ],
)
def test_links_lead_to_where_pages_are_in_the_site(file: str, name: str, link: str, expected: str) -> None:
    assert relinked(link, PurePosixPath(file), name) == expected


def test_a_glob_of_the_navigation_has_the_pages_that_are_named_nowhere_else() -> None:
    configured = [{"Start": ["index.md", "start/*"]}, {"Gone": ["gone/*"]}, {"Rest": ["b.md", "*"]}]
    names = ["a.md", "b.md", "index.md", "start/one.md", "start/two.md"]
    assert navigation(configured, names) == [
        {"Start": ["index.md", "start/one.md", "start/two.md"]},
        {"Rest": ["b.md", "a.md"]},
    ]


def test_broken_links_anchors_and_what_is_loaded_from_a_host_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        '<h1 id="top"></h1><a href="#top"></a><a href="b.html#x"></a><a href="c.html"></a>'
        '<a href="https://example.com"></a><script src="//cdn.example.com/x.js"></script>'
    )
    (tmp_path / "b.html").write_text('<a href="a.html#top"></a>')
    (tmp_path / "a.css").write_text("@import 'https://fonts.example.com/a.css'; p { background: url(b.png) }")
    assert sorted(findings(tmp_path)) == [
        "a.css: loads https://fonts.example.com/a.css",
        "a.html: b.html#x: the page has no such anchor",
        "a.html: c.html: there is no such file",
        "a.html: loads //cdn.example.com/x.js",
    ]
