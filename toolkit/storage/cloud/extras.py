"""The optional libraries that prove to a cloud who asks."""

from __future__ import annotations

from importlib.util import find_spec

from toolkit.errors import InvalidInput


class MissingExtra(InvalidInput):
    """A part of feedctl that is installed only on request is not there.

    Args:
        scheme: of the store.
        extra: what to install.
    """

    def __init__(self, *, scheme: str, extra: str) -> None:
        self.scheme, self.extra = scheme, extra
        super().__init__(
            f"{scheme}:// needs what is not installed here; install it with: pip install 'feedctl[{extra}]'"
        )


def require(library: str, *, scheme: str, extra: str) -> None:
    """Check that a library can be imported.

    Raises:
        MissingExtra: it is not installed.
    """
    try:
        found = find_spec(library)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise MissingExtra(scheme=scheme, extra=extra)
