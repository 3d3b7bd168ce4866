"""A gate for tests: a judge that answers what it is told to, data on a local disk, a real ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from toolkit.actions.staged_unit import staging_place
from toolkit.actions.validation import Part, Written
from toolkit.el import CanonicalPath, Frequency
from toolkit.entities import Cluster, Feed, Interface, Interfaces
from toolkit.entities.quality import Expectation, Quality, Suite
from toolkit.entities.vocabulary import ExpectationSeverity, OnFailure
from toolkit.ledger.database import Ledger
from toolkit.ledger.validations import NewValidationResult, StoredFinding
from toolkit.ledger.vocabulary import LifeCycle
from toolkit.quality.documents import Answer, ExpectationResult, Question, RequestedExpectation
from toolkit.quality.validator import Author, SuiteValidator
from toolkit.storage import FileSystem
from toolkit.storage.local.file_system import LocalFileSystem

NOON = "2026-03-01T12:00Z"
NOT_NULL, ROWS = "expect_column_values_to_not_be_null", "expect_table_row_count_to_be_between"
SUITE = Suite(
    name="clicks",
    path="expectations/clicks.yaml",
    expectations=(
        Expectation(type=NOT_NULL, kwargs={"column": "user"}),
        Expectation(type=ROWS, kwargs={"min_value": 1}, severity=ExpectationSeverity.WARNING),
    ),
)
CLUSTER = Cluster(name="primary", interfaces=Interfaces(write=Interface(endpoint="file:///")))
BLOCKS = Quality(suites=("clicks",), budget=Frequency.parse("minutes(5)"))
WARNS = replace(BLOCKS, on_failure=OnFailure.WARN)


def nothing() -> None:
    """No stop is asked for."""


@dataclass
class FakeProcess:
    """Answers that the expectations of `failing` do not hold, and does something else before."""

    failing: Sequence[str] = ()
    refused: str = ""
    error: Exception | None = None
    before: Callable[[], None] = nothing
    cut: int | None = None
    values: tuple[str, ...] = ("joe",)
    questions: list[tuple[Question, float]] = field(default_factory=list)

    def ask(self, question: Question, budget_seconds: float, check: Callable[[], None]) -> Answer:
        self.questions.append((question, budget_seconds))
        self.before()
        check()
        if self.error is not None:
            raise self.error
        findings = tuple(map(self._found, question.expectations))
        return Answer(findings=findings[: self.cut], rows=10, seconds=1.0, engine="fake 1", refused=self.refused)

    def _found(self, questions: RequestedExpectation) -> ExpectationResult:
        failed = questions.type in self.failing
        return ExpectationResult(
            suite=questions.suite,
            position=questions.position,
            type=questions.type,
            severity="info",  # what the judge says of that does not count
            success=not failed,
            column="user" if questions.type == NOT_NULL else "",
            rows=10,
            unexpected=3 if failed else 0,
            values=self.values if failed else (),
        )


@dataclass
class Pages:
    """Keeps what would be drawn."""

    drawn: list[tuple[NewValidationResult, Sequence[StoredFinding]]] = field(default_factory=list)
    error: OSError | None = None

    def write(self, result: NewValidationResult, quality: Quality, findings: Sequence[StoredFinding]) -> str:
        del quality
        if self.error is not None:
            raise self.error
        self.drawn.append((result, findings))
        return f"file:///pages/{len(self.drawn)}.html"


class CopyingStore(LocalFileSystem):
    """A store without renames: what is moved is copied."""

    capabilities = replace(LocalFileSystem.capabilities, atomic_rename=False)


@dataclass
class ValidatorBench:
    """Data of an instance that wait in the gate's place, and a gate."""

    root: Path
    ledger: Ledger | None
    process: FakeProcess = field(default_factory=FakeProcess)
    pages: Pages = field(default_factory=Pages)
    suites: Mapping[str, Suite] = field(default_factory=lambda: {"clicks": SUITE})
    quality: Quality = BLOCKS
    tags: Mapping[str, str] = field(default_factory=dict)
    store: FileSystem = field(default_factory=LocalFileSystem)

    def __post_init__(self) -> None:
        self.write("part-0", b"one")

    @property
    def unit(self) -> CanonicalPath:
        return CanonicalPath.parse(f"file://{self.root}/clicks/12")

    def write(self, name: str, data: bytes) -> Path:
        file = Path(staging_place(self.unit).path) / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(data)
        return file

    @property
    def written(self) -> Written:
        return self.written_at(staging_place(self.unit))

    def written_at(self, place: CanonicalPath) -> Written:
        feed = Feed(name="clicks", frequency=Frequency.parse("hours(1)"), clusters=(), tags=self.tags)
        return Written(
            feed=feed,
            cluster=CLUSTER,
            instance_key=NOON,
            unit=str(self.unit),
            parts=[Part(place=place, keys={})],
            quality=self.quality,
        )

    @property
    def validator(self) -> SuiteValidator:
        return SuiteValidator(
            stores=lambda _: self.store,
            suites=self.suites,
            ledger=self.ledger,
            processes=lambda _: self.process.ask,
            write_page=self.pages.write,
            author=Author(entity="clicks_job", life_cycle=LifeCycle.EXECUTION),
        )
