"""Names that options had, or have elsewhere: an old one still works, any other is answered with the option's own.

It is loaded when a command meets an option that it does not have, so that right ones cost nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher, get_close_matches

import typer

OLD_NAMES: Mapping[str, Mapping[str, str]] = {
    "lint": {"--format": "--output", "--repo": "--config-repo"},
    "entity diff": {"--format": "--output"},
    "dataset graph": {"--format": "--output"},
    "explain trigger": {"--key": "--time"},
    "instance dependencies": {"--start": "--time"},
    "event": {"--key": "--time"},
    "lineage": {"--format": "--output", "--key": "--time"},
    "plan": {"--format": "--output"},
    "quality": {"--key": "--time"},
    "run": {"--instance": "--time"},
}
"""By command, or by group for all of its commands; scripts use them, so they stay, without a place in the help."""

_MEANINGS: Mapping[str, str] = {
    "--time": "at date day instance instant key nominal-time when execution-date logical-date",
    "--start": "after begin from since start-date",
    "--end": "before end-date to until",
    "--output": "format form json o out print type",
    "--config-repo": "config dir directory path project project-dir repo",
    "--env": "e environment profile stage",
    "--feed": "dataset entity feeds name table",
    "--process": "dag job name pipeline",
    "--cluster": "c clusters on target",
    "--dry-run": "check explain n noop plan preview simulate what-if",
    "--approve": "confirm force y yes",
    "--force": "again full-refresh rerun restart",
    "--reason": "because comment m message note why",
    "--limit": "count max n number top",
    "--parallel": "concurrency j jobs max-parallel threads workers",
    "--quiet": "q silent",
    "--verbose": "debug v",
    "--select": "only rule rules",
    "--ignore": "except exclude skip",
    "--result-file": "file output-file",
    "--all": "everything",
}
"""Options, and what people call them who come from other tools."""
_SHORTEST, _ALIKE = 3, 0.8


def with_new_names(error: typer.TyperException, argv: Sequence[str]) -> list[str] | None:
    """Return the arguments with the present name of an option that has a new one; None: the error is another.

    Args:
        error: of the parser, which has run nothing yet.
        argv: the arguments that it read.
    """
    old, context = _unknown(error)
    command = "" if context is None else context.command_path.partition(" ")[2]
    new = OLD_NAMES.get(command) or OLD_NAMES.get(command.partition(" ")[0], {})
    if old not in new:
        return None
    return [f"{new[old]}{each.removeprefix(old)}" if each.partition("=")[0] == old else each for each in argv]


def meant_option(error: typer.TyperException) -> str:
    """Return a question that offers the option that this command has for what an unknown one says elsewhere."""
    name, context = _unknown(error)
    if context is None:
        return ""
    own = {option for each in context.command.get_params(context) for option in each.opts}
    word = name.lstrip("-").replace("_", "-").casefold()
    words = [(each, option) for option, texts in _MEANINGS.items() if option in own for each in texts.split()]
    alike = get_close_matches(word, [each for each, _ in words if len(each) > _SHORTEST], n=1, cutoff=_ALIKE)
    options = set(getattr(error, "possibilities", None) or ())
    meant = {option for each, option in words if each in alike}
    if meant and _likeness(word, alike) > _likeness(word, options):
        options = meant
    near = {option for each, option in words if each == word} or options or meant
    return f"did you mean {' or '.join(sorted(near))}?" if near else ""


def _likeness(word: str, others: Iterable[str]) -> float:
    """Return how much a word is like the one of others that is most like it; 0: there are none."""
    return max((SequenceMatcher(None, word, each.lstrip("-")).ratio() for each in others), default=0.0)


def _unknown(error: typer.TyperException) -> tuple[str, typer.Context | None]:
    """Return the option that a command does not have, and the command; of another error nothing."""
    if not hasattr(error, "possibilities"):  # which typer's error about an unknown option has alone
        return "", None
    return getattr(error, "option_name", ""), getattr(error, "ctx", None)
