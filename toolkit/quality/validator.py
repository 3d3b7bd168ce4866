"""Validator of a run: data is published only with a result on exactly this data, in the ledger first (ADR 0049)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from typing_extensions import override

from toolkit.actions.validation import Publishable, Validator
from toolkit.el import parse_instant
from toolkit.el.frequency import Unit
from toolkit.entities.quality import is_pii
from toolkit.entities.vocabulary import ExpectationSeverity, OnFailure
from toolkit.errors import Failed, InvalidInput
from toolkit.ledger import validations
from toolkit.ledger.validations import NewValidationResult, StoredFinding, UnitAddress, ValidationResult
from toolkit.ledger.vocabulary import ValidationState
from toolkit.quality.data import DataPrint, print_of, suites_digest
from toolkit.quality.documents import Answer, Question, RequestedPart
from toolkit.quality.messages import kwargs_stored, stored, stored_left_out, why_of
from toolkit.quality.publishable import may_pass, publishable, without_ledger
from toolkit.quality.substitution import LeftOut, fill, needs_previous
from toolkit.runs.recorder import message_text

if TYPE_CHECKING:
    from toolkit.actions.validation import Written
    from toolkit.el import CanonicalPath
    from toolkit.entities import Cluster
    from toolkit.entities.quality import Quality, Suite
    from toolkit.ledger.database import Ledger
    from toolkit.ledger.vocabulary import LifeCycle
    from toolkit.storage import FileSystem

_LOG = logging.getLogger(__name__)

_SPARK_SCHEMES = {"s3": "s3a"}
"""Hadoop's names for stores where they are not the canonical ones."""
_CHANGED = "the data changed while they were validated"
_LEAVES_OUT = frozenset({"pathglobfilter", "modifiedbefore", "modifiedafter", "path", "paths"})
"""Options of Spark's reader, which cares for no case, by which other files are read than those that are announced."""
_DROPS_ROWS = ("mode", "DROPMALFORMED")

_Findings = tuple[StoredFinding, ...]
Validate = Callable[[Question, float, Callable[[], None]], Answer]
"""Validates in a process of its own within so many seconds; that runs no more when this raises `NoValidatorAnswer`, or
what the check raises."""
WritePage = Callable[[NewValidationResult, "Quality", _Findings], str]
"""Writes the page of a result, and tells its URI; raises `NoPage` or OSError."""


class NoPage(Failed):
    """There is no page; the result is in the ledger all the same.

    Args:
        why: what is missing, or cannot be written.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"no page of this validation result: {why}")


class NoValidatorAnswer(Failed):
    """A validation process that gave no usable answer.

    Args:
        why: what became of it.
    """

    def __init__(self, *, why: str) -> None:
        self.why = why
        super().__init__(f"it could not be validated: {why}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Author:
    """The run that wrote the data.

    Attributes:
        entity: the process or feed.
        run_id: in the ledger; None: there is none, as when it is validated by hand.
        life_cycle: of the action; None: none wrote it.
    """

    entity: str
    run_id: int | None = None
    life_cycle: LifeCycle | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class UnitValidation:
    """A result that was just made.

    Attributes:
        result: as it is recorded.
        findings: of each expectation that was asked.
        notes: for the user: what was not asked.
    """

    result: NewValidationResult
    findings: tuple[StoredFinding, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class SuiteValidator(Validator):
    """The `Validator` of a run; safe between threads.

    Attributes:
        stores: for listing.
        suites: of the config repo, by name.
        ledger: keeps results; None: the user chose to do without, and data is published only with a warning.
        processes: validates data of a cluster.
        write_page: see `WritePage`.
        author: whose data are validated.
        allows_sql: the operator allows SQL in suites.
    """

    stores: Callable[[CanonicalPath], FileSystem]
    suites: Mapping[str, Suite]
    ledger: Ledger | None
    processes: Callable[[Cluster], Validate]
    write_page: WritePage
    author: Author
    allows_sql: bool = False

    @override
    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        if self.ledger is None:
            return without_ledger(written)
        found, known = self._known(written, self.ledger)
        if known is None or known.state is ValidationState.UNKNOWN or self._has_changed(written, known, self.ledger):
            validation = self._validated(written, found, check)
            self.ledger.write(lambda tx: validations.record(tx, validation.result, validation.findings))
            return publishable(written, validation.result, validation.notes)
        return publishable(written, known)

    @override
    def may_publish(self, written: Written, *, is_copy: bool = False, by: Collection[int] | None = None) -> bool:
        if self.ledger is None:
            return False
        found, known = self._known(written, self.ledger)
        has_renames = all(self.stores(each.place).capabilities.atomic_rename for each in written.parts)
        if known is None and is_copy and not has_renames:
            address, suites = _address(written), self.digest_of_suites(written)
            known = self.ledger.read(lambda tx: validations.on_layout(tx, address, found.layout_digest, suites))
        return known is not None and (by is None or known.run_id in by) and may_pass(known, written.quality)

    def validate_by_hand(self, written: Written, check: Callable[[], None]) -> UnitValidation:
        """Validate what is there for a person, whatever was found before; the result permits nothing.

        Raises:
            StorageError: it cannot be listed.
            Unavailable: the ledger cannot be written.
            Stopped: what `check` raises.
        """
        validation = self._validated(written, print_of(written, self.stores, uses_listed=True), check)
        by_hand = replace(validation, result=replace(validation.result, is_by_hand=True))
        if self.ledger is not None:
            self.ledger.write(lambda tx: validations.record(tx, by_hand.result, by_hand.findings))
        return by_hand

    def question(self, written: Written) -> tuple[Question, tuple[LeftOut, ...]]:
        """Return the request for the validation process, and the expectations that are left out.

        Raises:
            InvalidInput: a suite is not there, something in it cannot be filled in, or an option is not allowed.
        """
        previous = None
        if self.ledger is not None:
            of_feed = (written.feed.name, written.cluster.name, written.instance_key)
            previous = self.ledger.read(lambda tx: validations.previous_rows(tx, *of_feed))
        quality, instant = written.quality, parse_instant(written.instance_key)
        for option, value in quality.options.items():
            if option.lower() in _LEAVES_OUT:
                message = f"the option {option} reads other files than those that are announced; remove it"
                raise InvalidInput(message)
            if (option.lower(), value.upper()) == _DROPS_ROWS:
                message = f"the option {option} {value} drops rows that are announced; expected PERMISSIVE or FAILFAST"
                raise InvalidInput(message)
        of_instance = (self._suites(quality), written.feed, written.cluster, instant, {"row_count": previous})
        filled = fill(*of_instance, allows_sql=self.allows_sql)
        table = written.table
        question = Question(
            parts=tuple(RequestedPart(uri=_uri(each.place), keys=each.keys) for each in written.parts),
            format=quality.format if table is None else table.format,
            expectations=filled.expectations,
            options=quality.options if table is None else table.options,
            columns={} if table is None else table.columns,
            keys={} if table is None else table.keys,
            sample=quality.sample,
            shows_values=not is_pii(written.feed.tags),
            allows_sql=self.allows_sql,
        )
        return question, filled.left_out

    def digest_of_suites(self, written: Written) -> str:
        """Return the digest of the present suites, see `suites_digest`; a missing suite has no expectations."""
        return suites_digest(written, [self.suites[each] for each in written.quality.suites if each in self.suites])

    def _known(self, written: Written, ledger: Ledger) -> tuple[DataPrint, ValidationResult | None]:
        found, address, suites = print_of(written, self.stores), _address(written), self.digest_of_suites(written)
        return found, ledger.read(lambda tx: validations.on_data(tx, address, found.data_digest, suites))

    def _has_changed(self, written: Written, known: ValidationResult, ledger: Ledger) -> bool:
        """Return whether the instance before has other rows than at the validation; a person's decision stands."""
        has_previous = any(needs_previous(self.suites[each]) for each in written.quality.suites)
        if known.decided_by is not None or not has_previous:
            return False
        found = ledger.read(lambda tx: validations.findings_of(tx, [known.verdict_id]))[known.verdict_id]
        then = {(each.suite, each.position): each.kwargs for each in found if not each.is_left_out}
        try:
            requested = self.question(written)[0].expectations
        except InvalidInput:  # validating anew says why
            return True
        return {(each.suite, each.position): kwargs_stored(each.kwargs) for each in requested} != then

    def _validated(self, written: Written, found: DataPrint, check: Callable[[], None]) -> UnitValidation:
        """Return a result that is not recorded yet."""
        partly = Answer(refused=f"not all of the data would be validated: {found.unread}")
        answer, findings, left_out = (partly, (), ()) if found.unread else self._answer(written, check)
        after = print_of(written, self.stores)
        if after != found:
            answer, findings = replace(answer, refused=_CHANGED), ()
        new = self._result(written, after, answer, findings)
        try:
            new = replace(new, page=self.write_page(new, written.quality, findings))
        except (NoPage, OSError) as error:
            _LOG.warning('event=no_page unit=%s why="%s"', written.unit, error)
        return UnitValidation(result=new, findings=findings, notes=tuple(each.note for each in left_out))

    def _answer(self, written: Written, check: Callable[[], None]) -> tuple[Answer, _Findings, tuple[LeftOut, ...]]:
        """Return the answer, one result for each expectation, and those left out; an incomplete answer is none."""
        try:
            question, left_out = self.question(written)
            answer = self.processes(written.cluster)(question, _seconds(written.quality), check)
        except NoValidatorAnswer as error:
            return Answer(refused=error.why), (), ()
        except InvalidInput as error:
            return Answer(refused=str(error)), (), ()
        if answer.refused:
            return answer, (), left_out
        requested = [(each.suite, each.position, each.type) for each in question.expectations]
        if not (requested or left_out):
            return replace(answer, refused="no suite expects anything"), (), ()
        if requested != [(each.suite, each.position, each.type) for each in answer.findings]:
            why = f"of {len(requested)} expectations {len(answer.findings)} were answered, or others than asked"
            return replace(answer, refused=why), (), left_out
        pairs = zip(question.expectations, answer.findings, strict=True)
        findings = tuple(stored(replace(found, severity=each.severity, kwargs=each.kwargs)) for each, found in pairs)
        if not question.shows_values:
            findings = tuple(replace(each, examples=()) for each in findings)
        return answer, (*findings, *map(stored_left_out, left_out)), left_out

    def _result(self, written: Written, found: DataPrint, answer: Answer, findings: _Findings) -> NewValidationResult:
        state = _state(written.quality, answer, findings)
        return NewValidationResult(
            run_id=self.author.run_id,
            life_cycle=self.author.life_cycle,
            entity=self.author.entity,
            feed=written.feed.name,
            cluster=written.cluster.name,
            instance_key=written.instance_key,
            unit=written.unit,
            counterpart=written.counterpart,
            data_digest=found.data_digest,
            layout_digest=found.layout_digest,
            suites_digest=self.digest_of_suites(written),
            suites=written.quality.suites,
            state=state,
            is_by_hand=False,
            rows=answer.rows,
            files=found.files,
            bytes=found.bytes,
            place="\n".join(message_text(str(each.place)) for each in written.parts),
            page=None,
            engine=answer.engine or None,
            seconds=answer.seconds,
            reason=message_text(answer.refused or why_of(findings)) or None,
        )

    def _suites(self, quality: Quality) -> list[Suite]:
        missing = [name for name in quality.suites if name not in self.suites]
        if missing:
            message = f"there is no suite {missing[0]} in expectations/ of the config repo"
            raise InvalidInput(message)
        return [self.suites[name] for name in quality.suites]


def _state(quality: Quality, answer: Answer, findings: _Findings) -> ValidationState:
    if answer.refused:
        return ValidationState.UNKNOWN
    failed = [each for each in findings if not each.success]
    if not failed:
        return ValidationState.PASSED
    is_critical = any(each.severity == ExpectationSeverity.CRITICAL for each in failed)
    blocks = is_critical and quality.on_failure is OnFailure.BLOCK
    return ValidationState.BLOCKED if blocks else ValidationState.WARNED


def _address(written: Written) -> UnitAddress:
    return UnitAddress(
        feed=written.feed.name, cluster=written.cluster.name, instance_key=written.instance_key, unit=written.unit
    )


def _uri(place: CanonicalPath) -> str:
    return str(replace(place, scheme=_SPARK_SCHEMES.get(place.scheme, place.scheme)))


def _seconds(quality: Quality) -> float:
    budget = quality.budget
    days = timedelta(days=budget.count * (1 if budget.unit is Unit.DAYS else 30))
    return (budget.elapsed or days).total_seconds()
