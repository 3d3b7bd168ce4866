"""What a change of the config repo does to data, in words."""

from __future__ import annotations

from collections.abc import Callable

from toolkit.planning.blast_radius.effects import Effect, EffectKind


def message_of(effect: Effect) -> str:
    """What happens, in one sentence with its figures."""
    return _WORDS[effect.kind](effect)


def _counted(effect: Effect, more: str = "") -> str:
    """``480 more instances (2026-02-18 to 2026-03-10)``."""
    noun = "instance" if effect.count == 1 else "instances"
    return f"{effect.count:,}{more} {noun} {effect.instances}"


def _evictable(effect: Effect) -> str:
    if effect.instances is None:
        return "nothing more becomes evictable at the next run"
    return f"{_counted(effect, ' more')} {'becomes' if effect.count == 1 else 'become'} evictable at the next run"


def _left(effect: Effect) -> str:
    if effect.instances is None:
        return "what is there is left behind"
    return (
        f"{_counted(effect)} {'is' if effect.count == 1 else 'are'} left behind: nothing reads or evicts them any more"
    )


def _old(effect: Effect) -> str:
    return "no instance is there yet" if effect.instances is None else f"{_counted(effect)} there"


def _widened(effect: Effect) -> str:
    return (
        f"{effect.key[-1]} template of {effect.place} is wider: {effect.change}: what is old under names that it did"
        " not match before becomes evictable, too"
    )


def _retention(effect: Effect) -> str:
    return f"retention of {effect.place} {effect.change}".rstrip()


def _kept_longer(effect: Effect) -> str:
    verb = "is" if effect.count == 1 else "are"
    return f"{_counted(effect)} {verb} no longer evictable at the next run"


def _new_retention(effect: Effect) -> str:
    found = "no instance is old enough yet" if effect.instances is None else f"up to {_counted(effect)}"
    return f"{effect.place} is new, with retention {effect.after}: what is there already can be evicted: {found}"


_WORDS: dict[EffectKind, Callable[[Effect], str]] = {
    EffectKind.EVICTABLE: lambda each: f"{_retention(each)}: {_evictable(each)}",
    EffectKind.KEEP_LAST_LOWERED: lambda each: f"keep_last of {each.place} {each.change}: {_evictable(each)}",
    EffectKind.HOLD_REMOVED: lambda each: f"hold on {each.place} {each.change}: {_evictable(each)}",
    EffectKind.TEMPLATE_WIDENED: _widened,
    EffectKind.NEW_RETENTION: _new_retention,
    EffectKind.ACTION_CHANGED: lambda each: f"retention of {each.place}: action {each.change}",
    EffectKind.TEMPLATE_CHANGED: lambda each: f"{each.key[-1]} template of {each.place} {each.change}: {_left(each)}",
    EffectKind.DATES_CHANGED: lambda each: (
        f"path_timezone of {each.place} {each.change}: names stand for other times: {_old(each)}"
    ),
    EffectKind.LEFT_BEHIND: lambda each: f"{each.feed} is gone from {each.cluster} ({each.before}): {_left(each)}",
    EffectKind.END_POINT_CHANGED: lambda each: (
        f"file system of {each.cluster} {each.change}: the instances of its feeds are looked for on the new one"
    ),
    EffectKind.PARTITIONS_CHANGED: lambda each: (
        f"partitions of {each.place} {each.change}: old instances have other sub-directories: {_old(each)}"
    ),
    EffectKind.GRID_CHANGED: lambda each: (
        f"{each.key[-1]} of {each.place} {each.change}: old instances have other times: {_old(each)}"
    ),
    EffectKind.RETENTION_REMOVED: lambda each: (
        f"retention of {each.place} {each.change}: nothing is ever evicted there"
    ),
    EffectKind.HELD: lambda each: f"{each.place} has a new hold: {_kept_longer(each)}",
    EffectKind.KEPT_LONGER: lambda each: f"{_retention(each)}: {_kept_longer(each)}",
}
