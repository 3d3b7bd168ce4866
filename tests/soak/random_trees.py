"""Random trees for a feed: instances, what nearly is one, and what lies about."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from tests.soak.layouts import STEP, Layout
from tests.soak.places import OUTSIDE, Kind, Tree
from tests.soak.retention_oracle import FIRST, HOLD_FILE, LAST, Case

_STRANGE = (
    *("README", "_tmp", ".hidden", "2026-13-01", "2026 03", "99", "0000", "zzz", "feedctl", ".feedctl-other"),
    *("ünï", "数据", "é\n", "\n", "%41", "😀", "\uffff", "a b", "*", "[0-9]", "${YEAR}", "-rf"),
)
_VALUES = ("us", "in", "ünï", "a b", "%41", "😀", "2026", ".hidden", "_x", ".feedctl-not")
_ENDINGS = ("24", "30", "31", "13", "00", "60", "99")
_STRIDES = (STEP, timedelta(hours=1), timedelta(hours=1), timedelta(days=1))


@dataclass(frozen=True, kw_only=True)
class RandomTree:
    """Grows a tree for a case.

    Args:
        chance: where all choices come from.
        has_links: whether the place can hold symbolic links.
    """

    case: Case
    chance: random.Random
    has_links: bool
    tree: Tree = field(default_factory=dict)

    def grown(self) -> Tree:
        """A tree with everything that may matter to retention."""
        self._put(f"{OUTSIDE}/2026/03/01/00/kept", Kind.FILE)
        for layout in self.case.layouts:
            self._put(layout.base, Kind.DIRECTORY)
            names = list(self._instances(layout))
            for name in names:
                self._put_instance(name)
            for _ in range(self.chance.choice([0, 0, 1, 3, 12])):
                self._put_oddity(layout, self.chance.choice(names))
        if self.case.has_hold_file:
            self._put(f"{self.case.layouts[-1].base}/{HOLD_FILE}", Kind.FILE)
        return self.tree

    def _instances(self, layout: Layout) -> Iterator[str]:
        """Of several variables few values, and short runs that most often are old: then what is above goes as well."""
        if len(layout.values_at) <= 1:
            for _ in range(self.chance.randrange(1, 6)):
                yield from self._run(layout, self._interesting(), _VALUES, self.chance.randrange(1, 40))
            return
        pool = self.chance.sample(_VALUES, 2)
        for _ in range(self.chance.randrange(3, 10)):
            old = self.case.horizon - STEP * self.chance.randrange(800, 2000)
            begin = old if self.chance.random() < 7 / 8 else self._interesting()
            yield from self._run(layout, begin, pool, self.chance.randrange(1, 8))

    def _run(self, layout: Layout, instant: datetime, pool: Sequence[str], length: int) -> Iterator[str]:
        """Names of instants that follow one another, so that whole directories are old."""
        values, stride = self._values(layout, pool), self.chance.choice(_STRIDES)
        for _ in range(length):
            yield layout.name_at(instant, self.case.zone, *values)
            instant += stride

    def _values(self, layout: Layout, pool: Sequence[str] = _VALUES) -> list[str]:
        return [self.chance.choice(pool) for _ in layout.values_at]

    def _interesting(self) -> datetime:
        """Any time of the window; often shortly before the horizon, or where the clocks are changed."""
        anywhere = FIRST + STEP * self.chance.randrange(int((LAST - FIRST) / STEP))
        near = self.case.horizon - STEP * self.chance.randrange(400)
        changes = [each - STEP * self.chance.randrange(12) for each in changes_of_clocks(self.case.zone)]
        return self.chance.choice([anywhere, near, near, near, *changes])

    def _put_instance(self, path: str) -> None:
        if self.chance.random() < 1 / 6:
            self._put(path, Kind.FILE)
            return
        self._put(path, Kind.DIRECTORY)
        for name in self.chance.sample(["part-0", "_SUCCESS", "sub/part", "2026/03", "ünï"], self.chance.randrange(3)):
            self._put(f"{path}/{name}", Kind.FILE)
        if self.chance.random() < 1 / 20:
            self._put(f"{path}/link", Kind.LINK)

    def _put_oddity(self, layout: Layout, instance: str) -> None:
        """One thing that the template does not speak of, beside, above or instead of an instance."""
        names = instance.removeprefix(f"{layout.base}/").split("/")
        at = self.chance.randrange(len(names))
        above = "/".join([layout.base, *names[:at]])
        match self.chance.randrange(5):
            case 0:
                self._put(f"{above}/{self.chance.choice(_STRANGE)}", self.chance.choice(list(Kind)))
            case 1:
                self._put(f"{above}/{self._nearly(names[at])}", self.chance.choice(list(Kind)))
            case 2:
                rest = [self._nearly(names[at]), *names[at + 1 :]]
                self._put("/".join([above, *rest]), Kind.DIRECTORY)
            case 3:
                free = layout.name_at(self._interesting(), self.case.zone, *self._values(layout))
                path = "/".join(free.split("/")[: layout.base.count("/") + 2 + at])
                self._put(path, Kind.DIRECTORY)
            case _:
                free = layout.name_at(self._interesting(), self.case.zone, *self._values(layout))
                path = "/".join(free.split("/")[: layout.base.count("/") + 2 + at])
                self._put(path, self.chance.choice([Kind.LINK, Kind.FILE]))

    def _nearly(self, name: str) -> str:
        """The name with one thing changed; what comes out may conform all the same."""
        changed = (
            lambda: name[:-2] + self.chance.choice(_ENDINGS),
            lambda: name[:-1],
            lambda: f"0{name}",
            lambda: f"{name}0",
            lambda: f"{name} ",
            lambda: f" {name}",
            lambda: f"{name}\n",
            name.swapcase,
            lambda: f"{name}.tmp",
            lambda: f"_{name}",
            lambda: name.replace("0", "\u0660"),
            lambda: name.replace("2", "\uff12"),
            lambda: name.replace("-", "_").replace(".", "-"),
            lambda: f"-{name[1:]}",
        )
        return self.chance.choice(changed)()

    def _put(self, path: str, kind: Kind) -> None:
        """Unless something else is at the path, or on the way to it."""
        if kind is Kind.LINK and not self.has_links:
            kind = Kind.FILE
        above = [path[:at] for at in range(1, len(path)) if path[at] == "/"]
        is_blocked = any(self.tree.get(each, Kind.DIRECTORY) is not Kind.DIRECTORY for each in above)
        if is_blocked or path in self.tree or "//" in f"{path}/":
            return
        self.tree.update(dict.fromkeys(above, Kind.DIRECTORY))
        self.tree[path] = kind


def changes_of_clocks(zone: str) -> list[datetime]:
    """The instants of the window at which the zone's clocks are changed."""
    hours = int((LAST - FIRST) / timedelta(hours=1))
    instants = [FIRST + timedelta(hours=each) for each in range(hours)]
    offsets = [each.astimezone(ZoneInfo(zone)).utcoffset() for each in instants]
    return [instants[at] for at in range(1, hours) if offsets[at] != offsets[at - 1]]
