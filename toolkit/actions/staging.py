"""Staging of one instance of a feed with quality checks: its units, and whether they may be published."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from toolkit.actions.staged_unit import StagedUnit
from toolkit.actions.validation import Part, Publishable, QualityFailed
from toolkit.clock import SystemClock

if TYPE_CHECKING:
    from toolkit.actions.action import RunContext
    from toolkit.actions.validation import FeedValidation, Written
    from toolkit.el import CanonicalPath


@dataclass(frozen=True, kw_only=True)
class InstanceStaging:
    """Staging of one instance. Every call raises StorageError and StopRequested.

    Attributes:
        validation: of the feed.
        instance_key: of the instance.
        base: bounds every effect.
        work: of the run.
        counterpart: of a copy, the cluster it came from; else empty.
        top: see `staging_place`.
        now: of the wall clock, UTC.
    """

    validation: FeedValidation
    instance_key: str
    base: CanonicalPath
    work: RunContext
    counterpart: str = ""
    top: CanonicalPath | None = None
    now: Callable[[], datetime] = field(default=SystemClock().now)

    def unit(self, unit: CanonicalPath) -> StagedUnit:
        """Return a unit of the instance by its final place."""
        return StagedUnit(work=self.work, unit=unit, base=self.base, top=self.top)

    def written(self, unit: CanonicalPath, place: CanonicalPath) -> Written:
        """Return a unit that is one directory, at a place, as data to be validated."""
        parts = (Part(place=place),)
        return self.validation.written(self.instance_key, str(unit), parts, counterpart=self.counterpart)

    def validate(
        self, written: Written, units: Sequence[CanonicalPath], check: Callable[[], None] | None = None
    ) -> Publishable:
        """Return if data may be published; else write a manifest for each of its units before the error goes on.

        Args:
            written: the data.
            units: the final places of what is staged of it.
            check: raises when the run must end; None: as all effects of the run.

        Raises:
            QualityFailed: it must not be published.
            Unavailable: the ledger cannot be written.
        """
        try:
            return self.work.validator.validate(written, check or self.work.guard.check)
        except QualityFailed as error:
            self.work.pool(self.base).run_all(partial(self._note_blocked, written, error), units)
            raise

    def validate_unit(
        self, unit: CanonicalPath, place: CanonicalPath, check: Callable[[], None] | None = None
    ) -> Sequence[str]:
        """Return notes if a unit that is one directory may be published; see `validate`."""
        return self.validate(self.written(unit, place), [unit], check).notes

    def may_publish(
        self,
        unit: CanonicalPath,
        place: CanonicalPath | None = None,
        *,
        is_copy: bool = False,
        by: Collection[int] | None = None,
    ) -> bool:
        """Return whether a unit that is one directory was validated and may be published; validate nothing.

        Args:
            unit: its final place.
            place: where it is; None: staged.
            is_copy: see `Validator.may_publish`.
            by: see `Validator.may_publish`.
        """
        written = self.written(unit, place or self.unit(unit).place)
        return self.work.validator.may_publish(written, is_copy=is_copy, by=by)

    def _note_blocked(self, written: Written, error: QualityFailed, unit: CanonicalPath) -> None:
        self.unit(unit).note_blocked(written, error, self.now())
