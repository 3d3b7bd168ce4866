"""Content of pages as values, and the templates that turn it into HTML: each text is escaped."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import toolkit
from toolkit.errors import InvalidInput
from toolkit.printable import printable

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

_TEMPLATES = Path(__file__).parent / "templates"
_ASSETS = Path(__file__).parent / "assets"


class NoTemplates(InvalidInput):
    """Error for pages without the library that writes them.

    Args:
        extra: of feedctl that installs it.
    """

    code = "no_templates"

    def __init__(self, *, extra: str) -> None:
        super().__init__(f"pages need the library jinja2, which is not installed: pip install 'feedctl[{extra}]'")


class PageCell(NamedTuple):
    """Text of a table or list, with the path that it links to and the class of its state; empty: none."""

    text: object
    path: str = ""
    state: str = ""


class GridCell(NamedTuple):
    """Instance in a grid: its state, and all that is known of it in words."""

    state: str
    text: str

    @property
    def mark(self) -> str:
        """Character that tells the state without its colour."""
        return _MARKS.get(self.state, "?")


_MARKS = {
    **dict.fromkeys(("succeeded", "available"), "✓"),
    **dict.fromkeys(("failed", "killed", "timed_out"), "✗"),
    **dict.fromkeys(("waiting", "ready", "skipped", "suspended"), "·"),
    **dict.fromkeys(("evicted", "retracted"), "-"),
    **dict.fromkeys(("late", "missing", "empty"), "!"),
    "updated": "↻",
    "running": "▶",
    "blocked": "■",
    "unknown": "?",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class PageSection:
    """Section of a page; it is left out if it has neither rows nor cells nor markup.

    Attributes:
        headings: of the columns of its table.
        rows: of its table; the first column is a row's name.
        grids: rows of cells, each with a label.
        markup: HTML that was escaped by who made it, such as a drawing.
        links: below it, as to older instances.
        is_folded: shown only when the reader opens it.
    """

    heading: str
    headings: Sequence[str] = ()
    rows: Sequence[Sequence[PageCell]] = ()
    grids: Sequence[tuple[str, Sequence[GridCell]]] = ()
    markup: str = ""
    links: Sequence[PageCell] = ()
    is_folded: bool = False


@dataclass(frozen=True, kw_only=True, slots=True)
class PageView:
    """Content of a page.

    Attributes:
        lead: paragraphs below the title.
        facts: names with their values.
    """

    title: str
    lead: Sequence[str] = ()
    facts: Sequence[tuple[str, Sequence[PageCell]]] = ()
    sections: Sequence[PageSection] = ()


class NavigationLink(NamedTuple):
    """Link of the head of each page; the path begins at the root of the pages."""

    path: str
    text: str


@dataclass(frozen=True, kw_only=True)
class PageTemplates:
    """Templates with the values that all pages of a folder share.

    Attributes:
        site: name of the config repo; empty: pages without search, as those that a run writes.
        navigation: links of the head.
        extra: of feedctl that installs Jinja, for the error.
    """

    site: str = ""
    navigation: tuple[NavigationLink, ...] = ()
    extra: str = "page"

    def render(self, template: str, here: str, values: Mapping[str, object]) -> str:
        """Return a page.

        Args:
            template: file name of its template.
            here: its path, from the root of the pages.
            values: for the template.

        Raises:
            NoTemplates: Jinja is not installed.
        """
        root = "../" * here.count("/")
        return self._environment.get_template(template).render(values, here=here, root=root)

    @cached_property
    def _environment(self) -> Environment:
        try:
            from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise NoTemplates(extra=self.extra) from error
        environment = Environment(
            loader=FileSystemLoader(_TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            finalize=_printable,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        names = [path.removeprefix("assets/") for path, _ in assets()]
        environment.globals.update(
            site=self.site,
            navigation=self.navigation,
            styles=[each for each in names if each.endswith(".css")],
            scripts=[each for each in names if each.endswith(".js")] if self.site else [],
        )
        environment.filters.update(state_class=state_class, cell=_cell_html)
        return environment

    @cached_property
    def digest(self) -> str:
        """Digest of the templates, the shared values and the version of feedctl."""
        total = hashlib.sha256(f"{toolkit.__version__}\n{self.site}\n{self.navigation}".encode("utf-8", "replace"))
        for path in sorted(_TEMPLATES.iterdir()):
            total.update(path.name.encode() + path.read_bytes())
        return total.hexdigest()


def assets() -> Iterator[tuple[str, str]]:
    """Yield path and text of each style sheet and script."""
    for path in sorted(_ASSETS.iterdir()):
        if path.suffix in {".css", ".js"}:
            yield f"assets/{path.name}", path.read_text(encoding="utf-8")


def _printable(value: object) -> object:
    """Return a value of a template without characters that turn text or are no HTML; markup stays as it is."""
    return value if not isinstance(value, str) or hasattr(value, "__html__") else printable(value)


def _cell_html(cell: PageCell, root: str) -> Markup:
    """Return the HTML of a cell."""
    from markupsafe import Markup, escape  # noqa: PLC0415 - comes with Jinja

    text = escape(printable(str(cell.text)))
    if not cell.path and not cell.state:
        return text
    named = f' class="{escape(state_class(cell.state))}"' if cell.state else ""
    if cell.path:
        return Markup(f'<a href="{escape(root + cell.path)}"{named}>{text}</a>')  # noqa: S704 - each part is escaped
    return Markup(f"<span{named}>{text}</span>")  # noqa: S704 - as above


def state_class(state: object) -> str:
    """Return the class of a state in the style sheet: `timed_out` and `timed out` are `timed-out`."""
    return str(state).replace("_", "-").replace(" ", "-")
