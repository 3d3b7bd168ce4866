"""No finding repeats a secret that stands beside what it is about."""

from __future__ import annotations

import pytest

from tests.unit.linter.repos import lint_texts
from toolkit.linter.rules import RULES
from toolkit.rendering.lint import lint_text


@pytest.mark.parametrize(
    ("file", "text", "rule"),
    [
        (
            "workflows/hourly.sql",
            "CREATE TABLE a OPTIONS (password 'hunter2', dbtable '${tabel}')",
            "unknown-",
        ),
        ("workflows/hourly.sql", "CREATE USER a IDENTIFIED BY 'hunter2' ${tabel}", "unknown-"),
        ("feeds/views.yaml", "password:\nhunter2\nname: x\n", "yaml-syntax"),
        ("feeds/views.yaml", "token:\n- hunter2\n  x: y\n", "yaml-syntax"),
        ("feeds/views.yaml", "token:\nhunter2 # of the shop\nname: x\n", "yaml-syntax"),
    ],
)
def test_a_secret_beside_a_mistake_is_not_shown(file: str, text: str, rule: str) -> None:
    shown = lint_text(lint_texts({file: text}), RULES)
    assert f"[{rule}" in shown
    assert "hunter2" not in shown, shown
