"""`feedctl export` over the template's config repo."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl

pytestmark = pytest.mark.usefixtures("repo")

PROD = ("--env", "prod")
BEGIN = "# >>> feedctl export cron: web-feeds prod"


def tree(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}


def test_cron_prints_a_block(feedctl: Feedctl) -> None:
    ran = feedctl("export", "cron", *PROD)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.startswith(f"{BEGIN}\n")


def test_what_no_action_does_yet_is_left_out_and_named(feedctl: Feedctl, own_repo: Path) -> None:
    feed = own_repo / "feeds" / "web" / "clicks_by_country.yaml"
    text = feed.read_text().replace("properties:", "    retention: {limit: days(10)}\nproperties:")
    elsewhere = 'locations: {data: "viewfs://all/clicks/${YEAR}/${MONTH}/${DAY}"}'
    feed.write_text(re.sub(r"^table: .*$", elsewhere, text, flags=re.MULTILINE))
    ran = feedctl("export", "cron", "--config-repo", str(own_repo), *PROD)
    assert ran.code == 0
    assert ran.err.startswith("left out: retention.clicks_by_country on primary: ")


def test_a_crontab_is_written_once_and_then_as_it_should_be(feedctl: Feedctl, tmp_path: Path) -> None:
    crontab = tmp_path / "crontab"
    crontab.write_bytes(b"# caf\xe9\n0 1 * * * mine\n")
    crontab.chmod(0o600)
    into = ("export", "cron", *PROD, "--into", str(crontab))
    assert feedctl(*into, "--check").code == 1
    assert crontab.read_bytes() == b"# caf\xe9\n0 1 * * * mine\n"
    assert feedctl(*into).out == "15 actions: 1 files written, 0 removed\n"
    written = crontab.read_bytes()
    assert written.startswith(b"# caf\xe9\n0 1 * * * mine\n# >>> feedctl export cron")
    assert crontab.stat().st_mode & 0o777 == 0o600
    assert (feedctl(*into, "--check").code, feedctl(*into).out) == (0, "15 actions: 0 files written, 0 removed\n")
    assert crontab.read_bytes() == written


def test_a_check_shows_what_is_different(feedctl: Feedctl, tmp_path: Path) -> None:
    crontab = tmp_path / "crontab"
    feedctl("export", "cron", *PROD, "--into", str(crontab))
    ran = feedctl("export", "cron", *PROD, "--into", str(crontab), "--check", "--master", "local[2]")
    assert ran.code == 1
    assert "\n-40 * * * * { /opt/spark/bin/spark-submit --master yarn" in ran.out
    assert "\n+40 * * * * { /opt/spark/bin/spark-submit --master 'local[2]'" in ran.out
    assert "1 files are not what the config repo says; the same command without --check writes them" in ran.err


def test_the_options_say_otherwise_than_the_environment(feedctl: Feedctl) -> None:
    out = feedctl("export", "cron", *PROD, "--master", "k8s://host", "--deploy-mode", "cluster").out
    assert out.count("spark-submit --master k8s://host --deploy-mode cluster --queue etl") == 8
    assert out.count("{ /opt/feedctl/bin/python /opt/feedctl/entrypoints/retention.py ") == 5


def test_a_link_to_a_crontab_stays_a_link(feedctl: Feedctl, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "crontab")
    feedctl("export", "cron", *PROD, "--into", str(link))
    assert link.is_symlink()
    assert BEGIN in (tmp_path / "crontab").read_text()


@pytest.mark.parametrize("form", ["oozie", "airflow"])
def test_a_folder_is_written_once_and_then_as_it_should_be(feedctl: Feedctl, tmp_path: Path, form: str) -> None:
    into = ("export", form, *PROD, "--into", str(tmp_path / "new" / "out"))
    assert feedctl(*into, "--check").code == 1
    assert not (tmp_path / "new").exists()
    assert "files written, 0 removed" in feedctl(*into).out
    written = tree(tmp_path)
    assert (feedctl(*into, "--check").code, feedctl(*into).out) == (0, "15 actions: 0 files written, 0 removed\n")
    assert tree(tmp_path) == written


@pytest.mark.parametrize("form", ["oozie", "airflow"])
def test_what_is_no_more_goes_and_nothing_else(feedctl: Feedctl, own_repo: Path, tmp_path: Path, form: str) -> None:
    out = tmp_path / "out"
    into = ("export", form, "--config-repo", str(own_repo), *PROD, "--into", str(out))
    feedctl(*into)
    before = tree(out)
    (out / "prod" / "primary" / "mine.py").write_text("mine = 1\n")
    other = out / "prod" / "elsewhere.xml"
    other.write_text("<?feedctl-export oozie other-repo prod primary?>")
    (own_repo / "processes" / "customer_activity_job.yaml").unlink()
    ran = feedctl(*into)
    gone = before.keys() - tree(out).keys()
    assert gone == {each for each in before if "customer_activity" in each or "domain-crm" in each}
    assert f"{len(gone)} removed" in ran.out
    assert {"prod/primary/mine.py", "prod/elsewhere.xml"} <= tree(out).keys()
    assert not [each for each in out.rglob("*") if each.is_dir() and not any(each.iterdir())], "no empty folder is left"


@pytest.mark.parametrize("form", ["oozie", "airflow"])
def test_an_export_of_one_cluster_leaves_those_of_others(feedctl: Feedctl, tmp_path: Path, form: str) -> None:
    into = ("export", form, *PROD, "--into", str(tmp_path))
    feedctl(*into)
    before = tree(tmp_path)
    assert "0 files written, 0 removed" in feedctl(*into, "--cluster", "backup").out
    assert tree(tmp_path) == before


def test_files_of_others_are_named_all_at_once_and_nothing_is_written(feedctl: Feedctl, tmp_path: Path) -> None:
    folder = tmp_path / "prod" / "primary"
    folder.mkdir(parents=True)
    for name in ("actions.py", "domain-web.py"):
        (folder / name).write_text("mine = 1\n")
    ran = feedctl("export", "airflow", *PROD, "--into", str(tmp_path))
    assert ran.code == 2
    assert (
        f"{folder / 'actions.py'}, {folder / 'domain-web.py'}: found what `feedctl export` has not written" in ran.err
    )
    assert set(tree(tmp_path)) == {"prod/primary/actions.py", "prod/primary/domain-web.py"}


def test_a_folder_that_cannot_be_written_is_named(feedctl: Feedctl, tmp_path: Path) -> None:
    (tmp_path / "prod").write_text("a file")
    ran = feedctl("export", "oozie", *PROD, "--into", str(tmp_path))
    assert ran.code == 1
    assert "prod/primary" in ran.err or "prod/backup" in ran.err
    assert "nothing is half written" in ran.err


def test_what_the_environment_does_not_say_is_named(feedctl: Feedctl) -> None:
    ran = feedctl("export", "cron", "--env", "dev")
    assert ran.code == 2
    assert "environments/dev.yaml has no schedules.entrypoints and no schedules.config_repo; write into it" in ran.err


def test_a_check_needs_a_file(feedctl: Feedctl) -> None:
    ran = feedctl("export", "cron", *PROD, "--check")
    assert (ran.code, "Missing option '--into'" in ran.err) == (2, True)


def test_a_master_is_one_argument(feedctl: Feedctl) -> None:
    ran = feedctl("export", "cron", *PROD, "--master", "a\nb")
    assert (ran.code, "--master: found 'a\\nb'" in ran.err) == (2, True)


@pytest.mark.parametrize("form", ["oozie", "airflow"])
@pytest.mark.parametrize("link", ["prod", "prod/primary"])
def test_a_link_below_the_folder_is_not_followed(feedctl: Feedctl, tmp_path: Path, form: str, link: str) -> None:
    out, elsewhere = tmp_path / "out", tmp_path / "elsewhere"
    into = ("export", form, *PROD, "--into", str(out))
    feedctl(*into)
    (out / link).rename(elsewhere)
    (out / link).symlink_to(elsewhere)
    before = tree(elsewhere)
    next(each for each in elsewhere.rglob("*.*") if each.is_file()).write_text("changed since\n")
    changed = tree(elsewhere)
    ran = feedctl(*into)
    assert ran.code == 2
    assert f"{out / link}: found a link" in ran.err
    assert tree(elsewhere) == changed != before


@pytest.mark.parametrize("form", ["oozie", "airflow"])
def test_the_folder_itself_may_be_a_link(feedctl: Feedctl, tmp_path: Path, form: str) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    into = ("export", form, *PROD, "--into", str(tmp_path / "link"))
    assert feedctl(*into).code == 0
    assert tree(tmp_path / "real")
    assert "0 files written, 0 removed" in feedctl(*into).out


@pytest.mark.timeout(20)
def test_a_pipe_is_no_crontab(feedctl: Feedctl, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "crontab")
    ran = feedctl("export", "cron", *PROD, "--into", str(tmp_path / "crontab"))
    assert (ran.code, "not a file" in ran.err) == (1, True)
