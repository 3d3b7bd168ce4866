"""Acting as the owner of the data holds for all that a run of retention touches, or nothing is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from entrypoints import retention as entrypoint
from toolkit.cli.boundary import run_app
from toolkit.result import ExitCode

VALIDITY = "validity: {start: 2026-03-01T00:00Z, end: 2099-01-01T00:00Z}"
FEED = f"""\
kind: feed
name: clicks
frequency: days(1)
timezone: UTC
acl: {{owner: web}}
locations: {{data: "/clicks/${{YEAR}}-${{MONTH}}-${{DAY}}"}}
clusters:
  - name: primary
    {VALIDITY}
    retention:
      limit: days(1)
      action: archive
      archive: {{cluster: backup, locations: {{data: "/old/${{YEAR}}-${{MONTH}}-${{DAY}}"}}}}
"""
KERBEROS = "hadoop_conf: {hadoop.security.authentication: kerberos}"


def test_an_archive_that_would_be_written_as_somebody_else_refuses_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = tmp_path / "repo"
    files = {"repo.yaml": f"ledger: sqlite:///{tmp_path}/ledger.db\nact_as_owner: true\n", "feeds/clicks.yaml": FEED}
    for name, conf in (("primary", ""), ("backup", KERBEROS)):
        interfaces = f"interfaces: {{write: {{endpoint: 'file://{tmp_path}/{name}'}}}}"
        files[f"clusters/{name}.yaml"] = f"kind: cluster\nname: {name}\n{interfaces}\n{conf}\n"
    for name, text in files.items():
        (repo / name).parent.mkdir(parents=True, exist_ok=True)
        (repo / name).write_text(text)
    instance = tmp_path / "primary/clicks/2026-03-02"
    instance.mkdir(parents=True)
    (tmp_path / "backup/old").mkdir(parents=True)
    monkeypatch.setenv("FEEDCTL_PROXY_USERS", "web")
    monkeypatch.setenv("HADOOP_USER_NAME", "service")
    options = ["--config-repo", str(repo), "--feed", "clicks", "--time", "2026-03-20T12:00Z"]
    assert run_app(entrypoint.app, options) == ExitCode.INVALID
    assert "some of the clusters ask for Kerberos" in capsys.readouterr().err
    assert instance.exists()
