"""The cases of the rules: `cases/RULE-ID.yaml`, laid over the standard repo."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from toolkit.linter.baseline import BaselineEntry

CASES = Path(__file__).parent / "cases"


@dataclass(frozen=True, kw_only=True)
class Expected:
    """A finding that a failing case has: `file:line:column`, or the file alone, and a part of the message."""

    at: str
    message: str


@dataclass(frozen=True, kw_only=True)
class Case:
    """One case of one rule.

    Attributes:
        files: laid over the standard repo; null removes a file.
        links: symbolic links to make besides, by path; the repo is then read from a disk.
        base: laid over the standard repo for the git base; absent: there is none.
        together_with: other rules that run as well.
        baseline: what is known, without fingerprints.
    """

    rule: str
    name: str
    verdict: str
    files: Mapping[str, str | None] = field(default_factory=dict)
    links: Mapping[str, str] = field(default_factory=dict)
    base: Mapping[str, str | None] | None = None
    time: str | None = None
    env: str | None = None
    together_with: tuple[str, ...] = ()
    baseline: tuple[BaselineEntry, ...] = ()
    expect: tuple[Expected, ...] = ()


def cases() -> list[Case]:
    """Return all cases of all rules."""
    return [case for path in sorted(CASES.glob("*.yaml")) for case in _in_file(path)]


def _in_file(path: Path) -> list[Case]:
    document = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    return [_case(path.stem, item) for item in document["cases"]]


def _case(rule: str, item: dict[str, Any]) -> Case:
    expect = tuple(Expected(**each) for each in item.pop("expect", ()))
    together_with = tuple(item.pop("together_with", ()))
    baseline = tuple(BaselineEntry(**each, fingerprint="") for each in item.pop("baseline", ()))
    return Case(rule=rule, expect=expect, together_with=together_with, baseline=baseline, **item)
