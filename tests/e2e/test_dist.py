"""What `make dist` builds, used as a site uses it: the wheel, and the zip for `--py-files`."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.e2e.commands import BIN, ROOT, build_zip, run
from tests.e2e.tiny_repo import make_tiny_repo, retention_arguments
from toolkit import __version__

pytestmark = [pytest.mark.slow, pytest.mark.extended]

PROBE = """\
import runpy, sys, toolkit
print(toolkit.__file__, flush=True)
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout."""
    dist = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", dist, ROOT, cwd=dist)
    (built,) = dist.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """A directory that the wheel alone is installed into; its dependencies are the interpreter's."""
    target = tmp_path_factory.mktemp("site")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    run(*pip, "--target", target, wheel, cwd=target)
    return target


def feedctl(site: Path, *arguments: str | Path, cwd: Path) -> str:
    """Return what the installed command prints."""
    return run(site / "bin" / "feedctl", *arguments, cwd=cwd, env={"PYTHONPATH": str(site)})


def test_the_wheel_brings_the_command(site: Path, tmp_path: Path) -> None:
    assert __version__ in feedctl(site, "--version", cwd=tmp_path)


@pytest.mark.parametrize("options", [(), ("--minimal",)])
def test_the_wheel_brings_a_config_repo_to_begin_with(site: Path, tmp_path: Path, options: tuple[str, ...]) -> None:
    feedctl(site, "init", tmp_path / "mine", *options, cwd=tmp_path)
    assert (tmp_path / "mine" / "repo.yaml").is_file()


def test_the_wheel_brings_the_tables_of_the_ledger(site: Path, tmp_path: Path) -> None:
    env = {"PYTHONPATH": str(site), "FEEDCTL_LEDGER": f"sqlite:///{tmp_path}/ledger.db"}
    assert "no tables" in run(site / "bin" / "feedctl", "ledger", "upgrade", cwd=tmp_path, env=env)


def test_spark_submit_runs_the_entrypoint_that_the_wheel_brings(site: Path, tmp_path: Path, java_home: Path) -> None:
    repo, env = make_tiny_repo(tmp_path), {"PYTHONPATH": str(site), "JAVA_HOME": str(java_home)}
    script = feedctl(site, "entrypoint", "retention", cwd=tmp_path).strip()
    assert Path(script).is_relative_to(site)
    answer = run(BIN / "spark-submit", script, *retention_arguments(repo), cwd=tmp_path, env=env)
    assert json.loads(answer)["status"] == "succeeded"
    assert (repo.old.exists(), repo.young.exists()) == (False, True)


@pytest.mark.timeout(600)  # a minute of a processor: Spark is large
def test_a_fresh_environment_needs_the_wheel_and_its_extra_spark_alone(
    wheel: Path, tmp_path: Path, java_home: Path
) -> None:
    venv, pins = tmp_path / "venv", tmp_path / "pins.txt"
    lock = (ROOT / "requirements" / "dev.lock").read_text()
    pins.write_text("\n".join(re.findall(r"^[\w.-]+(?:\[[\w,-]+\])?==[^\s;]+", lock, re.MULTILINE)))
    run(sys.executable, "-m", "venv", venv, cwd=tmp_path)
    pip: list[str | Path] = [venv / "bin" / "pip", "install", "--quiet", "--disable-pip-version-check", "-c", pins]
    run(*pip, f"feedctl[spark] @ {wheel.as_uri()}", cwd=tmp_path)
    env = {"VIRTUAL_ENV": str(venv), "JAVA_HOME": str(java_home)}
    assert "Manage data feeds" in run(venv / "bin" / "feedctl", "--help", cwd=tmp_path, programs=venv / "bin", env=env)
    script = run(venv / "bin" / "feedctl", "entrypoint", "retention", cwd=tmp_path, programs=venv / "bin").strip()
    repo = make_tiny_repo(tmp_path)
    submit: list[str | Path] = [venv / "bin" / "spark-submit", script, *retention_arguments(repo)]
    assert json.loads(run(*submit, cwd=tmp_path, programs=venv / "bin", env=env))["status"] == "succeeded"
    assert (repo.old.exists(), repo.young.exists()) == (False, True)


def test_spark_submit_takes_toolkit_from_the_zip(tmp_path: Path, java_home: Path) -> None:
    repo, probe, archive = make_tiny_repo(tmp_path), tmp_path / "probe.py", build_zip(tmp_path)
    probe.write_text(PROBE)
    submit: list[str | Path] = [
        BIN / "spark-submit",
        "--py-files",
        archive,
        probe,
        ROOT / "entrypoints" / "retention.py",
    ]
    arguments = retention_arguments(repo, "--dry-run")
    origin, _, result = run(*submit, *arguments, cwd=tmp_path, env={"JAVA_HOME": str(java_home)}).partition("\n")
    assert f"{archive.name}/toolkit/" in origin
    assert [item["outcome"] for item in json.loads(result)["items"]] == ["planned"]
    assert repo.old.exists()


def test_the_zip_is_the_same_bytes_whenever_it_is_built(tmp_path: Path) -> None:
    directories = (tmp_path / "first", tmp_path / "second")
    for directory in directories:
        directory.mkdir()
    first, second = (build_zip(directory).read_bytes() for directory in directories)
    assert first == second
