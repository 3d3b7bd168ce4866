"""Credentials in the address of a store: nothing that feedctl shows has any in it, and no path does (DESIGN section 5).

Hadoop knows addresses such as ``s3n://KEY:SECRET@bucket/a``. They end in every log, so they are refused.
"""

from __future__ import annotations

import re

_AZURE = r"(?:abfss?|wasbs?)"
_KEYED = r"(?:s3[an]?|gs)"
_HOSTED = r"(?:file|hdfs|webhdfs|swebhdfs|viewfs|ofs)"
_STORE = re.compile(
    rf"(?i:(?<![a-z0-9+.-]){_KEYED}://[^/:@\s\"]*:[^\s\"]*@"
    # A secret may have slashes in it; what stands between a host and its slash is a port.
    rf"|(?<![a-z0-9+.-])(?:{_HOSTED}|{_AZURE})://(?!\[)[^/:@\s\"]*:(?!\d*(?:/|$))[^\s\"]*@"
    rf"|(?<![a-z0-9+.-])(?:{_HOSTED}|{_KEYED})://[^/\s\"]*@)"
)
"""Up to the ``@`` behind a user, or a user and a password. Only Azure has one in its addresses (container@account)."""

_ANY = re.compile(rf"{_STORE.pattern}|(?<=:)//(?!\.{{3}}:)[^/:@\s\"]*:(?!\$\{{)[^/@\s\"]+@")
"""In other URLs, such as a database's: a user with a password that is neither a reference nor left out already."""

_BEFORE_AT = re.compile(r"(?<![^\s\"])[^\s\"]*@")
"""Up to the last ``@`` of a word: behind it are no credentials, so that each address that is begun there ends there,
and nothing is looked through once for every address."""

_OPTION = re.compile(
    r"(?i)(?<=[?&])([a-z_-]*(?:password|passwd|pwd|secret|token|signature|sig|key)=)(?!\$\{)([^&\s\"']+)"
)
"""Secrets behind the question mark of an address: a database's password, an object store's signature."""

_SHOWN = re.compile(r"(?:[A-Za-z0-9+.-]*:)?//")


def has_credentials(address: str) -> bool:
    """Return whether the address of a store has a user or a password before the host or bucket."""
    return _STORE.match(address) is not None


def without_credentials(text: str) -> str:
    """The text with asterisks for the credentials in its addresses, also those of databases; as long as before."""
    known = _BEFORE_AT.sub(lambda word: _ANY.sub(_hidden, word.group()), text)
    return _OPTION.sub(lambda found: found[1] + "*" * len(found[2]), known)


def _hidden(found: re.Match[str]) -> str:
    address = found.group()
    shown = _SHOWN.match(address)
    begin = shown.end() if shown else 0
    return f"{address[:begin]}{'*' * (len(address) - begin - 1)}@"
