"""`feedctl entity suspend|resume|status|touch`, `feedctl hold` and `feedctl admin` over a ledger."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.unit.cli.running import Feedctl
from toolkit.runs.recorder import current_user

pytestmark = pytest.mark.usefixtures("repo", "cli_ledger")


def test_an_entity_is_suspended_and_resumed(feedctl: Feedctl) -> None:
    ran = feedctl("entity", "suspend", "clicks", "--reason", "disk full")
    assert ran.out.splitlines()[0] == "clicks suspended"
    assert f"on every cluster by {current_user()} since" in ran.out
    assert feedctl("entity", "suspend", "clicks").out.startswith("clicks is suspended already; nothing was changed")
    document = feedctl("entity", "status", "clicks", "--output", "json").document
    (state,) = document["clusters"]
    assert (state["cluster"], state["status"]) == ("primary", "suspended")
    assert (state["suspended"]["reason"], state["suspended"]["everywhere"]) == ("disk full", True)
    assert feedctl("entity", "resume", "clicks", "--cluster", "primary").out.startswith(
        "clicks is not suspended there by itself; nothing was changed"
    )
    assert feedctl("entity", "resume", "clicks", "--output", "json").document["changed"]
    assert "suspended" not in feedctl("entity", "status", "clicks").rows[1]


def test_a_touch_is_shown(feedctl: Feedctl) -> None:
    assert feedctl("entity", "touch", "clicks").out.startswith("clicks touched")
    assert feedctl("entity", "status", "clicks", "--output", "json").document["touched_at"] is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("entity", "status", "primary"), "primary is a cluster and has no runs"),
        (("entity", "suspend", "clicks", "--cluster", "backup"), "cluster backup is not in environment dev"),
        (("hold", "add", "clikcs", "--reason", "x"), "did you mean clicks?"),
        (("hold", "add", "clicks", "--cluster", "nowhere", "--reason", "x"), "feed clicks has no cluster named"),
        (("hold", "add", "clicks"), "Missing option '--reason'"),
        (("hold", "remove", "7"), "the ledger has no hold 7"),
        (("hold", "list", "clikcs"), "did you mean clicks?"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(feedctl: Feedctl, arguments: tuple[str, ...], message: str) -> None:
    ran = feedctl(*arguments)
    assert (ran.code, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert message in ran.err


def test_holds_are_added_listed_and_removed(feedctl: Feedctl) -> None:
    options = ("--cluster", "primary", "--start", "2026-03-01T00:00Z", "--reason", "audit", "--owner", "law")
    assert feedctl("hold", "add", "clicks", *options).out == "hold 1 on clicks added\n"
    again = feedctl("hold", "add", "clicks", *options)
    assert again.out == "hold 1 on clicks says the same already; nothing was changed\n"
    rows = feedctl("hold", "list").rows
    assert [(row[0], row[1], row[3]) for row in rows[1:]] == [
        ("-", "clicks", "2026-03-01T00:00Z"),
        ("1", "clicks", "2026-03-01T00:00Z"),
    ]
    assert feedctl("hold", "remove", "1").out == "hold 1 removed\n"
    assert feedctl("hold", "remove", "1").out == "hold 1 was removed before; nothing was changed\n"
    assert len(feedctl("hold", "list", "--output", "json").document["holds"]) == 1


def test_safe_mode_is_switched_and_shown(feedctl: Feedctl) -> None:
    assert feedctl("admin", "safe-mode", "status").out == "safe mode is off\n"
    on = feedctl("admin", "safe-mode", "on", "--reason", "upgrade")
    assert on.out.startswith(f"safe mode is on, by {current_user()} since")
    assert feedctl("admin", "safe-mode", "on").out.endswith("upgrade; nothing was changed\n")
    assert feedctl("admin", "safe-mode", "status", "--output", "json").document["safe_mode"]["on"]
    refused = feedctl("entity", "resume", "clicks")
    assert (refused.code, refused.out) == (5, "")
    assert feedctl("hold", "remove", "1").code == 5
    assert feedctl("entity", "suspend", "clicks").code == 0
    assert feedctl("admin", "safe-mode", "off", "--output", "json").document["changed"]


def test_who_is_no_admin_does_not_switch_safe_mode(feedctl: Feedctl, own_repo: Path) -> None:
    settings = own_repo / "repo.yaml"
    settings.write_text(settings.read_text() + "\nadmins: [somebody-else]\n")
    ran = feedctl("admin", "safe-mode", "on", "--config-repo", str(own_repo))
    assert (ran.code, ran.out) == (3, "")
    assert "`admins` in repo.yaml are somebody-else" in ran.err
    assert feedctl("admin", "safe-mode", "status").out == "safe mode is off\n"


def test_safe_mode_can_be_switched_when_an_entity_is_broken(feedctl: Feedctl, own_repo: Path) -> None:
    (own_repo / "feeds" / "web" / "clicks.yaml").write_text("kind: feed\nname: clicks\n")
    assert feedctl("admin", "safe-mode", "on", "--config-repo", str(own_repo)).code == 0
