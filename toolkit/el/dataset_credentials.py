"""Credentials in the URI of a dataset, which are refused and never shown."""

from __future__ import annotations

import re
from urllib.parse import unquote

from toolkit.el.errors import ElError

_WITH_USER = frozenset({"s3", "abfs"})
"""Schemes with a container, or the id of a connection, before an `@`."""


_SECRET = re.compile(
    r"(?i)password|passwd|pwd|passphrase|secret|token|credential|signature"
    r"|^(?:sig|key|api[_-]?key|access[_-]?key(?:[_-]?id)?|account[_-]?key|awsaccesskeyid|sas)$"
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
        authority = re.match(r"//([^/?#]*)", each)
        before, at, _ = authority[1].rpartition("@") if authority else ("", "", "")
        # A secret may have a slash in it: what stands between a colon and a later `@` is no port then.
        is_split = re.match(r"//[^/?#@:\[]*:(?!\d*(?:[/?#]|$))[^?#]*@", each) is not None
        if (at and (":" in before or scheme not in _WITH_USER)) or is_split:
            raise DatasetCredentials(scheme=scheme, found="a user or a password before the @")
        for pair in re.split(r"[?&;#]", each)[1:]:
            key = pair.partition("=")[0]
            if "=" in pair and _SECRET.search(key):
                raise DatasetCredentials(scheme=scheme, found="a parameter that holds a secret")
