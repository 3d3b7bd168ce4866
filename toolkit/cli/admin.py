"""`feedctl admin`: what concerns the whole installation."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import print_answer

app = typer.Typer(no_args_is_help=True)
safe_mode = typer.Typer(no_args_is_help=True)
app.add_typer(safe_mode, name="safe-mode")

_Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is shown and recorded.")]


@app.callback()
def admin() -> None:
    """Manage the installation as a whole."""


@safe_mode.callback()
def safe_mode_group() -> None:
    """Stop all runs from starting, and let them start again."""


@safe_mode.command("on")
@flat
def switch_on(*, reason: _Reason = None, repo: AnswerFlags) -> None:
    """Switch safe mode on: no run starts; reading, suspending, killing and holding are still allowed."""
    _switch(reason, repo, on=True)


@safe_mode.command("off")
@flat
def switch_off(*, reason: _Reason = None, repo: AnswerFlags) -> None:
    """Switch safe mode off."""
    _switch(reason, repo, on=False)


@safe_mode.command("status")
@flat
def show(*, repo: AnswerFlags) -> None:
    """Show whether safe mode is on, since when and why."""
    from toolkit.management.entities import safe_mode_state
    from toolkit.rendering.overview import safe_mode_document, safe_mode_line

    with repo.opened_with_settings(writing=False) as (ledger, _):
        state = safe_mode_state(ledger)
    print_answer(repo.output, {"safe_mode": safe_mode_document(state)}, safe_mode_line(state))


def _switch(reason: str | None, repo: AnswerFlags, *, on: bool) -> None:
    from toolkit.management.entities import switch_safe_mode
    from toolkit.rendering.overview import safe_mode_document, safe_mode_line
    from toolkit.runs.recorder import current_user

    with repo.opened_with_settings(writing=True) as (ledger, settings):
        switched = switch_safe_mode(ledger, on=on, who=current_user(), reason=reason, admins=settings.admins)
    document = {"changed": switched.is_changed, "safe_mode": safe_mode_document(switched.state)}
    unchanged = "" if switched.is_changed else "; nothing was changed"
    print_answer(repo.output, document, f"{safe_mode_line(switched.state)}{unchanged}")
