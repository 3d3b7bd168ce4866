"""Contestants take turns over the stages of one shape; what each has copied is compared after each of its runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import TypeAlias

from benchmarks.peers.java_program import NoPeer
from benchmarks.replication.clusters import Clusters
from benchmarks.replication.contestants import OUR_CALL, OURS, OURS_PLAIN, Contestant, Course, Stage, bare
from benchmarks.replication.our_repo import OurRepo
from benchmarks.replication.shapes import Shape, Source, WrongCopy
from benchmarks.timing import Failed, Took, TooLong, timed

_START_SECONDS = 10.0
"""So long a JVM and what it loads take at most before the call begins."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Durations of all runs of a contestant at one stage that did what they should."""

    runs: Sequence[Took]

    @property
    def whole(self) -> float:
        """Median seconds of the process."""
        return median(run.whole for run in self.runs)

    @property
    def is_over(self) -> bool:
        """True if one was ended, so that these are at least its seconds."""
        return any(run.is_over for run in self.runs)

    @property
    def inside(self) -> float | None:
        """Median seconds of the call."""
        reported = [run.inside for run in self.runs if run.inside is not None]
        return median(reported) if reported else None


Result: TypeAlias = Mapping[tuple[Stage, str], Figures]


@dataclass(kw_only=True)
class Race:
    """Runs of all contestants over one shape.

    Args:
        clusters: both.
        shape: is made on the source.
        longest: seconds after which a run of a peer is ended; its figure is at least that, and a bare copy ends it.
        folder: for files of the contestants.
        void: why a contestant has no figures, by its name.
    """

    clusters: Clusters
    shape: Shape
    folder: Path
    longest: float
    void: dict[str, str] = field(default_factory=dict)

    def run(self, contestants: Sequence[Contestant], rounds: int) -> Result:
        """So many rounds over all stages; who fails once, or copies anything else than it should, is out."""
        source = Source(client=self.clusters.at_source, shape=self.shape)
        source.make()
        courses = {each.name: self._course(f"/to/{number}") for number, each in enumerate(contestants)}
        runs: dict[tuple[Stage, str], list[Took]] = {}
        for number in range(rounds):
            for course in courses.values():
                self.clusters.at_target.delete(course.place, recursive=True)
                course.repo.empty_the_ledger()
            for stage in Stage:
                if stage is Stage.CHANGED:
                    source.change(number)
                for each in contestants:
                    runs.setdefault((stage, each.name), []).extend(self._lock(each, courses[each.name], stage, source))
        source.remove()
        for course in courses.values():
            self.clusters.at_target.delete(course.place, recursive=True)
        return {key: Figures(runs=of) for key, of in runs.items() if of and key[1] not in self.void}

    def _lock(self, contestant: Contestant, course: Course, stage: Stage, source: Source) -> Iterator[Took]:
        if contestant.name in self.void:
            return
        try:
            took = self._took(contestant, course, stage)
            if took is not None:
                source.compare(self.clusters.at_target, course.place)
                yield took
        except (Failed, NoPeer, WrongCopy) as why:
            self.void[contestant.name] = f"{stage}: {why}"

    def _took(self, contestant: Contestant, course: Course, stage: Stage) -> Took | None:
        try:
            return contestant.run(
                course, stage, None if contestant.name in {OURS, OURS_PLAIN, OUR_CALL} else self.longest
            )
        except TooLong as late:
            self.clusters.at_target.delete(course.place, recursive=True)
            timed(bare(course), {})
            return Took(whole=late.seconds, inside=late.seconds - _START_SECONDS, is_over=True)

    def _course(self, place: str) -> Course:
        folder = self.folder / place.strip("/")
        folder.mkdir(parents=True)
        repo = OurRepo.make(folder, self.clusters, place, self.shape)
        return Course(clusters=self.clusters, place=place, repo=repo, shape=self.shape)
