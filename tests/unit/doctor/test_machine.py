from __future__ import annotations

from pathlib import Path

from toolkit.doctor.findings import CheckStatus
from toolkit.doctor.machine import kerberos_library, python_findings, temporary_space


def test_room_for_temporary_files_is_told_and_too_little_is_a_warning(tmp_path: Path) -> None:
    (enough,) = temporary_space(str(tmp_path), least=0)
    (scarce,) = temporary_space(str(tmp_path), least=1 << 60)
    assert (enough.status, scarce.status) == (CheckStatus.OK, CheckStatus.WARNING)
    assert str(tmp_path) in enough.found


def test_the_library_of_kerberos_is_there_or_said_to_be_missing() -> None:
    (found,) = kerberos_library()
    assert (found.status is CheckStatus.OK) is ("libgssapi_krb5.so" in found.found)


def test_feedctl_python_and_platform_are_told() -> None:
    assert [each.what for each in python_findings()] == ["feedctl", "Python", "platform"]
