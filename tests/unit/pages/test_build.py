"""The pages of an installation: what each shows, what is written again, and that any text stays text."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.contract.ledger.test_recent_runs import add_alert
from tests.contract.ledger.test_validations import BLOCKED, FOUND, decide, recorded
from tests.unit.entities.config_repo import snapshot
from tests.unit.management.repo import FILES, repo
from tests.unit.management.runs import execution
from toolkit.entities.loader import load
from toolkit.entities.repository import Selection
from toolkit.entities.vocabulary import Kind
from toolkit.ledger.database import Ledger
from toolkit.ledger.tables import run
from toolkit.ledger.vocabulary import AlertLevel, RunStatus, ValidationState
from toolkit.pages import entity_page
from toolkit.pages.build import BuiltPages, build_pages
from toolkit.pages.templating import NoTemplates, PageCell, PageTemplates, PageView


class Page(HTMLParser):
    """Tags with their attributes, and the text of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data

    def values(self, *names: str) -> set[str]:
        return {value for _, attributes in self.tags for name, value in attributes.items() if name in names and value}


def built(ledger: Ledger, out: Path, files: Mapping[str, str | None] = FILES) -> BuiltPages:
    read = snapshot(files)
    return build_pages(ledger, load(read), read.files, out, site="shop", snapshot="commit abc")


def out(tmp_path: Path) -> Path:
    return tmp_path / "pages"


def texts(folder: Path) -> dict[str, str]:
    found = (each for each in folder.rglob("*") if each.suffix in {".html", ".js"})
    return {str(each.relative_to(folder)): each.read_text(encoding="utf-8") for each in found}


def test_each_feed_and_process_has_a_page_and_all_links_lead_to_pages(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    execution(sqlite_ledger, "2026-03-20T10:00Z")
    pages = out(tmp_path)
    found = built(sqlite_ledger, pages)
    entities = repo()
    for each in entities.select(Selection(kind=Kind.FEED)) + entities.select(Selection(kind=Kind.PROCESS)):
        assert (pages / each.KIND.folder / f"{each.name}.html").is_file()
    assert found.pages == len([each for each in pages.rglob("*") if each.suffix])
    for path in pages.rglob("*.html"):
        for target in Page(path).values("href", "src") - {"#main"}:
            assert (path.parent / target).resolve().is_file(), f"{path}: {target}"


def test_a_page_is_written_again_only_when_something_of_its_entity_changed(
    sqlite_ledger: Ledger, tmp_path: Path
) -> None:
    execution(sqlite_ledger, "2026-03-20T10:00Z")
    first = built(sqlite_ledger, out(tmp_path))
    assert first.written == first.pages
    before = texts(out(tmp_path))
    assert built(sqlite_ledger, out(tmp_path)).written <= 1, "the overview says as of when it is"
    execution(sqlite_ledger, "2026-03-20T11:00Z", RunStatus.FAILED)
    built(sqlite_ledger, out(tmp_path))
    changed = {name for name, text in texts(out(tmp_path)).items() if before.get(name) != text}
    assert changed - {"index.html"} == {
        "processes/count_job.html",
        "lists/processes.html",
        "lists/cluster-primary.html",
        "lineage.html",
    }


def test_an_entity_that_is_gone_takes_its_page_along(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    built(sqlite_ledger, out(tmp_path))
    fewer = {**FILES, "processes/daily_job.yaml": None}
    assert built(sqlite_ledger, out(tmp_path), fewer).removed == 1
    assert not (out(tmp_path) / "processes/daily_job.html").exists()
    assert "daily_job" not in "".join(texts(out(tmp_path)).values())


def test_a_changed_definition_shows_with_the_place_of_each_value(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    built(sqlite_ledger, out(tmp_path))
    daily = str(FILES["processes/daily_job.yaml"])
    moved = {**FILES, "processes/daily_job.yaml": f"# a line more\n{daily}"}
    built(sqlite_ledger, out(tmp_path), moved)
    shown = Page(out(tmp_path) / "processes/daily_job.html").text
    line = daily[: daily.index("daily.sh")].count("\n") + 2
    assert "workflow.path" in shown
    assert f"processes/daily_job.yaml:{line}:" in shown


def test_an_instance_has_the_state_of_its_newest_attempt_and_a_late_one_says_so(
    sqlite_ledger: Ledger, tmp_path: Path
) -> None:
    execution(sqlite_ledger, "2026-03-20T10:00Z", RunStatus.FAILED)
    execution(sqlite_ledger, "2026-03-20T10:00Z")
    execution(sqlite_ledger, "2026-03-20T11:00Z", RunStatus.KILLED)
    sqlite_ledger.write(lambda tx: add_alert(tx, "clicks", AlertLevel.HIGH, 1))
    built(sqlite_ledger, out(tmp_path))
    shown = Page(out(tmp_path) / "processes/count_job.html")
    cells = {tuple(str(values["title"]).split()[:2]): values["class"] for tag, values in shown.tags if tag == "li"}
    assert cells["2026-03-20T10:00Z", "succeeded,"] == "succeeded"
    assert cells["2026-03-20T11:00Z", "killed,"] == "killed"
    assert "missing" in Page(out(tmp_path) / "feeds/clicks.html").values("class")


def test_a_long_history_is_paged_and_a_new_instance_leaves_the_older_pages_alone(
    sqlite_ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(entity_page, "CELLS", 10)
    monkeypatch.setattr(entity_page, "MOST_DUE", 1)
    keys = [f"2026-03-{day:02}T{hour:02}:00Z" for day in (19, 20) for hour in range(24)]
    for key in keys[:38]:
        execution(sqlite_ledger, key)
    built(sqlite_ledger, out(tmp_path))
    older = out(tmp_path) / "processes/count_job"
    assert sorted(each.name for each in older.iterdir()) == ["instances-1.html", "instances-2.html"]
    oldest, before = (older / "instances-1.html").stat(), (older / "instances-2.html").stat()
    execution(sqlite_ledger, keys[38])
    execution(sqlite_ledger, keys[39])
    built(sqlite_ledger, out(tmp_path))
    assert (older / "instances-2.html").stat().st_ino != before.st_ino, "it links to the new page"
    assert (older / "instances-1.html").stat().st_ino == oldest.st_ino
    shown = [
        value.split()[0]
        for page in (older.with_suffix(".html"), *sorted(older.iterdir(), reverse=True))
        for tag, values in Page(page).tags
        if tag == "li" and (value := values.get("title"))
    ]
    assert shown == ["2026-03-31T23:00Z", *keys[39::-1]]


HOSTILE = "\"'><script>document.title='run'</script><img src=x onerror=run()>\u202e]] --> {{ 7*7 }}"


def test_hostile_texts_are_text_and_nothing_that_a_browser_runs(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    text = json.dumps(HOSTILE)
    texts_of = f"owner: {text}\ndescription: {json.dumps(HOSTILE + 'x' * 4000)}\ntags: {{team: {text}}}\n"
    files = {**FILES, "feeds/clicks.yaml": f"{FILES['feeds/clicks.yaml']}{texts_of}"}
    execution(sqlite_ledger, "2026-03-20T10:00Z", RunStatus.FAILED)
    sqlite_ledger.write(lambda tx: tx.execute(sa.update(run).values(reason=HOSTILE)))
    built(sqlite_ledger, out(tmp_path), files)
    scripts = {each.name for each in (out(tmp_path) / "assets").iterdir()}
    for path in out(tmp_path).rglob("*.html"):
        page = Page(path)
        for tag, attributes in page.tags:
            assert tag not in {"img", "iframe", "object", "style", "base", "form"}
            assert tag != "script" or Path(attributes["src"] or "").name in scripts
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
        policy = next(each["content"] for _, each in page.tags if each.get("http-equiv") == "Content-Security-Policy")
        assert str(policy).startswith("default-src 'none'; script-src 'self'; style-src 'self';")
    assert HOSTILE.replace("\u202e", "\\u202e") in Page(out(tmp_path) / "feeds/clicks.html").text
    assert HOSTILE.replace("\u202e", "\\u202e") in Page(out(tmp_path) / "processes/count_job.html").text
    index = (out(tmp_path) / "search-index.js").read_text()
    rows = json.loads(index.removeprefix("window.feedctlIndex = ").removesuffix(";\n"))
    assert HOSTILE.lower() in next(text for _, name, _, text in rows if name == "clicks")


def test_validation_results_have_pages_without_values_of_rows(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    found = replace(FOUND, examples=("value of a row",))
    number = recorded(sqlite_ledger, replace(BLOCKED, instance_key="2026-03-20T10:00Z"), found)
    recorded(sqlite_ledger, replace(BLOCKED, state=ValidationState.PASSED, instance_key="2026-03-20T09:00Z"), found)
    built(sqlite_ledger, out(tmp_path))
    path = f"quality/clicks/{number}.html"
    shown = Page(out(tmp_path) / path)
    assert "Blocked" in shown.text
    assert "feedctl quality release clicks" in shown.text
    assert "value of a row" not in "".join(texts(out(tmp_path)).values())
    assert "../../feeds/clicks.html" in shown.values("href")
    for page in ("feeds/clicks.html", "lists/quality.html"):
        assert f"../{path}" in Page(out(tmp_path) / page).values("href")
    assert ("li", {"class": "blocked"}) in [
        (tag, {"class": values.get("class")}) for tag, values in Page(out(tmp_path) / "feeds/clicks.html").tags
    ]
    before = texts(out(tmp_path))
    decide(sqlite_ledger, number, ValidationState.RELEASED)
    built(sqlite_ledger, out(tmp_path))
    changed = {name for name, text in texts(out(tmp_path)).items() if before.get(name) != text}
    assert changed - {"index.html"} == {path, "feeds/clicks.html", "lists/quality.html"}
    assert "Released by ann" in Page(out(tmp_path) / path).text


def test_without_the_library_it_says_what_to_install(
    sqlite_ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(NoTemplates, match=r"feedctl\[page\]"):
        built(sqlite_ledger, out(tmp_path))


def test_a_definition_that_moved_to_another_file_shows_the_new_one(sqlite_ledger: Ledger, tmp_path: Path) -> None:
    built(sqlite_ledger, out(tmp_path))
    moved = {
        **FILES,
        "processes/new/daily_job.yaml": FILES["processes/daily_job.yaml"],
        "processes/daily_job.yaml": None,
    }
    built(sqlite_ledger, out(tmp_path), moved)
    assert "processes/new/daily_job.yaml" in Page(out(tmp_path) / "processes/daily_job.html").text


def test_characters_that_turn_text_or_are_no_html_are_shown_as_escapes() -> None:
    hostile = "a\u202eb\x00c\x1bd"
    view = PageView(title=hostile, lead=[hostile], facts=[(hostile, [PageCell(hostile)])])
    text = PageTemplates(site=hostile).render("sections.html", "index.html", {"view": view})
    assert not {"\u202e", "\x00", "\x1b"} & set(text)
    assert text.count("a\\u202eb") == 6
