"""Credentials in the URI of a dataset, which are refused and never shown."""

from __future__ import annotations

import re
from urllib.parse import unquote

from toolkit.el.errors import ElError

_WITH_USER = frozenset({"s3", "abfs"})
"""Schemes with a container, or the id of a connection, before an `@`."""


_SECRET = re.compile(
    r"(?i)password|passwd|pwd|passphrase|secret|token|credential|signature"
    r"|^(?:sig|key|api[_-]?key|auth(?:orization)?|access[_-]?key(?:[_-]?id)?|account[_-]?key|awsaccesskeyid|sas)$"
)


class DatasetCredentials(ElError):  # noqa: N818 - named for what it holds
    """The URI of a dataset has a user, a password or a token in it; the message shows its scheme alone.

    Args:
        scheme: as written; may be empty.
        found: the part that is refused, without its value.
    """

    def __init__(self, *, scheme: str, found: str) -> None:
        super().__init__(
            text=f"{scheme}:..." if scheme else "...",
            found=found,
            expected="a URI without credentials: remove it from the URI, and change the secret if git or a log has it",
        )


def refuse_dataset_credentials(scheme: str, rest: str) -> None:
    """Refuse a password before an `@` or a secret in the query, before anything else shows the text."""
    decoded = unquote(rest)
    for each in {rest, decoded}:
        if _has_user(scheme, each):
            raise DatasetCredentials(scheme=scheme, found="a user or a password before the @")
        for pair in re.split(r"[?&;#]", each)[1:]:
            key = pair.partition("=")[0]
            if "=" in pair and _SECRET.search(key):
                raise DatasetCredentials(scheme=scheme, found="a parameter that holds a secret")


_OPAQUE = re.compile(r"[^/?#:]+:[^?#]*@")
"""A password at the start of what has no scheme, as `my_user:...@host`."""
_SPLIT = re.compile(r"//[^/?#@:\[]*:(?:[^?#]*@|(?!\d*(?:[/?#]|$)).*@)", re.DOTALL)
"""A secret that has a slash or a question mark in it: what stands between a colon and a later `@` is no port."""


def _has_user(scheme: str, rest: str) -> bool:
    """Return whether a user or password stands before an `@`, in the URI or in one that it contains."""
    if scheme and not rest.startswith("/"):  # opaque, as `jdbc:oracle:thin:...@host`, or `user:...@host` itself
        return "@" in rest
    if _SPLIT.match(rest) or (not scheme and _OPAQUE.match(rest)):
        return True
    users = ((found.start(), found[1]) for found in re.finditer(r"//([^/?#]*)@", rest))
    return any(":" in user or start or scheme not in _WITH_USER for start, user in users)
