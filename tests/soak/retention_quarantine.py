"""Rounds of the fuzzer with quarantine: instances go, come back, go again and are purged, each step with deaths."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from functools import cached_property, partial

from tests.soak.layouts import Layout
from tests.soak.places import Tree
from tests.soak.retention_deaths import Death, Killed, MortalOpening
from tests.soak.retention_feed import Opening, restore, run
from tests.soak.retention_oracle import Case
from tests.soak.retention_rounds import MortalRecorder, Round, differences
from toolkit.result import Outcome, Status
from toolkit.retention import RetentionResult
from toolkit.runs.stop import NeverStopped, StopSignal

_LATER = datetime(2090, 1, 1, tzinfo=UTC)
_SECOND = 1.1
"""Times of object stores are whole seconds, and what is written in the second of its condemnation stays."""
_Act = Callable[[StopSignal, MortalRecorder, Opening], RetentionResult]


@dataclass(kw_only=True)
class QuarantineCovered:
    """Counts of rounds, by what happened in them.

    Attributes:
        rounds: all of them.
        evictions: rounds in which something went into quarantine.
        undisturbed: rounds without a death.
        purges: rounds in which all of it was purged, and nothing else.
        kept: rounds in which a purge may not take all, by the rules of the case.
    """

    rounds: int = 0
    evictions: int = 0
    undisturbed: int = 0
    purges: int = 0
    kept: int = 0

    def __str__(self) -> str:
        return ", ".join(f"{each.name} {getattr(self, each.name)}" for each in fields(self))


@dataclass(frozen=True, kw_only=True)
class QuarantineRound:
    """A round with quarantine, on the tree of another one."""

    one: Round

    def check(self, covered: QuarantineCovered) -> None:
        """Evict, restore, evict again and purge; compare with the oracle after each."""
        one, case = self.one, self.one.case
        evicted, is_undisturbed = self._evicted, one.chance.random() < 1 / 3
        deaths = 0 if is_undisturbed else 2
        evict: _Act = partial(self._evict, case)
        left = self._done(evict, deaths)
        self._require(left, self._without_evicted)
        again = run(case, one.place, NeverStopped(), MortalRecorder(left_entity="fuzzed"), quarantines=True)
        assert (again.status, [*again.items]) == (Status.SUCCEEDED, [])
        back = self._done(self._restore, deaths)
        self._require(back, self._with_evicted)
        if one.place.has_directories:
            assert not [path for path in self._own() if not path.endswith(".json")], "something is in quarantine"
        self._require(self._done(evict, deaths), self._without_evicted)
        is_exact = not (case.keeps_beyond or case.cut_off or case.keep_last)
        if is_exact:
            minutes = int((_LATER - case.horizon) / timedelta(minutes=1))
            later = replace(case, nominal=_LATER, limit=f"minutes({minutes})")
            assert later.horizon == case.horizon
            self._require(self._done(partial(self._evict, later), deaths), self._expected)
            assert case.is_held(one.before) or self._own() == []
        covered.rounds += 1
        covered.evictions += bool(evicted)
        covered.undisturbed += is_undisturbed
        covered.purges += is_exact and bool(evicted)
        covered.kept += not is_exact

    def _evict(self, case: Case, signal: StopSignal, recorder: MortalRecorder, opening: Opening) -> RetentionResult:
        return run(case, self.one.place, signal, recorder, opening=opening, quarantines=True)

    def _restore(self, signal: StopSignal, recorder: MortalRecorder, opening: Opening) -> RetentionResult:
        return restore(self.one.case, self.one.place, signal, recorder, opening=opening)

    def _done(self, act: _Act, deaths: int) -> Tree:
        """Do something to its end after some deaths; return what readers find."""
        recorder = MortalRecorder(left_entity="fuzzed")
        if not self.one.place.has_directories:
            time.sleep(_SECOND)
        for _ in range(deaths):
            recorder.death = death = Death.draw(self.one.chance)
            try:
                act(death, recorder, MortalOpening(death=death))
            except Killed:
                pass
            finally:
                recorder.die()
        done = act(NeverStopped(), recorder, Opening())
        assert done.status is Status.SUCCEEDED, [each for each in done.items if each.outcome is Outcome.FAILED]
        return {path: kind for path, kind in self.one.place.tree().items() if not _is_own(path)}

    def _require(self, found: Tree, expected: Tree) -> None:
        """Empty directories that a death has left, or that a restore has made again, do not count."""
        more = found.keys() - expected.keys()
        empty = self.one.case.left_empty(self.one.before, more) if more else set()
        assert differences({path: kind for path, kind in found.items() if path not in empty}, expected) == []

    @cached_property
    def _without_evicted(self) -> Tree:
        """Return what readers find; where nothing is renamed, an instance without its flag."""
        one = self.one
        if one.place.has_directories:
            return self._expected
        flags = {f"{path}/{one.case.flag}" for path in self._evicted if one.case.flag}
        return {key: kind for key, kind in one.there.items() if key not in flags}

    @cached_property
    def _with_evicted(self) -> Tree:
        one = self.one
        if not one.place.has_directories:
            return one.there
        above = {each for path in self._evicted for each in _lineage(path)}
        return {
            path: kind
            for path, kind in one.before.items()
            if path in self._expected or path in above or any(each in self._evicted for each in _lineage(path))
        }

    @cached_property
    def _evicted(self) -> dict[str, Layout]:
        return self.one.case.evicted(self.one.before)

    @cached_property
    def _expected(self) -> Tree:
        return self.one.expected

    def _own(self) -> list[str]:
        names = (path for path, kind in self.one.place.tree().items() if _is_own(path) and kind.value == "file")
        return sorted(names)


def _lineage(path: str) -> Iterator[str]:
    """Yield a path and all that it is in."""
    while path:
        yield path
        path = path.rpartition("/")[0]


def _is_own(path: str) -> bool:
    return "/.feedctl/" in f"{path}/"
