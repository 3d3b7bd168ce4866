"""The ledger as an action uses it: for its runs, only for reading in a dry run, or not at all by choice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

from tenacity import Retrying, retry_if_exception_type, stop_after_delay, wait_fixed

from toolkit.bootstrap.ledgers import NoLedgerNamed, ledger_of
from toolkit.errors import Skipped
from toolkit.ledger.errors import LedgerConflict, LedgerUnavailable
from toolkit.ledger.state import holds, start_check
from toolkit.runs.output_use import OutputUse
from toolkit.runs.recorder import message_text, path_text
from toolkit.threads import JoinedCalls
from toolkit.variables import Variables

if TYPE_CHECKING:
    from toolkit.actions.hold_file import HoldFile
    from toolkit.config_source import Snapshot
    from toolkit.entities import Hold
    from toolkit.entities.repo import RepoSettings
    from toolkit.ledger.database import Ledger, Transaction
    from toolkit.ledger.state.holds import LedgerHold

FirstWrite: TypeAlias = "Callable[[Transaction], object]"
"""A change to the ledger that an action's runs rely on, made before the first of them starts."""

_LOG = logging.getLogger(__name__)

_RESTART_SECONDS = 10.0
"""A database that is restarted is waited for so long, well below a lease; meanwhile nothing is deleted."""
_POLL_SECONDS = 0.5

_NOT_READ = "ledger holds, safe mode and suspensions were not read"


@dataclass(frozen=True, kw_only=True)
class LedgerHolds:
    """The holds of the ledger as they were read, and whether there are more by now.

    Attributes:
        ledger: None: the action does without.
        found: when they were read.
        files: feeds, each with its cluster, of which an earlier run met a hold file.
        patience: seconds for which a ledger that cannot be read is asked again.
    """

    ledger: Ledger | None
    found: tuple[LedgerHold, ...]
    files: frozenset[tuple[str, str]] = frozenset()
    patience: float = _RESTART_SECONDS

    @property
    def as_entities(self) -> tuple[Hold, ...]:
        """They in the form of those of `holds.yaml`."""
        return tuple(map(holds.as_entity_hold, self.found))

    @property
    def current(self) -> tuple[Hold, ...]:
        """The holds as the ledger has them now; raises LedgerUnavailable when it cannot be read."""
        return tuple(map(holds.as_entity_hold, self._active()))

    def are_on(self, pairs: Sequence[tuple[str, str]]) -> bool:
        """Return whether a hold was added on any of these feeds, each with its cluster, since they were read.

        Raises:
            LedgerUnavailable: it cannot be read now.
        """
        if self.ledger is None:
            return False
        known = {each.hold_id for each in self.found}
        added = [each for each in self._active() if each.hold_id not in known]
        return any(holds.as_entity_hold(each).concerns(*pair) for each in added for pair in pairs)

    def note_file(self, feed: str, cluster: str, hold_file: HoldFile | None) -> None:
        """Remember that a run met a hold file, or that there is none any more: for `feedctl status`, so no run fails.

        Args:
            feed: that it holds.
            cluster: where.
            hold_file: None: there is none.
        """
        if self.ledger is None or (hold_file is None and (feed, cluster) not in self.files):
            return
        try:
            if hold_file is None:
                self.ledger.write(lambda tx: holds.miss_file(tx, feed, cluster))
            else:
                path, reason = path_text(str(hold_file.path)), message_text(hold_file.text)
                self.ledger.write(lambda tx: holds.see_file(tx, feed, cluster, path=path, reason=reason))
        except (LedgerUnavailable, LedgerConflict) as error:
            _LOG.warning('event=hold_file_not_recorded feed=%s cluster=%s why="%s"', feed, cluster, error)

    @cached_property
    def _active(self) -> JoinedCalls[Sequence[LedgerHold]]:
        """Read the holds; runs that ask at the same time share the answer."""
        return JoinedCalls(self._read_active)

    def _read_active(self) -> Sequence[LedgerHold]:
        if self.ledger is None:
            return ()
        again = Retrying(
            retry=retry_if_exception_type(LedgerUnavailable),
            stop=stop_after_delay(self.patience),
            wait=wait_fixed(_POLL_SECONDS),
            reraise=True,
        )
        return again(self.ledger.read, holds.active)


@dataclass(frozen=True, kw_only=True)
class LedgerUse:
    """Ledger of an action.

    Attributes:
        ledger: None: the action does without.
        notes: what the user should know when it does.
    """

    ledger: Ledger | None
    notes: tuple[str, ...] = ()

    @property
    def place(self) -> str | None:
        """Its URL without password."""
        return None if self.ledger is None else self.ledger.place

    @cached_property
    def outputs(self) -> OutputUse:
        """The writers and evictions of other runs; all runs of the process ask here, and share what they read."""
        return OutputUse(ledger=self.ledger)

    def holds(self) -> LedgerHolds:
        """The holds that were added by command.

        Raises:
            LedgerUnavailable: it cannot be read, so it is unknown what is on hold.
        """
        if self.ledger is None:
            return LedgerHolds(ledger=None, found=())
        found, files = self.ledger.read(lambda tx: (holds.active(tx), holds.seen_files(tx)))
        known = frozenset((each.feed, each.cluster) for each in files)
        return LedgerHolds(ledger=self.ledger, found=tuple(found), files=known)

    def write_first(self, writes: Iterable[FirstWrite]) -> None:
        """Write what the runs of an action rely on, in one transaction.

        Raises:
            SafeModeIsOn: the whole installation rests, so that nothing was written.
            LedgerUnavailable: it cannot be written.
        """
        wanted = tuple(writes)

        def work(tx: Transaction) -> None:
            start_check.refuse_in_safe_mode(tx)
            for each in wanted:
                each(tx)

        if wanted and self.ledger is not None:
            self.ledger.write(work)

    def obstacle(self, entity: str, cluster: str) -> str | None:
        """Return what would keep a run of the entity from starting now; None: nothing is known.

        Raises:
            LedgerUnavailable: it cannot be read.
        """
        if self.ledger is None:
            return None
        try:
            self.ledger.read(lambda tx: start_check.check(tx, entity, cluster))
        except Skipped as skipped:
            return str(skipped)
        return None


@contextmanager
def ledger_in_use(
    snapshot: Snapshot, settings: RepoSettings, variables: Variables, *, for_mutation: bool, no_ledger: bool
) -> Iterator[LedgerUse]:
    """The ledger that the environment or the config repo names, closed at the end.

    Args:
        snapshot: of the config repo.
        settings: of the config repo.
        variables: of the process.
        for_mutation: the action changes something, so that it cannot do without a ledger; else it is only read.
        no_ledger: the user chose to act without.

    Raises:
        InvalidInput: no ledger is named, or this feedctl must not use it.
        LedgerUnavailable: it cannot be used now.
    """
    if no_ledger:
        yield LedgerUse(ledger=None, notes=(f"--no-ledger: {_NOT_READ}",))
        return
    try:
        ledger = ledger_of(snapshot, settings, variables, read_only=not for_mutation)
    except NoLedgerNamed:
        if for_mutation:
            raise
        yield LedgerUse(ledger=None, notes=(f"no ledger is named in repo.yaml or FEEDCTL_LEDGER: {_NOT_READ}",))
        return
    try:
        yield LedgerUse(ledger=ledger)
    finally:
        ledger.close()
