"""The extra of the package that streaming ingest needs."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec

from toolkit.errors import InvalidInput

_MODULES = ("pyarrow", "pyiceberg")
KAFKA = ("confluent_kafka",)
"""Packages that a Kafka source needs in addition."""


class IngestNotInstalled(InvalidInput):
    """Packages of the extra ``ingest`` are not installed.

    Args:
        modules: those that were not found.
    """

    def __init__(self, *, modules: tuple[str, ...]) -> None:
        self.modules = modules
        super().__init__(
            f"ingest needs {' and '.join(modules)}, which is not installed here; run: pip install 'feedctl[ingest]'"
        )


def require_extra(find: Callable[[str], object] = find_spec, modules: tuple[str, ...] = _MODULES) -> None:
    """Check that the packages are there, without loading them.

    Args:
        find: looks for a package.
        modules: the packages.

    Raises:
        IngestNotInstalled: one is not.
    """
    missing = tuple(name for name in modules if find(name) is None)
    if missing:
        raise IngestNotInstalled(modules=missing)
