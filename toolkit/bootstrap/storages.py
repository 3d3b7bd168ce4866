"""The stores of a run, each opened once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from toolkit.storage import FileSystem, StorageSpec, open_file_system

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolkit.el import CanonicalPath


@dataclass(kw_only=True)
class Storages:
    """Opens each store once.

    Attributes:
        read_only: every mutating call fails.
        before_effect: called before every single change.
    """

    read_only: bool
    before_effect: Callable[[], None]
    _open: dict[tuple[str, str], FileSystem] = field(default_factory=dict)

    def of(self, path: CanonicalPath) -> FileSystem:
        """The store that a path is on.

        Raises:
            NotImplementedYet: no adapter for it exists yet.
        """
        key = (path.scheme, path.authority)
        if key not in self._open:
            spec = StorageSpec(scheme=path.scheme, authority=path.authority)
            self._open[key] = open_file_system(spec, read_only=self.read_only, before_effect=self.before_effect)
        return self._open[key]
