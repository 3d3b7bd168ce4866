"""What a lint run is asked for."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from toolkit.config_source import Snapshot
from toolkit.linter.baseline import Baseline
from toolkit.linter.findings import Finding
from toolkit.linter.gathering import Base
from toolkit.linter.selection import RuleSelection


@dataclass(frozen=True, kw_only=True, slots=True)
class Focus:
    """The files that matter to whoever asks; the whole graph is checked all the same.

    Attributes:
        paths: files and folders of the config repo; empty: all.
        others_after: findings of other files are shown too, after those of `paths`.
    """

    paths: tuple[str, ...] = ()
    others_after: bool = False

    def shows(self, finding: Finding) -> bool:
        """Whether a finding is shown."""
        return self.others_after or self._is_within(finding)

    def order(self, finding: Finding) -> tuple[bool, Finding]:
        """The findings of `paths` first, then by file, line, column and rule."""
        return not self._is_within(finding), finding

    def _is_within(self, finding: Finding) -> bool:
        return not self.paths or any(
            path in {"", finding.file} or finding.file.startswith(f"{path}/") for path in self.paths
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class LintRequest:
    """What a lint run is asked for.

    Attributes:
        snapshot: the config repo.
        time: the instant for which findings are made, UTC.
        environments: names; empty: the repo's default one, if it has one.
        all_environments: every one that has a file; `environments` is empty then.
        base: what the repo is compared with; None: rules that compare are silent.
        selection: which rules.
        baseline: findings that are known; None: none is.
        adopt: what the baseline could hold counts as known, so that it can be written anew.
        focus: which files matter.
    """

    snapshot: Snapshot
    time: datetime
    environments: tuple[str, ...] = ()
    all_environments: bool = False
    base: Base | None = None
    selection: RuleSelection = field(default_factory=RuleSelection)
    baseline: Baseline | None = None
    adopt: bool = False
    focus: Focus = field(default_factory=Focus)
