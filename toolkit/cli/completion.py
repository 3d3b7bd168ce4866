"""Shell completion of names that only the config repo knows."""

from __future__ import annotations


def entity_names(incomplete: str) -> list[str]:
    """The names of entities that begin so; none without a usable config repo, since nobody reads an error here."""
    from toolkit.bootstrap.config import load_repository
    from toolkit.errors import FeedctlError

    try:
        names = [entity.name for entity in load_repository(None, None).entities()]
    except FeedctlError:
        return []
    return [name for name in names if name.startswith(incomplete)]
