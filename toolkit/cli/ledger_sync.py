"""`feedctl ledger sync`: the ledger gets to know the processes of the config repo."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.options import ConfigRepo, Env, print_json
from toolkit.cli.run_calls import answering

AllowDirty = Annotated[bool, typer.Option("--allow-dirty", help="Register a checkout with uncommitted changes.")]


def sync(config_repo: ConfigRepo = None, env: Env = None, allow_dirty: AllowDirty = False) -> None:
    """Register the processes of the config repo: steps, properties, and who enqueues whom. The answer is JSON."""
    with answering():
        from toolkit.bootstrap.registering import sync_ledger
        from toolkit.clock import SystemClock
        from toolkit.rendering.run_metadata import sync_document
        from toolkit.runs.identity import current_user

        who = current_user()
        report = sync_ledger(config_repo, env, who=who, allow_dirty=allow_dirty, clock=SystemClock())
        print_json(sync_document(report))
