"""The retention entrypoint in this process, for speed."""

from __future__ import annotations

import importlib.util

import typer

from tests.e2e.retention_process import ENTRYPOINT, NOMINAL_TIME, Repo
from toolkit.cli.boundary import run_app


def _app() -> typer.Typer:
    spec = importlib.util.spec_from_file_location("retention_entrypoint", ENTRYPOINT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    app: typer.Typer = module.app
    return app


APP = _app()


def run_here(repo: Repo, *arguments: str, time: str = NOMINAL_TIME) -> int:
    """The exit code of a run over the repo."""
    return run_app(APP, ["--config-repo", str(repo.path), "--time", time, *arguments])
