"""A feed whose instances go into quarantine and come back, by runs that may die before any of their effects."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from pathlib import Path

from tests.unit.actions.fake_action import OpenContext, looking
from tests.unit.retention.feeds import FeedText, acted, cluster, context_on, request_of, retention
from tests.unit.runs.fakes import AuditMemory, MemoryRecorder, envelope_of
from toolkit.actions.action import RunContext
from toolkit.actions.guard import Condition
from toolkit.actions.runner import ActionRunner, Targets
from toolkit.el import Frequency, parse_instant
from toolkit.entities import ExpiryAction, Feed, Hold
from toolkit.ledger.runs.rows import Origin
from toolkit.planning.delete_limits import DeleteLimits
from toolkit.retention import FeedTarget, RetentionResolver, RetentionResult
from toolkit.retention.protection import Protector
from toolkit.retention.resolve import FeedTargets
from toolkit.retention.restorable import RestoreChoice
from toolkit.retention.restore import RestoreAction
from toolkit.runs.lease import Heartbeat
from toolkit.runs.output_use import OutputUse
from toolkit.runs.stop import NeverStopped, StopSignal
from toolkit.storage import FileSystem, LocalFileSystem

LATER = "2090-01-01T00:00Z"
"""Everything that is in quarantine may be purged by then."""
OLD_ONLY = f"days({(date(2090, 1, 1) - date(2026, 3, 10)).days})"
"""A limit by which what is older than 2026-03-10 goes by then."""
DAY = "${YEAR}/${MONTH}/${DAY}"


def feed(root: object, *, limit: str = "days(10)", action: ExpiryAction = ExpiryAction.QUARANTINE) -> Feed:
    """A daily feed that keeps ten days, and the others for three days in quarantine."""
    plain = FeedText(data=f"{root}/data/{DAY}", limit=limit).feed()
    (each,) = plain.clusters
    assert each.retention is not None
    keep = Frequency.parse("days(3)") if action is ExpiryAction.QUARANTINE else None
    kept = replace(each.retention, action=action, quarantine=keep)
    return replace(plain, availability_flag="_SUCCESS", clusters=(replace(each, retention=kept),))


def resolver(system: FileSystem, nominal: str, holds: Sequence[Hold] = ()) -> RetentionResolver:
    return RetentionResolver(
        nominal_time=parse_instant(nominal), keep_beyond_validity=False, holds=tuple(holds), storage=lambda _: system
    )


def target_of(of: Feed, system: FileSystem, nominal: str, holds: Sequence[Hold] = ()) -> FeedTarget:
    """The feed on its cluster, as a run of retention works on it."""
    pairs = [(of, cluster())]
    (target,) = resolver(system, nominal, holds).resolve(pairs, must_all_work=True).to_do
    return target


def evict(
    of: Feed,
    *,
    system: FileSystem | None = None,
    nominal: str = "2026-03-20T12:00Z",
    run_name: str = "1",
    recorder: MemoryRecorder | None = None,
    holds: Sequence[Hold] = (),
    needed: Sequence[Protector] = (),
    dry_run: bool = False,
) -> RetentionResult:
    """One run of retention over the feed."""
    disk = system or LocalFileSystem()
    target = replace(target_of(of, disk, nominal, holds), protectors=tuple(needed))
    targets: FeedTargets = Targets(to_do=(target,))

    def opened(signal: StopSignal, conditions: Sequence[Condition]) -> RunContext:
        return replace(context_on(disk, signal, conditions), run_name=run_name)

    request = request_of(nominal, dry_run=dry_run)
    return acted(retention(limits=DeleteLimits()), targets, request, opened, recorder=recorder, audit=AuditMemory())


def restore(
    of: Feed,
    choice: RestoreChoice | None = None,
    *,
    system: FileSystem | None = None,
    run_name: str = "2",
    recorder: MemoryRecorder | None = None,
    outputs: OutputUse | None = None,
    dry_run: bool = False,
) -> RetentionResult:
    """One restore of the feed."""
    disk = system or LocalFileSystem()
    (target,) = resolver(disk, LATER).restorable([(of, cluster())])

    def opened(signal: StopSignal, conditions: Sequence[Condition]) -> RunContext:
        context = context_on(disk, signal, conditions)
        return replace(context, run_name=run_name, outputs=outputs or context.outputs)

    return restored(target, choice, opened, recorder or MemoryRecorder(), dry_run=dry_run)


def restored(
    target: FeedTarget,
    choice: RestoreChoice | None,
    opened: OpenContext,
    recorder: MemoryRecorder,
    *,
    dry_run: bool = False,
) -> RetentionResult:
    """Restore what is chosen of a target; None: all of it."""
    process = NeverStopped()
    runner = ActionRunner(
        action=RestoreAction(choice=choice or RestoreChoice()),
        process=process,
        look=looking(opened),
        open_context=opened,
        origin_of=lambda _: Origin(who="alice"),
    )
    if dry_run:
        return runner.preview(request_of(LATER, dry_run=True), Targets(to_do=(target,)))
    with Heartbeat(recorder, seconds=3600.0) as heartbeat:
        envelope = envelope_of(recorder, heartbeat, audit=AuditMemory(), process=process)
        return runner.run(request_of(LATER), Targets(to_do=(target,)), envelope)


def fill(root: Path, *days: str) -> None:
    """Instances with files and directories, of which each has permissions and times of its own."""
    for number, day in enumerate(days):
        top = root / "data" / day
        (top / "deep").mkdir(parents=True)
        (top / "empty").mkdir()
        for name in ("part-0", "deep/part-1", "_SUCCESS"):
            (top / name).write_text(f"{day} {name}")
            (top / name).chmod(0o640 if number % 2 else 0o604)
        for name in ("part-0", "deep/part-1", "_SUCCESS", "deep", "empty", ""):
            os.utime(top / name, (1_700_000_000 + number, 1_700_000_000.25 + number))
        top.chmod(0o2750)
        for parent in (top.parent, top.parent.parent):
            parent.chmod(0o751)


def tree(root: Path, place: str = "data") -> dict[str, tuple[object, ...]]:
    """Everything below a directory but feedctl's own: bytes, owner, permissions, and times of what is in instances."""
    found: dict[str, tuple[object, ...]] = {}
    for each in sorted((root / place).rglob("*")):
        name = str(each.relative_to(root))
        if "/.feedctl" in name:
            continue
        status = each.lstat()
        is_parent = name.count("/") < "data/YEAR/MONTH/DAY".count("/")
        time = None if is_parent else status.st_mtime_ns
        content = each.read_bytes() if each.is_file() else None
        found[name] = (content, status.st_mode, status.st_uid, status.st_gid, time)
    return found


def own(root: Path) -> list[str]:
    """Return the files and directories of feedctl's own."""
    return sorted(str(each.relative_to(root)) for each in root.rglob("*") if "/.feedctl" in str(each))


def manifests(root: Path) -> list[Path]:
    """Return the manifests in quarantine."""
    return sorted(each for each in root.rglob("*.json") if "/.feedctl/quarantine/" in str(each))
