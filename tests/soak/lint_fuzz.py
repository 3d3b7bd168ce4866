"""Damages a config repo at random: bytes, the tree of values, files and their names; the same for the same seed."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

import yaml

from tests.soak.lint_values import KEYS, WORDS, Node, date, expression, frequency, template, text, value, zone

Files = MutableMapping[str, bytes]
Slot = tuple[dict[str, Node] | list[Node], str | int]
"""Parent of a value: the mapping or list, and its key or position there."""

Change = Callable[[list[Slot], random.Random], None]

_MOST_SLOTS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Damaged:
    """A damaged config repo.

    Attributes:
        files: all its files by path.
        touched: how many steps of damage were done.
    """

    files: Mapping[str, bytes]
    touched: int


def damage(files: Mapping[str, bytes], chance: random.Random) -> Damaged:
    """Does one to four random things to the files of a repo."""
    damaged = dict(files)
    steps, kinds = chance.randint(1, 4), chance.choice((_STEPS, (_gently,)))
    for _ in range(steps):
        chance.choice(kinds)(damaged, chance)
    return Damaged(files=damaged, touched=steps)


def _some_file(files: Files, chance: random.Random) -> str:
    return chance.choice(sorted(files)) if files else "repo.yaml"


def _bytes(files: Files, chance: random.Random) -> None:
    name = _some_file(files, chance)
    data = files.get(name, b"")
    start = chance.randrange(len(data) + 1)
    end = min(len(data), start + chance.randrange(40))
    files[name] = data[:start] + _piece(data, chance) + data[end:]


def _piece(data: bytes, chance: random.Random) -> bytes:
    start = chance.randrange(len(data) + 1)
    return chance.choice(
        (
            b"",
            chance.randbytes(chance.randrange(8)),
            data[start : start + chance.randrange(200)],
            chance.choice(WORDS).encode(),
            chance.choice((b"\xff\xfe", b"\xef\xbb\xbf", b"\r\n", b"\r", b"\0", b"\xed\xa0\x80", b"\n", b"\t", b"  ")),
            chance.choice(
                (b"- ", b": ", b"{", b"}", b"[", b"]", b"? ", b"&a ", b"*a", b"|\n", b">\n", b"---\n", b"...\n")
            ),
            b"\n# feedctl: ignore[" + chance.choice(WORDS).encode() + b"] reason\n",
            chance.choice((b"[", b"{a: ", b"? ", b"- ")) * chance.choice((10, 150, 1500, 3000)),
            b"\n" + chance.choice((b"- x\t\n", b"#\t", b"s3a://x:", b"- {a: 1, a: 2}\n", b"? ")) * 5000,
        )
    )


def _truncate(files: Files, chance: random.Random) -> None:
    name = _some_file(files, chance)
    files[name] = files.get(name, b"")[: chance.randrange(len(files.get(name, b"")) + 1)]


def _tree(files: Files, chance: random.Random) -> None:
    """Changes values of one file in whatever way."""
    _changed(files, chance, _CHANGES)


def _gently(files: Files, chance: random.Random) -> None:
    """Changes values of one file to others of their sort: what loading accepts gets to the rules."""
    _changed(files, chance, (_retime, _retime, _retime, _rename_reference, _delete))


def _changed(files: Files, chance: random.Random, changes: Sequence[Change]) -> None:
    """What cannot be read any more is left as it is."""
    name = _some_file(files, chance)
    root = _read(files.get(name, b""))
    if root is None:
        return
    for _ in range(chance.randint(1, _MOST_SLOTS)):
        slots = list(_slots(root))
        if slots:
            chance.choice(changes)(slots, chance)
    files[name] = _written(root)


def _read(data: bytes) -> dict[str, Node] | list[Node] | None:
    try:
        root = yaml.load(data, Loader=yaml.CBaseLoader)  # noqa: S506 - the base loader makes texts only
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError):
        return None
    if not isinstance(root, dict | list):
        return None
    for slot in list(_slots(root)):
        _set(slot, _typed(_get(slot)))
    return root


def _typed(node: Node) -> Node:
    """A number or a boolean again, where the base loader has made a text of it."""
    if node in ("true", "false"):
        return node == "true"
    is_number = isinstance(node, str) and _NUMBER.fullmatch(node)
    return int(str(node)) if is_number else node


def _written(root: Node) -> bytes:
    try:
        return yaml.dump(root, Dumper=yaml.CSafeDumper, sort_keys=False, allow_unicode=True).encode()
    except (RecursionError, UnicodeEncodeError):
        return b""


def _slots(root: Node) -> Iterator[Slot]:
    pending: list[Node] = [root]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield from ((node, key) for key in node)
            pending.extend(node.values())
        elif isinstance(node, list):
            yield from ((node, index) for index in range(len(node)))
            pending.extend(node)


def _get(slot: Slot) -> Node:
    parent, key = slot
    return parent[key]  # type: ignore[index]  # a slot fits its parent


def _set(slot: Slot, node: Node) -> None:
    parent, key = slot
    parent[key] = node  # type: ignore[index]  # a slot fits its parent


def _replace(slots: list[Slot], chance: random.Random) -> None:
    _set(chance.choice(slots), value(chance))


def _retext(slots: list[Slot], chance: random.Random) -> None:
    """Puts a text where a text is: what passes the schema gets furthest."""
    texts = [slot for slot in slots if isinstance(_get(slot), str)]
    if texts:
        slot = chance.choice(texts)
        _set(slot, _alike(str(_get(slot)), chance))


def _alike(old: str, chance: random.Random) -> str:
    """A text of the same sort, so that it is probably accepted."""
    if "${" in old:
        return template(chance)
    if old.startswith(_UNITS):
        return frequency(chance)
    if "(" in old:
        return expression(chance)
    if old[:2] == "20":
        return date(chance)
    return zone(chance) if old == "UTC" or old.startswith("Europe/") else text(chance)


def _retime(slots: list[Slot], chance: random.Random) -> None:
    """Puts another time, frequency, expression or template where one is."""
    texts = [slot for slot in slots if isinstance(_get(slot), str) and _TIMELY.search(str(_get(slot)))]
    if texts:
        slot = chance.choice(texts)
        _set(slot, _alike(str(_get(slot)), chance))


def _rename_reference(slots: list[Slot], chance: random.Random) -> None:
    """Lets an entity refer to another one."""
    places = [slot for slot in slots if slot[1] in {"feed", "name"} and isinstance(_get(slot), str)]
    if places:
        _set(chance.choice(places), _get(chance.choice(places)))


def _move(slots: list[Slot], chance: random.Random) -> None:
    """A key of one mapping goes to another one of the same file."""
    parent, key = chance.choice(slots)
    others = [each for each, _ in slots if isinstance(each, dict)]
    if isinstance(parent, dict) and others:
        chance.choice(others).setdefault(str(key), _copied(parent.pop(str(key))))


def _delete(slots: list[Slot], chance: random.Random) -> None:
    parent, key = chance.choice(slots)
    del parent[key]  # type: ignore[arg-type]  # a slot fits its parent


def _swap(slots: list[Slot], chance: random.Random) -> None:
    one, other = chance.choice(slots), chance.choice(slots)
    first, second = _get(one), _get(other)
    _set(one, _copied(second))
    _set(other, _copied(first))


def _copied(node: Node) -> Node:
    """A copy, so that no value ends up inside of itself."""
    if isinstance(node, dict):
        return {key: _copied(each) for key, each in node.items()}
    return [_copied(each) for each in node] if isinstance(node, list) else node


def _duplicate(slots: list[Slot], chance: random.Random) -> None:
    parent, key = chance.choice(slots)
    if isinstance(parent, list):
        parent.append(_copied(_get((parent, key))))
    else:
        parent[chance.choice((f"{key}s", f"{key}"[:-1], *KEYS))] = _copied(_get((parent, key)))


def _transplant(files: Files, chance: random.Random) -> None:
    """Puts a value of one file into another."""
    source, target = _some_file(files, chance), _some_file(files, chance)
    taken, root = _read(files.get(source, b"")), _read(files.get(target, b""))
    if taken is None or root is None:
        return
    graft, places = list(_slots(taken)), list(_slots(root))
    if graft and places:
        _set(chance.choice(places), _copied(_get(chance.choice(graft))))
    files[target] = _written(root)


def _rename(files: Files, chance: random.Random) -> None:
    name = _some_file(files, chance)
    data = files.pop(name, b"")
    folder = name.rpartition("/")[0]
    files[
        chance.choice((f"{folder}/x.yaml", f"{folder}/é.yaml", f"{folder}/a b.yml", "feeds/x.yaml", name.upper()))
    ] = data


def _remove(files: Files, chance: random.Random) -> None:
    files.pop(_some_file(files, chance), None)


def _copy(files: Files, chance: random.Random) -> None:
    name = _some_file(files, chance)
    files[name.replace("/", "/copy/", 1)] = files.get(name, b"")


def _crossed(files: Files, chance: random.Random) -> None:
    one, other = _some_file(files, chance), _some_file(files, chance)
    files[one], files[other] = files.get(other, b""), files.get(one, b"")


def _settings(files: Files, chance: random.Random) -> None:
    """Lint settings in repo.yaml, right and wrong ones."""
    rules = ", ".join(
        f"{_rule(chance)}: {{severity: {chance.choice(_SEVERITIES)}}}" for _ in range(chance.randrange(3))
    )
    accepted = ", ".join(_rule(chance) for _ in range(chance.randrange(3)))
    files["repo.yaml"] = (
        files.get("repo.yaml", b"") + f"\nlint: {{rules: {{{rules}}}}}\naccept: [{accepted}]\n".encode()
    )


def _rule(chance: random.Random) -> str:
    return chance.choice(("unknown-key", "not-implemented", "window-before-retention", "nonsense", "Unused", '""'))


_SEVERITIES = ("error", "warning", "info", "off", "on", "1")
_NUMBER = re.compile(r"0|[1-9][0-9]{0,15}")
_UNITS = ("minutes(", "hours(", "days(", "months(")
_TIMELY = re.compile(r"[({]|^20\d\d-|^UTC$|^[A-Z][a-z]+/[A-Z]")
_CHANGES: tuple[Change, ...] = (_replace, _retext, _retext, _delete, _swap, _duplicate, _move)
_STEPS: tuple[Callable[[Files, random.Random], None], ...] = (
    _bytes, _bytes, _truncate, _tree, _tree, _tree, _tree, _tree, _transplant, _rename, _remove, _copy,
    _crossed, _settings,
)  # fmt: skip
