"""What every call of `feedctl run` does around itself: open the ledger, and answer with JSON, on errors too."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from toolkit.cli.options import print_json
from toolkit.errors import FeedctlError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolkit.ledger.jobs.rows import JobRef
    from toolkit.runs.job_io import JobIo
    from toolkit.runs.metadata import RunMetadata


@contextmanager
def answering() -> Iterator[None]:
    """Print an error of the body as JSON, and let it go on to its message and exit code."""
    try:
        yield
    except FeedctlError as error:
        from toolkit.rendering.run_metadata import error_document

        print_json({"error": error_document(error)})
        raise


@contextmanager
def calls(config_repo: str | None, env: str | None, *, writing: bool = True) -> Iterator[RunMetadata]:
    """The calls on the ledger that the options mean; errors are answered with JSON.

    Args:
        config_repo: as `--config-repo` names it; not looked at when FEEDCTL_LEDGER says it all.
        env: as `--env` names it.
        writing: otherwise the database itself refuses every change.
    """
    with answering():
        from dataclasses import replace

        from toolkit.bootstrap.ledgers import open_ledger_for
        from toolkit.runs.identity import origin_here
        from toolkit.runs.metadata import RunMetadata

        ledger = open_ledger_for(config_repo, env, read_only=not writing)
        try:
            # The process that calls ends at once; the owner of the job is the workflow around it.
            yield RunMetadata(ledger=ledger, origin=replace(origin_here(os.environ), pid=None))
        finally:
            ledger.close()


def job_io(config_repo: str | None, env: str | None, ref: JobRef, instance_key: str) -> JobIo:
    """What an instance reads and makes, as the config repo says.

    Raises:
        InvalidInput: no usable config repo, or the process has no such instance there.
    """
    from toolkit.bootstrap.config import load_repository
    from toolkit.runs.job_io import JobIo

    return JobIo.of(load_repository(config_repo, env), ref.process, ref.cluster, instance_key)
