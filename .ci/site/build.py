"""Builds the site of docs/ into build/site; prints its size.

Zensical reads a folder of its own, build/site-source: the pages, CHANGELOG.md and CONTRIBUTING.md, the configuration
with the version and the navigation, and scripts from NODE_MODULES. A link to a file that is no page becomes its text.
usage: build.py NODE_MODULES
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
SOURCE, SITE = ROOT / "build" / "site-source", ROOT / "build" / "site"
MOVED = {"CHANGELOG.md": "changelog.md", "CONTRIBUTING.md": "contributing.md"}
"""Pages of the project's top level, and what they are called in the site."""
FRONT = "index.md"
"""Page that a link to README.md leads to."""
SCRIPTS = {"iframe-worker/shim/index.js": "iframe-worker.js", "@mermaid-js/tiny/dist/mermaid.tiny.js": "mermaid.js"}
MERMAID = re.compile(r'"https://unpkg\.com/mermaid@12/dist/mermaid\.min\.js"')
BASE = re.compile(r'new URL\("search\.js",(?P<config>\w+)\.base\)')
LINK = re.compile(r"(?<!!)\[(?P<text>[^\[\]]*)\]\((?P<target>[^()\s:#]+)(?P<anchor>#[^()\s]*)?\)")
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


def version() -> str:
    """Return the version in `toolkit/__init__.py`."""
    (found,) = re.findall(r'^__version__ = "(.+)"', (ROOT / "toolkit" / "__init__.py").read_text(), re.MULTILINE)
    return str(found)


def pages() -> Iterator[tuple[PurePosixPath, str, str]]:
    """Yield each page: its file below the top level, its name in the site, its text."""
    for file in (ROOT / "docs").rglob("*.md"):
        yield PurePosixPath(file.relative_to(ROOT)), file.relative_to(ROOT / "docs").as_posix(), file.read_text()
    for name, moved in MOVED.items():
        yield PurePosixPath(name), moved, (ROOT / name).read_text()


def relinked(text: str, file: PurePosixPath, name: str) -> str:
    """Return the page with links as they are in the site."""

    def link(match: re.Match[str]) -> str:
        target = os.path.normpath(file.parent / match["target"])
        moved = FRONT if target == "README.md" else MOVED.get(target) or target.removeprefix("docs/")
        if moved == target or not ((ROOT / "docs" / moved).exists() or moved in MOVED.values()):
            return match["text"] if (ROOT / target).exists() else match[0]  # Zensical names what does not exist
        here = os.path.relpath(moved, PurePosixPath(name).parent)
        return f"[{match['text']}]({here}{match['anchor'] or ''})"

    return LINK.sub(link, text)


def navigation(configured: list[dict[str, list[str]]], names: list[str]) -> list[dict[str, list[str]]]:
    """Return the navigation with each glob replaced by the pages that it alone names."""
    explicit = {entry for section in configured for entries in section.values() for entry in entries}

    def expanded(entry: str) -> list[str]:
        depth = entry.count("/")
        if "*" in entry:
            return [
                each for each in names if fnmatch(each, entry) and each.count("/") == depth and each not in explicit
            ]
        return [entry] if entry in names else []

    sections = [
        (title, [page for entry in entries for page in expanded(entry)])
        for part in configured
        for title, entries in part.items()
    ]
    return [{title: found} for title, found in sections if found]


def write_source(node_modules: Path) -> None:
    """Write the folder that Zensical reads."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    docs = SOURCE / "docs"
    shutil.copytree(ROOT / "docs", docs, ignore=shutil.ignore_patterns("template.md"))
    found = list(pages())
    for file, name, text in found:
        (docs / name).write_text(relinked(text, file, name), encoding="utf-8")
    (docs / "assets").mkdir(exist_ok=True)
    for own in ("feedctl.css", "feedctl.js"):
        shutil.copy(HERE / own, docs / "assets")
    for script, name in SCRIPTS.items():
        shutil.copy(node_modules / script, docs / "assets" / name)
    write_configuration(sorted(name for _, name, _ in found))


def write_configuration(names: list[str]) -> None:
    """Write the configuration with the version, and with the navigation over pages of these names."""
    text = (HERE / "zensical.toml").read_text().replace("@VERSION@", version())
    nav = navigation(tomllib.loads(text)["project"]["nav"], names)
    lines = [f"  {{ {title!r} = {entries!r} }}," for section in nav for title, entries in section.items()]
    text = re.sub(
        r"^nav = \[\n.*?^\]\n", lambda _: "nav = [\n" + "\n".join(lines) + "\n]\n", text, flags=re.DOTALL | re.MULTILINE
    )
    (SOURCE / "zensical.toml").write_text(text)


def take_mermaid_from_the_site() -> None:
    """Let the theme's script load mermaid from beside itself."""
    (bundle,) = (SOURCE / "site" / "assets" / "javascripts").glob("bundle.*.js")
    text = bundle.read_text(encoding="utf-8")
    config = BASE.search(text)
    if not config or not MERMAID.search(text):
        sys.exit(f"site: {bundle.name} loads mermaid in another way than .ci/site/build.py knows: look there")
    local = f'`${{new URL("assets/mermaid.js",{config["config"]}.base)}}`'
    bundle.write_text(MERMAID.sub(lambda _: local, text), encoding="utf-8")


def main(node_modules: Path) -> int:
    """Build the site."""
    write_source(node_modules)
    zensical = [Path(sys.executable).with_name("zensical"), "build", "--clean", "--strict"]
    done = subprocess.run(zensical, cwd=SOURCE, capture_output=True, text=True, check=False)  # noqa: S603 - the program of this environment
    if done.returncode:
        sys.stderr.write(COLOURS.sub("", done.stdout + done.stderr).partition("Traceback")[0])
        sys.stderr.write("site: not built; a page has a link that leads nowhere, or .ci/site/zensical.toml a mistake\n")
        return 1
    take_mermaid_from_the_site()
    (SOURCE / "site" / "404.html").unlink()  # of a server; its links begin at the server's root
    shutil.rmtree(SITE, ignore_errors=True)
    (SOURCE / "site").rename(SITE)
    files = [file for file in SITE.rglob("*") if file.is_file()]
    size = sum(file.stat().st_size for file in files) / 1e6
    print(f"build/site: {sum(file.suffix == '.html' for file in files)} pages, {size:.1f} MB")  # noqa: T201
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
