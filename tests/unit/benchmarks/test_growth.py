"""Tests of how growth is told: exponents, and docs/performance.md."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.growth import Figure, Growth, read, stored
from benchmarks.performance_page import PAGE, page


def growth(*walls: float, memory: float = 50, action: str = "copying") -> Growth:
    sizes = (1, 10, 100, 1_000)
    figures = (
        Figure(size=size, wall=wall, processor=wall, memory=memory) for size, wall in zip(sizes, walls, strict=False)
    )
    return Growth(action=action, unit="files", name="feedctl", figures=tuple(figures))


@pytest.mark.parametrize(
    ("walls", "exponent"), [((1, 2, 11), 1), ((1, 2, 101), 2), ((1, 11, 11), 0)], ids=["linear", "square", "flat"]
)
def test_an_exponent_is_of_what_comes_beyond_the_start(walls: tuple[float, ...], exponent: float) -> None:
    assert growth(*walls).exponent == pytest.approx(exponent)


def test_there_is_no_exponent_of_costs_that_only_scatter() -> None:
    found = growth(1, 1.02, 0.9, 1.1)
    assert (found.exponent, found.memory_exponent) == (None, None)
    assert growth(1, 2).exponent is None


def test_figures_of_an_action_replace_older_ones_and_leave_those_of_others(tmp_path: Path) -> None:
    place = tmp_path / "growth.json"
    stored([growth(1, 2, 3)], place)
    stored([growth(4, 5, action="deleting")], place)
    stored([growth(6, 7, 8)], place)
    assert read(place) == [growth(4, 5, action="deleting"), growth(6, 7, 8)]


def test_the_page_shows_each_action_with_its_sizes() -> None:
    text = page([growth(1, 2, 11), growth(1, 2, action="deleting")])
    assert "## Copying" in text
    assert "| feedctl | 1.00 s, 50 MiB | 2.00 s, 50 MiB | 11.00 s, 50 MiB | 1.00 | - |" in text


def test_the_page_in_docs_is_made_of_the_figures_that_are_kept() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(read()), "python -m benchmarks.performance_page writes it"
