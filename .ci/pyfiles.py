"""Writes DIRECTORY/feedctl-VERSION-pyfiles.zip: the import package with its data, for `spark-submit --py-files`.

The same sources give the same bytes: names are sorted, times and modes are fixed. What toolkit depends on is not in it
(part of that is compiled); the driver's Python environment brings it.
"""

from __future__ import annotations

import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from toolkit import __version__

ROOT = Path(__file__).resolve().parent.parent
OLDEST_ZIP_TIME = (1980, 1, 1, 0, 0, 0)
REGULAR_FILE_READABLE_BY_ALL = 0o100644 << 16
UNIX = 3


def shipped_files() -> list[Path]:
    """The files of the import package, without what Python compiled."""
    return sorted(p for p in (ROOT / "toolkit").rglob("*") if p.is_file() and "__pycache__" not in p.parts)


def entry(path: Path) -> ZipInfo:
    """The zip entry of a file, with nothing of this machine in it."""
    info = ZipInfo(path.relative_to(ROOT).as_posix(), OLDEST_ZIP_TIME)
    info.compress_type, info.create_system, info.external_attr = ZIP_DEFLATED, UNIX, REGULAR_FILE_READABLE_BY_ALL
    return info


def main(directory: Path) -> int:
    """Writes the zip."""
    directory.mkdir(parents=True, exist_ok=True)
    with ZipFile(directory / f"feedctl-{__version__}-pyfiles.zip", "w") as archive:
        for path in shipped_files():
            archive.writestr(entry(path), path.read_bytes(), compresslevel=9)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1])))
