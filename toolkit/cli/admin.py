"""`feedctl admin`: what concerns the whole installation."""

from __future__ import annotations

from typing import Annotated

import typer

from toolkit.cli.options import ConfigRepo, Env, Output, OutputAs, print_json

app = typer.Typer(no_args_is_help=True)
safe_mode = typer.Typer(no_args_is_help=True)
app.add_typer(safe_mode, name="safe-mode")

_Reason = Annotated[str | None, typer.Option("--reason", metavar="TEXT", help="Why; it is shown and recorded.")]


@app.callback()
def admin() -> None:
    """Look after the installation as a whole."""


@safe_mode.callback()
def safe_mode_group() -> None:
    """Let everything rest: nothing starts, and only what calms things down is allowed."""


@safe_mode.command("on")
def switch_on(
    reason: _Reason = None, config_repo: ConfigRepo = None, env: Env = None, output: OutputAs = Output.TEXT
) -> None:
    """Switch safe mode on: no run starts; reading, suspending, killing and holding are still allowed."""
    _switch(reason, config_repo, env, output, on=True)


@safe_mode.command("off")
def switch_off(
    reason: _Reason = None, config_repo: ConfigRepo = None, env: Env = None, output: OutputAs = Output.TEXT
) -> None:
    """Switch safe mode off."""
    _switch(reason, config_repo, env, output, on=False)


@safe_mode.command("status")
def show(config_repo: ConfigRepo = None, env: Env = None, output: OutputAs = Output.TEXT) -> None:
    """Show whether safe mode is on, since when and why."""
    from toolkit.cli.opened import opened_with_settings
    from toolkit.management.entities import safe_mode_state
    from toolkit.rendering.overview import safe_mode_document, safe_mode_line

    with opened_with_settings(config_repo, env, writing=False) as (ledger, _):
        state = safe_mode_state(ledger)
    if output is Output.JSON:
        print_json({"safe_mode": safe_mode_document(state)})
    else:
        print(safe_mode_line(state))


def _switch(reason: str | None, config_repo: str | None, env: str | None, output: Output, *, on: bool) -> None:
    from toolkit.cli.opened import opened_with_settings
    from toolkit.management.entities import switch_safe_mode
    from toolkit.rendering.overview import safe_mode_document, safe_mode_line
    from toolkit.runs.recorder import current_user

    with opened_with_settings(config_repo, env, writing=True) as (ledger, settings):
        switched = switch_safe_mode(ledger, on=on, who=current_user(), reason=reason, admins=settings.admins)
    if output is Output.JSON:
        print_json({"changed": switched.is_changed, "safe_mode": safe_mode_document(switched.state)})
    else:
        print(f"{safe_mode_line(switched.state)}{'' if switched.is_changed else '; nothing was changed'}")
