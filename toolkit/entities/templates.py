"""Templates by their text; one is needed several times while its entity is loaded, and never again."""

from functools import lru_cache

from toolkit.el import PathTemplate, TableUri

_RECENT = 256


@lru_cache(maxsize=_RECENT)
def path_template(text: str, timezone: str = "UTC") -> PathTemplate:
    """The path template of a text.

    Raises:
        ElError: the text is malformed.
    """
    return PathTemplate(text, timezone)


@lru_cache(maxsize=_RECENT)
def table_uri(text: str, timezone: str = "UTC") -> TableUri:
    """The table URI of a text.

    Raises:
        ElError: the text is malformed.
    """
    return TableUri(text, timezone)
