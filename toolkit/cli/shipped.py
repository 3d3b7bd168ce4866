"""What feedctl hands out: the entrypoints and the template of a config repo."""

from __future__ import annotations

from pathlib import Path

import toolkit
from toolkit.errors import InvalidInput

_PACKAGE = Path(toolkit.__file__).parent


class NotShipped(InvalidInput):
    """A file that feedctl should hand out is not there.

    Args:
        name: the file, relative to what feedctl ships.
        known: what is there instead.
    """

    def __init__(self, *, name: str, known: list[str]) -> None:
        self.name, self.known = name, known
        there = f"known: {', '.join(known)}" if known else "this installation ships none; install the wheel"
        super().__init__(f"there is no {name}; {there}")


def shipped(name: str) -> Path:
    """A file or folder that feedctl ships: inside the wheel, or beside the package in a checkout.

    Raises:
        NotShipped: there is none of that name.
    """
    for root in (_PACKAGE / "_shipped", _PACKAGE.parent):
        if (root / name).exists():
            return root / name
    raise NotShipped(name=name, known=[])


def entrypoint(name: str) -> Path:
    """The spark-submit script of an action.

    Raises:
        NotShipped: no action has that name.
    """
    scripts = {path.stem: path for path in sorted(shipped("entrypoints").glob("*.py"))}
    if name not in scripts:
        raise NotShipped(name=f"entrypoint {name!r}", known=list(scripts))
    return scripts[name]
