"""`feedctl outbox`: messages that wait to be sent, that were sent, and that were given up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.flags import AnswerFlags, flat
from toolkit.cli.options import print_answer, print_rows
from toolkit.cli.streams import say
from toolkit.ledger.outbox import OutboxState

if TYPE_CHECKING:
    from collections.abc import Sequence

app = typer.Typer(no_args_is_help=True)

_Number = Annotated[int, typer.Argument(metavar="ID", help="The number of the message.")]
_Numbers = Annotated[list[int] | None, typer.Argument(metavar="ID...", help="The numbers of messages.")]
_Channel = Annotated[
    str | None,
    typer.Option("--channel", metavar="NAME", help="The channel: mail, broker:CLUSTER, or one of monitoring.channels."),
]


@app.callback()
def outbox() -> None:
    """Show messages that wait, were sent or were given up; send them again or drop them."""


@app.command("list")
@flat
def list_messages(
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also messages that were sent.")] = False,
    state: Annotated[
        list[OutboxState] | None, typer.Option("--state", metavar="STATE", help="Only in this state; repeatable.")
    ] = None,
    channel: _Channel = None,
    limit: Annotated[int, typer.Option("--limit", min=1, help="Show at most this many, the newest.")] = 100,
    repo: AnswerFlags,
) -> None:
    """List the messages that wait and those that were given up, the newest first, and channels that cannot send."""
    from toolkit.ledger import outbox as messages
    from toolkit.rendering.outbox import OUTBOX_COLUMNS, channel_document, channel_lines, message_document, outbox_rows

    states: Sequence[OutboxState] = state or (
        tuple(OutboxState) if everything else (OutboxState.WAITING, OutboxState.DEAD)
    )
    with repo.opened_with_settings(writing=False) as (ledger, _):
        found = ledger.read(lambda tx: messages.listed(tx, states, channel=channel, most=limit))
        channels = ledger.read(messages.channel_states)
    document = {
        "messages": [message_document(each) for each in found],
        "channels": [channel_document(each) for each in channels],
    }
    print_rows(repo.output, lambda: document, OUTBOX_COLUMNS, outbox_rows(found), nothing="no messages")
    for line in channel_lines(channels):
        say(f"note: {line}")


@app.command("show")
@flat
def show(*, number: _Number, repo: AnswerFlags) -> None:
    """Show a message in full, with what became of it."""
    from toolkit.management.outbox import get_message
    from toolkit.rendering.outbox import body_document, message_lines

    with repo.opened_with_settings(writing=False) as (ledger, _):
        found = get_message(ledger, number)
    print_answer(repo.output, {"message": body_document(found)}, *message_lines(found))


@app.command("retry")
@flat
def retry(*, numbers: _Numbers = None, channel: _Channel = None, repo: AnswerFlags) -> None:
    """Have messages sent again that wait or were given up: by the next action, or by `feedctl monitor`."""
    from toolkit.management.outbox import retry_messages
    from toolkit.runs.recorder import current_user

    with repo.opened_with_settings(writing=True) as (ledger, settings):
        expires = settings.monitoring.expires
        changed = retry_messages(ledger, numbers or (), channel, expires, current_user())
    print_answer(repo.output, {"messages": changed}, f"{len(changed)} messages are sent again")


@app.command("drop")
@flat
def drop(*, numbers: _Numbers = None, channel: _Channel = None, repo: AnswerFlags) -> None:
    """Give up messages that wait."""
    from toolkit.management.outbox import drop_messages
    from toolkit.runs.recorder import current_user

    with repo.opened_with_settings(writing=True) as (ledger, _):
        changed = drop_messages(ledger, numbers or (), channel, current_user())
    print_answer(repo.output, {"messages": changed}, f"{len(changed)} messages were dropped")
