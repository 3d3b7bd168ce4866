"""Tests of what a whole process loads and leaves undone, so that it starts and ends soon."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolkit.cli.boundary import run_app
from toolkit.cli.command_table import COMMANDS
from toolkit.cli.main import main, outline, program_of, whole_program

_ROOT = Path(__file__).parents[3]
_COMMAND = """\
import atexit, gc, typer
from toolkit.cli.boundary import run_process
app = typer.Typer()
@app.command()
def three() -> int:
    print(gc.get_threshold()[0])
    return 3
atexit.register(lambda: print(gc.get_freeze_count() == 0, len(gc.get_objects())))
run_process(app)
"""
_SCRIPT = """\
import runpy, sys
sys.argv = ["entrypoint", *sys.argv[2:], sys.argv[1]]
path, unwanted = sys.argv.pop(), {"rich.progress", "sqlalchemy", "jsonschema", "yaml", "pyspark"}
try:
    runpy.run_path(path, run_name="__main__")
finally:
    sys.stderr.write(repr(unwanted & set(sys.modules)))
"""
_WORK = """\
import sys, {module}
print({{"rich", "alembic", "psycopg", "pyspark", "py4j", "hdfs_native", "botocore"}} & set(sys.modules))
"""


def _python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=_ROOT, capture_output=True, text=True, check=False, timeout=60)


def test_a_process_ends_with_the_exit_code_of_its_command_and_looks_for_cycles_rarely_and_not_at_its_end() -> None:
    done = _python(_COMMAND)
    threshold, at_the_end = done.stdout.splitlines()
    assert done.returncode == 3
    assert int(threshold) > 100_000
    is_thawed, objects = at_the_end.split()
    assert is_thawed == "False"
    assert int(objects) < 1000, "what is frozen is not looked at"


@pytest.mark.parametrize("arguments", [("--help",), ("--no-such-option",)])
@pytest.mark.parametrize("name", ["retention", "doctor"])
def test_help_and_wrong_options_of_an_entrypoint_load_nothing_that_acts(name: str, arguments: tuple[str, ...]) -> None:
    done = _python(_SCRIPT, str(_ROOT / "entrypoints" / f"{name}.py"), *arguments)
    assert done.stderr.endswith("set()"), done.stderr


def test_help_of_the_command_loads_nothing_that_only_commands_need() -> None:
    program = (
        "import sys\n"
        "from toolkit.cli.main import main\n"
        "code = main(['--help'])\n"
        "packages = {'.'.join(name.split('.')[:2]) for name in sys.modules}\n"
        "unwanted = {f'toolkit.{name}' for name in ('el', 'entities', 'config_source', 'linter', 'bootstrap')}\n"
        "others = {'yaml', 'sqlalchemy', 'jsonschema', 'typing_extensions'} & set(sys.modules)\n"
        "print(code, unwanted & packages, others, file=sys.stderr)"
    )
    assert _python(program).stderr == "0 set() set()\n"


def test_actions_that_copy_no_table_load_nothing_of_those_that_do() -> None:
    modules = ", ".join(f"toolkit.bootstrap.{each}" for each in ("retention", "process", "late_check", "replication"))
    program = f"import sys, {modules}; print([each for each in sys.modules if each.startswith('toolkit.hive')])"
    assert _python(program).stdout == "[]\n"


def test_a_process_that_removes_no_output_loads_nothing_of_retention() -> None:
    program = (
        "import sys, toolkit.bootstrap.process; print({m for m in sys.modules if m.startswith('toolkit.retention')})"
    )
    assert _python(program).stdout == "set()\n"


@pytest.mark.extended
@pytest.mark.parametrize("module", ["toolkit.cli.retention", "toolkit.bootstrap.doctor", "toolkit.rendering.doctor"])
def test_what_only_some_runs_need_is_not_loaded_beforehand(module: str) -> None:
    done = _python(_WORK.format(module=module))
    assert (done.stdout, done.stderr) == ("set()\n", "")


def test_a_repo_without_problems_is_loaded_and_linted_without_what_explains_problems() -> None:
    program = (
        "import sys\n"
        "from toolkit.cli.main import main\n"
        "code = main(['lint', '--config-repo', sys.argv[1]])\n"
        "print(code, {'jsonschema', 'referencing', 'sqlalchemy', 'rich'} & set(sys.modules), file=sys.stderr)"
    )
    assert _python(program, str(_ROOT / "config_repo_template")).stderr == "0 set()\n"


def test_only_the_command_that_is_asked_for_is_built() -> None:
    assert [each.name for each in program_of(["lint", "--help"]).registered_commands] == ["lint"]
    assert [each.name for each in program_of(["entity", "list"]).registered_groups] == ["entity"]
    assert _commands_of_entity("list", "--kind", "feed") == ["list"]
    for argv in ([], ["--help"], ["lst"], ["--", "list"]):
        assert len(_commands_of_entity(*argv)) > 1


def _commands_of_entity(*argv: str) -> list[str | None]:
    (group,) = program_of(["entity", *argv]).registered_groups
    assert group.typer_instance is not None
    return [each.name for each in group.typer_instance.registered_commands]


@pytest.mark.parametrize(
    ("arguments", "modules"),
    [
        (["--help"], set()),
        (["--version"], set()),
        (["lnt"], set()),
        (["el", "eval", "today(0,0)", "--time", "2026-03-01T06:40Z"], {"el"}),
        (["lint", "--help"], {"lint"}),
        (["quality", "--help"], {"quality"}),
    ],
)
def test_modules_of_other_commands_are_not_loaded(arguments: list[str], modules: set[str]) -> None:
    known = {entry.module for entry in COMMANDS.values()}
    loaded = f"{{each for each in {known} if f'toolkit.cli.{{each}}' in sys.modules}}"
    program = (
        f"import sys\nfrom toolkit.cli.main import main\nmain(sys.argv[1:])\nsys.stderr.write(repr(sorted({loaded})))"
    )
    assert _python(program, *arguments).stderr.endswith(repr(sorted(modules)))


def test_the_names_and_lines_of_the_help_are_those_of_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for program in (outline(), whole_program()):
        program.rich_markup_mode = "rich"  # plain help has no more than a line of a command
        assert run_app(program, ["--help"]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1]
    for name in COMMANDS:
        assert f" {name} " in printed[0]


@pytest.mark.parametrize("argv", [["lnt"], ["entty", "list"], ["instanc"]])
def test_a_command_that_is_none_is_answered_with_the_nearest_ones(
    argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(argv) == 2
    message = capsys.readouterr().err
    assert "Did you mean" in message
    assert run_app(whole_program(), argv) == 2
    assert capsys.readouterr().err == message


def test_a_command_after_the_end_of_options_runs(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--", "el", "eval", "today(0,0)", "--time", "2026-03-01T06:40Z"]) == 0
    assert capsys.readouterr().out == "2026-03-01T00:00Z\n"


def test_the_script_of_a_shell_is_printed_without_loading_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["feedctl"])
    monkeypatch.setenv("_FEEDCTL_COMPLETE", "source_bash")
    assert len(program_of([]).registered_groups) == 0
    monkeypatch.setenv("_FEEDCTL_COMPLETE", "complete_bash")
    assert len(program_of([]).registered_groups) > 0
