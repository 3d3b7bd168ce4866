"""Acting as the owner of the data holds for all that a run of retention touches, or nothing is touched."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from entrypoints import retention as entrypoint
from toolkit.cli.boundary import run_app
from toolkit.cli.main import main
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


@dataclass(frozen=True)
class Site:
    """A config repo whose feed is archived on another cluster, with one old instance."""

    root: Path

    def __post_init__(self) -> None:
        self.put("repo.yaml", f"ledger: sqlite:///{self.root}/ledger.db\nact_as_owner: true\n")
        self.put("feeds/clicks.yaml", FEED)
        for name, conf in (("primary", ""), ("backup", KERBEROS)):
            interfaces = f"interfaces: {{write: {{endpoint: 'file://{self.root}/{name}'}}}}"
            self.put(f"clusters/{name}.yaml", f"kind: cluster\nname: {name}\n{interfaces}\n{conf}\n")
        self.instance.mkdir(parents=True)
        (self.root / "backup/old").mkdir(parents=True)

    @property
    def instance(self) -> Path:
        return self.root / "primary/clicks/2026-03-02"

    @property
    def repo(self) -> list[str]:
        return ["--config-repo", str(self.root / "repo")]

    def put(self, name: str, text: str) -> None:
        place = self.root / "repo" / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Site:
    monkeypatch.setenv("FEEDCTL_PROXY_USERS", "web")
    monkeypatch.setenv("HADOOP_USER_NAME", "service")
    return Site(tmp_path)


def test_an_archive_that_would_be_written_as_somebody_else_refuses_the_run(
    site: Site, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [*site.repo, "--feed", "clicks", "--time", "2026-03-20T12:00Z"]
    assert run_app(entrypoint.app, options) == ExitCode.INVALID
    assert "some of the clusters ask for Kerberos" in capsys.readouterr().err
    assert site.instance.exists()


def test_a_restore_acts_as_the_owner_although_the_feed_has_no_retention_any_more(
    site: Site, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FEEDCTL_PROXY_USERS", "somebody")
    site.put("feeds/clicks.yaml", FEED.partition("    retention:")[0])
    assert main(["restore", "clicks", *site.repo]) == ExitCode.INVALID
    assert "the operator does not allow that" in capsys.readouterr().err
