"""`feedctl page`: static pages of the installation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from toolkit.cli.flags import RepoFlags, flat


@flat
def page(
    *,
    out: Annotated[
        Path, typer.Option("--out", metavar="DIR", help="The folder of the pages; made if missing, else its own.")
    ],
    repo: RepoFlags,
) -> None:
    """Write static pages of clusters, feeds, processes and validation results; only those that changed."""
    from toolkit.bootstrap.page import written_pages
    from toolkit.cli.streams import print_result

    built = written_pages(repo.request(), out)
    print_result(
        f"{(out / 'index.html').resolve()}: {built.pages} pages, {built.written} written, {built.removed} removed\n"
    )
