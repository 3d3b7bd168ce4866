"""Expectations of suites, with what they say about the instance filled in; pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from toolkit.el import format_instant, load_zone
from toolkit.el.fields import Field, render_field
from toolkit.entities import Cluster, Feed
from toolkit.entities.nearest import suggestion
from toolkit.entities.quality import Suite
from toolkit.entities.suite_code import SUITE_SQL_VARIABLE, SuiteCode, code_in
from toolkit.entities.suite_variables import CLUSTER_NAME, INSTANCE_KEY, VARIABLES, substituted, variables_in
from toolkit.errors import InvalidInput
from toolkit.quality.documents import RequestedExpectation

_PREVIOUS = "previous."


class UnknownSuiteVariable(InvalidInput):
    """An expectation has a variable that nothing fills in; validated as it is, it would say something else.

    Args:
        variable: its name.
        where: the suite's file and the expectation.
    """

    def __init__(self, *, variable: str, where: str) -> None:
        hint = suggestion(variable, VARIABLES)
        super().__init__(f"{where} has ${{{variable}}}, which nothing fills in{'; ' if hint else ''}{hint}")


class CodeInSuite(InvalidInput):
    """An expectation has code in it, and the operator has not allowed any.

    Args:
        code: what it has.
        where: the suite's file and the expectation.
    """

    def __init__(self, *, code: SuiteCode, where: str) -> None:
        todo = f"only the operator can allow it, with {SUITE_SQL_VARIABLE}=1 in the environment" if code.is_sql else ""
        super().__init__(f"{where}: {code.message}, which a suite must not have; {todo or 'remove it'}")


class LeftOut(NamedTuple):
    """An expectation that needs a number of an earlier instance which is not there.

    Attributes:
        expectation: with its arguments as the suite has them.
        where: the suite's file and the expectation.
        why: which numbers are missing.
    """

    expectation: RequestedExpectation
    where: str
    why: str

    @property
    def note(self) -> str:
        """The sentence for the user."""
        return f"{self.where} is left out: {self.why}"


class Filled(NamedTuple):
    """Expectations about one instance.

    Attributes:
        expectations: of all suites, in their order; it may be empty for the first instance.
        left_out: the others.
    """

    expectations: tuple[RequestedExpectation, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Expectations that were left out, for the user."""
        return tuple(each.note for each in self.left_out)


def fill(
    suites: Sequence[Suite],
    feed: Feed,
    cluster: Cluster,
    instant: datetime,
    previous: Mapping[str, int | None],
    *,
    allows_sql: bool = False,
) -> Filled:
    """The expectations of suites about one instance.

    Args:
        suites: in the order in which they are validated.
        feed: whose instance it is; date fields are in its `path_timezone`.
        cluster: where.
        instant: the instance's.
        previous: what is known of the last validated instance before, by name without ``previous.``: ``row_count``.
        allows_sql: the operator allows SQL in suites.

    Raises:
        CodeInSuite: an argument is code that is not allowed.
        UnknownSuiteVariable: nothing fills a variable in.
    """
    local = instant.astimezone(load_zone(feed.path_timezone))
    known: dict[str, str | int | None] = {
        **{str(each): render_field(each, local) for each in Field},
        INSTANCE_KEY: format_instant(instant),
        CLUSTER_NAME: cluster.name,
        **{f"{_PREVIOUS}{name}": each for name, each in previous.items()},
    }
    filled = [each for suite in suites for each in _of_suite(suite, known)]
    for expectation in filled:
        if not isinstance(expectation, LeftOut):
            _refuse_code(expectation, allows_sql=allows_sql)
    return Filled(
        expectations=tuple(each for each in filled if not isinstance(each, LeftOut)),
        left_out=tuple(each for each in filled if isinstance(each, LeftOut)),
    )


def needs_previous(suite: Suite) -> bool:
    """Return whether a value of an earlier instance is substituted."""
    names = (name for each in suite.expectations for _, name in variables_in(each.kwargs))
    return any(name.startswith(_PREVIOUS) for name in names)


def _of_suite(suite: Suite, known: Mapping[str, str | int | None]) -> Iterator[RequestedExpectation | LeftOut]:
    """Yield each expectation, or why it is left out."""
    values = {name: each for name, each in known.items() if each is not None}
    for position, each in enumerate(suite.expectations):
        where = f"{suite.path}: expectations[{position}] ({each.type})"
        used = {name for _, name in variables_in(each.kwargs)}
        for name in sorted(used - known.keys() - set(VARIABLES)):
            raise UnknownSuiteVariable(variable=name, where=where)
        missing = sorted(used - values.keys())
        expectation = RequestedExpectation(
            suite=suite.name,
            position=position,
            type=each.type,
            kwargs=each.kwargs if missing else substituted(each.kwargs, values),
            severity=str(each.severity),
            meta=each.meta,
        )
        yield LeftOut(expectation, where, f"no earlier instance gives {', '.join(missing)}") if missing else expectation


def _refuse_code(expectation: RequestedExpectation, *, allows_sql: bool) -> None:
    for code in code_in(expectation.type, expectation.kwargs):
        if not (code.is_sql and allows_sql):
            raise CodeInSuite(
                code=code, where=f"suite {expectation.suite}: expectations[{expectation.position}] ({expectation.type})"
            )
