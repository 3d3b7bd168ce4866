"""Makes docs/performance.md from the figures that benchmarks keep: `python -m benchmarks.performance_page [FILE]`."""

from __future__ import annotations

import sys
from itertools import groupby
from pathlib import Path

from benchmarks.growth import LINEAR, RESULTS, Figure, Growth, read
from benchmarks.whole_process import ROOT

PAGE = ROOT / "docs" / "performance.md"
_HEAD = f"""# Performance: cost as data grows

Each table is one run on one machine (2 cores) in which the contestants took turns; seconds by the clock and peak memory
are those of whole processes. Compare figures within a table only. The first size is next to nothing: it shows what a
process costs to start. Small sizes took up to five rounds, of which the quickest counts. The last two columns say by
which power of the size time and memory grow between the last two sizes, the start left out: 1 is linear, up to {LINEAR}
counts as such, and a dash means too little to tell. What costs less than a twentieth of the start counts as a
twentieth, so such a figure is the least that the power can be. What grows faster than linear is a defect.

A *floor* is the least that anyone has to do: it checks nothing, and a killed run leaves half of its work. Contestants
are on local disks unless the table says otherwise; `benchmarks/bench_*.py` compare with peers on real servers.

This page is made from `benchmarks/{RESULTS.name}`: `.venv/bin/python -m benchmarks.bench_growth --store` measures, and
`.venv/bin/python -m benchmarks.performance_page` writes it.
"""


def page(found: list[Growth]) -> str:
    """Return the text of the page."""
    parts = [_HEAD]
    for (action, unit), of in groupby(found, key=lambda each: (each.action, each.unit)):
        parts.append(_table(action, unit, list(of)))
    return "\n".join(parts)


def _table(action: str, unit: str, of: list[Growth]) -> str:
    sizes = sorted({figure.size for each in of for figure in each.figures})
    head = ["", *(f"{size:,} {unit}" for size in sizes), "time", "memory"]
    rows = [_row(each, sizes) for each in of]
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return f"## {action[0].upper()}{action[1:]}\n\n" + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _row(of: Growth, sizes: list[int]) -> list[str]:
    figures = {each.size: each for each in of.figures}
    powers = ("-" if each is None else f"{each:.2f}" for each in (of.exponent, of.memory_exponent))
    return [of.name, *(_cell(figures.get(size)) for size in sizes), *powers]


def _cell(figure: Figure | None) -> str:
    return "not run" if figure is None else f"{figure.wall:.2f} s, {figure.memory:,.0f} MiB"


def main() -> None:
    """Write the page."""
    place = Path(sys.argv[1]) if sys.argv[1:] else PAGE
    place.write_text(page(read()), encoding="utf-8")


if __name__ == "__main__":
    main()
