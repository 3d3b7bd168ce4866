"""When a member of a zip archive was last changed, in UTC where the archive says so."""

import struct
import zipfile
from datetime import UTC, datetime

_EXTENDED_TIMESTAMP = 0x5455
_HAS_MODIFICATION = 1
_HEADER = struct.Struct("<HH")
_STAMP = struct.Struct("<Bi")


def zip_time(info: zipfile.ZipInfo) -> datetime:
    """The extended timestamp, which `git archive` writes; without one the local time of the packer, as UTC."""
    offset = 0
    while offset + _HEADER.size <= len(info.extra):
        kind, size = _HEADER.unpack_from(info.extra, offset)
        body = offset + _HEADER.size
        if kind == _EXTENDED_TIMESTAMP and size >= _STAMP.size and body + _STAMP.size <= len(info.extra):
            flags, seconds = _STAMP.unpack_from(info.extra, body)
            if flags & _HAS_MODIFICATION:
                return datetime.fromtimestamp(seconds, UTC)
        offset = body + size
    return _dos_time(info)


def _dos_time(info: zipfile.ZipInfo) -> datetime:
    try:
        return datetime(*info.date_time, tzinfo=UTC)
    except ValueError:  # the format's fields can hold a 15th month; such a member has no age worth trusting
        return datetime(1980, 1, 1, tzinfo=UTC)
