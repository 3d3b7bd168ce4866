"""A gate that judges by the bytes, and remembers verdicts as the real one does: on exactly this data."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path

from toolkit.actions.validation import Publishable, QualityFailed, Written


@dataclass
class FakeValidator:
    """What has the word ``bad`` in it is blocked until it is released.

    Attributes:
        validated: the units that were judged, in their order.
    """

    validated: list[str] = field(default_factory=list)
    _results: dict[tuple[object, ...], bool] = field(default_factory=dict)

    def validate(self, written: Written, check: Callable[[], None]) -> Publishable:
        check()
        digest, texts = self._digest(written, with_times=True), self._texts(written)
        key = (written.unit, digest)
        if key not in self._results:
            self.validated.append(written.unit)
            self._results[key] = not any("bad" in text for text in texts)
        if not self._results[key]:
            raise QualityFailed(unit=written.unit, why="it is bad", digest=str(hash(digest)))
        self._results[written.unit, self._digest(written, with_times=False)] = True
        return Publishable(digest=str(hash(digest)))

    def may_publish(self, written: Written, *, is_copy: bool = False, by: Collection[int] | None = None) -> bool:
        del by
        return self._results.get((written.unit, self._digest(written, with_times=not is_copy)), False)

    def release(self) -> None:
        """Somebody takes the responsibility for all that was judged."""
        self._results = dict.fromkeys(self._results, True)

    def _files(self, written: Written) -> list[tuple[str, Path]]:
        roots = [Path(part.place.path) for part in written.parts]
        return sorted(
            (str(each.relative_to(root)), each) for root in roots for each in root.rglob("*") if each.is_file()
        )

    def _digest(self, written: Written, *, with_times: bool) -> tuple[object, ...]:
        found = ((name, each.stat()) for name, each in self._files(written))
        return tuple((name, at.st_size, at.st_mtime_ns if with_times else None) for name, at in found)

    def _texts(self, written: Written) -> list[str]:
        return [each.read_text() for _, each in self._files(written)]
