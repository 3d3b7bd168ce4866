"""Checks the built site: every internal link and anchor leads somewhere, and no page loads anything from a host.

usage: links.py SITE
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag

LOADING = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href", "use": "href"}
"""Elements that load something, and the attribute that says what; other links are followed by the reader alone."""
HOST = re.compile(r"(?:[a-z]+:)?//", re.IGNORECASE)
IN_CSS = re.compile(r"url\(\s*['\"]?(?P<url>[^)'\"]+)|@import\s+['\"](?P<imported>[^'\"]+)")


class Page(HTMLParser):
    """Anchors and links of a page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "__skip"}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note the anchors and links of an element."""
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        elif LOADING.get(tag, "") in values:
            self.loaded.append(values[LOADING[tag]])
        self.loaded += [url for url, _ in IN_CSS.findall(values.get("style", ""))]


def findings(site: Path) -> Iterator[str]:
    """Yield a line for each broken link, and for each thing that a page loads from a host."""
    pages = {file.resolve(): Page(file.read_text(encoding="utf-8")) for file in sorted(site.rglob("*.html"))}
    for file, page in pages.items():
        name = file.relative_to(site)
        for url in page.loaded:
            if HOST.match(url):
                yield f"{name}: loads {url}"
        for url in {*page.links, *page.loaded}:
            if not HOST.match(url) and not url.startswith(("mailto:", "data:", "javascript:")):
                yield from broken(url, file, name, pages)
    for sheet in sorted(site.rglob("*.css")):
        for url, imported in IN_CSS.findall(sheet.read_text(encoding="utf-8")):
            if HOST.match(url or imported):
                yield f"{sheet.relative_to(site)}: loads {url or imported}"


def broken(url: str, file: Path, name: Path, pages: dict[Path, Page]) -> Iterator[str]:
    """Yield why the link of a page leads nowhere, if it does."""
    path, anchor = urldefrag(url)
    target = (file.parent / unquote(path)).resolve() if path else file
    if target.is_dir():
        target /= "index.html"
    if not target.is_file():
        yield f"{name}: {url}: there is no such file"
    elif target in pages and unquote(anchor) not in pages[target].anchors:
        yield f"{name}: {url}: the page has no such anchor"


def main(site: Path) -> int:
    """Print the findings."""
    found = list(findings(site.resolve()))
    print("\n".join(found) or "site: links lead somewhere, and nothing is loaded from a host")  # noqa: T201
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
