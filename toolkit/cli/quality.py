"""`feedctl quality`: results of validations, and decisions on blocked data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from toolkit.cli.completion import feed_names
from toolkit.cli.flags import AnswerFlags, RepoFlags, flat
from toolkit.cli.options import ClusterName, OutputFormat, print_answer, print_rows

if TYPE_CHECKING:
    from toolkit.ledger.vocabulary import ValidationState
    from toolkit.quality.decision_targets import DecisionPlan

app = typer.Typer(no_args_is_help=True)

_Feed = Annotated[str, typer.Argument(metavar="FEED", autocompletion=feed_names, help="The feed.")]
_AnyKey = Annotated[
    str | None, typer.Option("--time", metavar="INSTANT", help="This instance alone, with all findings.")
]
_Most = Annotated[int, typer.Option("--limit", min=1, help="Show at most this many.")]


@dataclass(frozen=True, kw_only=True, slots=True)
class DecisionFlags:
    """Options of a decision on blocked data."""

    feed: _Feed
    key: Annotated[str, typer.Option("--time", metavar="INSTANT", help="The instance.")]
    reason: Annotated[
        str, typer.Option("--reason", metavar="TEXT", help="Why; it is in the ledger and the audit file.")
    ]
    cluster: ClusterName = None
    unit: Annotated[
        str | None,
        typer.Option(
            "--unit", metavar="URI", help="Which part of the instance, as `show` names it, when it has several."
        ),
    ] = None
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be done, and change nothing.")] = False


@app.callback()
def quality() -> None:
    """Show validation results; release or reject blocked data. The entrypoint `validate` validates by hand."""


@app.command("show")
@flat
def show(
    *, feed: _Feed, key: _AnyKey = None, cluster: ClusterName = None, limit: _Most = 100, repo: AnswerFlags
) -> None:
    """Show the newest validation result of each instance of a feed, or all findings of one."""
    from toolkit.el import format_instant, parse_instant
    from toolkit.ledger import validations
    from toolkit.rendering.quality import COLUMNS, validation_document, validation_lines, validation_rows

    wanted = None if key is None else format_instant(parse_instant(key))
    with repo.opened(writing=False) as (ledger, repository):
        repository.feed(feed)
        found = ledger.read(
            lambda tx: validations.newest_of(tx, feed, cluster=cluster, instance_key=wanted, most=limit)
        )
        findings = ledger.read(lambda tx: validations.findings_of(tx, [each.verdict_id for each in found]))
    if key is not None and repo.output is OutputFormat.TEXT and found:
        print_answer(
            repo.output, {}, *(one for each in found for one in validation_lines(each, findings[each.verdict_id]))
        )
        return
    print_rows(
        repo.output,
        lambda: {"feed": feed, "verdicts": [validation_document(each, findings[each.verdict_id]) for each in found]},
        COLUMNS,
        validation_rows(found, findings),
        nothing=f"nothing of {feed} was validated",
    )


@app.command("history")
@flat
def history(
    *,
    feed: _Feed,
    expectation: Annotated[str, typer.Option("--expectation", metavar="TYPE", help="The type of the expectation.")],
    cluster: ClusterName = None,
    limit: _Most = 100,
    repo: AnswerFlags,
) -> None:
    """Print one expectation over the instances of a feed, the newest first."""
    from toolkit.ledger import validations
    from toolkit.rendering.quality import HISTORY_COLUMNS, history_document, history_rows

    with repo.opened(writing=False) as (ledger, repository):
        repository.feed(feed)
        found = ledger.read(lambda tx: validations.history(tx, feed, expectation, cluster=cluster, most=limit))
    print_rows(
        repo.output,
        lambda: {"feed": feed, "expectation": expectation, "findings": history_document(found)},
        HISTORY_COLUMNS,
        history_rows(found),
        nothing=f"nothing of {feed} was validated by {expectation}",
    )


@app.command("release")
@flat
def release(*, flags: DecisionFlags, repo: AnswerFlags) -> int:
    """Publish blocked data: exactly the files that are staged now, by the action that wrote them."""
    from toolkit.cli.quality_release import publish
    from toolkit.ledger.vocabulary import ValidationState

    decided = _decided(ValidationState.RELEASED, flags, repo)
    if flags.dry_run:
        _print_planned(decided, ValidationState.RELEASED, repo.output)
        return 0
    return publish(decided.target, repo)


@app.command("reject")
@flat
def reject(*, flags: DecisionFlags, repo: AnswerFlags) -> None:
    """Remove blocked data; the next copy brings it again, and a process makes it again with --force."""
    from toolkit.ledger.vocabulary import LifeCycle, ValidationState
    from toolkit.rendering.quality import validation_document
    from toolkit.runs.recorder import current_user

    decided = _decided(ValidationState.REJECTED, flags, repo)
    if flags.dry_run:
        _print_planned(decided, ValidationState.REJECTED, repo.output)
        return
    found, state = decided.target.found, ValidationState.REJECTED.value
    again = f"to make it anew: the process {found.entity}, --time {decided.target.run_key}, with --force"
    is_made = found.run_id is not None and found.life_cycle is LifeCycle.EXECUTION
    print_answer(
        repo.output,
        {"state": state, "decided_by": current_user(), "verdict": validation_document(found)},
        f"{found.unit} is rejected, and what lay at {found.place} is removed",
        *([again] if is_made else []),
    )


def _print_planned(planned: DecisionPlan, state: ValidationState, output: OutputFormat) -> None:
    """Print what a decision would do."""
    from toolkit.quality.decision_targets import removed_places
    from toolkit.rendering.quality import validation_document

    found, removes = planned.target.found, removed_places(planned)
    print_answer(
        output,
        {"dry_run": True, "state": state.value, "removes": removes, "verdict": validation_document(found)},
        f"{found.unit} would be {state}, for exactly the data {found.data_digest[:12]}",
        *(f"what lies at {each} would be removed" for each in removes),
    )


def _decided(state: ValidationState, flags: DecisionFlags, repo: RepoFlags) -> DecisionPlan:
    from toolkit.bootstrap.decide import DecisionOptions, decide
    from toolkit.clock import SystemClock
    from toolkit.el import format_instant, parse_instant
    from toolkit.runs.stop import watched_signals

    options = DecisionOptions(
        state=state,
        feed=flags.feed,
        instance_key=format_instant(parse_instant(flags.key)),
        cluster=flags.cluster,
        unit=flags.unit,
        reason=flags.reason,
        repo=repo.request(),
        dry_run=flags.dry_run,
    )
    with watched_signals(options.repo.variables) as stop:
        return decide(options, SystemClock(), stop)
