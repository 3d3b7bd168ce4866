from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from toolkit.doctor.findings import CheckResult, CheckStatus
from toolkit.doctor.machine import java_findings


def _settings(version: str) -> str:
    release = version.removeprefix("1.").partition(".")[0]
    written = f"1.{release}" if version.startswith("1.") else release
    return f"Property settings:\n    java.specification.version = {written}\n    java.version = {version}\n"


def _finding(javas: Mapping[str, str], variables: Mapping[str, str], machines: Path = Path("/none")) -> CheckResult:
    output = {command: _settings(version) for command, version in javas.items()}
    (found,) = java_findings(variables, lambda command: output.get(command, ""), machines)
    return found


def _installed(directory: Path, name: str) -> Path:
    command = directory / name / "bin" / "java"
    command.parent.mkdir(parents=True)
    command.write_text("")
    command.chmod(0o755)
    return command


def test_the_java_of_java_home_is_the_one() -> None:
    found = _finding({"/jdk/bin/java": "17.0.15", "/usr/bin/java": "21.0.1"}, {"JAVA_HOME": "/jdk", "PATH": "/usr/bin"})
    assert (found.status, found.found) == (CheckStatus.OK, "17.0.15 (/jdk/bin/java)")


def test_without_java_home_the_one_on_path_is_taken(tmp_path: Path) -> None:
    command = _installed(tmp_path, "jdk")
    found = _finding({str(command): "21.0.1"}, {"PATH": str(command.parent)})
    assert (found.status, found.found) == (CheckStatus.OK, f"21.0.1 ({command})")


def test_a_java_home_without_java_is_not_passed_over_since_spark_does_not_either(tmp_path: Path) -> None:
    command = _installed(tmp_path, "jdk")
    found = _finding({str(command): "21.0.1"}, {"JAVA_HOME": "/gone", "PATH": str(command.parent)})
    assert (found.status, found.found) == (CheckStatus.WARNING, "JAVA_HOME=/gone has none that runs")


def test_an_old_java_is_a_warning_that_names_a_newer_one(tmp_path: Path) -> None:
    old, new = _installed(tmp_path, "a-old"), _installed(tmp_path, "b-new")
    javas = {"/jdk/bin/java": "1.8.0_392", str(old): "11.0.2", str(new): "17.0.1"}
    found = _finding(javas, {"JAVA_HOME": "/jdk"}, tmp_path)
    assert found.status is CheckStatus.WARNING
    assert found.todo.endswith(f"set JAVA_HOME={tmp_path / 'b-new'}")


def test_no_java_at_all_is_a_warning_with_the_package_to_install() -> None:
    found = _finding({}, {"PATH": ""})
    assert found.status is CheckStatus.WARNING
    assert "openjdk" in found.todo
