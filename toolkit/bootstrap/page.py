"""Wiring of `feedctl page`."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from toolkit.bootstrap.config import RepoRequest, load_entities, open_config
from toolkit.bootstrap.ledgers import ledger_of
from toolkit.pages.build import BuiltPages, build_pages


def written_pages(repo: RepoRequest, out: Path) -> BuiltPages:
    """Write the pages of a config repo; errors are those of `build_pages`, of the config repo and of the ledger."""
    snapshot = open_config(repo)
    repository = load_entities(snapshot, repo)
    environment = repository.environment
    names = (repository.settings.name or Path(snapshot.root).name, environment.name if environment else "")
    with closing(ledger_of(snapshot, repository.settings, repo.variables, read_only=True)) as ledger:
        return build_pages(
            ledger, repository, snapshot.files, out, site=" ".join(filter(None, names)), snapshot=str(snapshot.id)
        )
