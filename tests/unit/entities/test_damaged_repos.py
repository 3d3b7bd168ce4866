"""Whatever is wrong with the files: problems with places, never another exception."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.entities.config_repo import BASE, snapshot
from toolkit.entities import load_all

TEXTS = {
    **BASE,
    "repo.yaml": "environments: [prod]\ndefault_environment: prod\nmax_delete: {instances: 5}\n",
    "environments/prod.yaml": "clusters: [primary]\nrepo: {first_run: apply}\nentities: {clicks: {owner: me}}\n",
    "defaults.yaml": "feed: {owner: you, tags: {a: b}}\n",
    "holds.yaml": "holds:\n  - {feed: clicks, cluster: primary, reason: audit}\n",
}
PIECES = (
    "null", "[]", "{}", "x", "1", "true", "- a", "''", "${", "${x}", "/", "*", ": ", "hours(1)", " ", "\n", "\t",
    "{name: a}", "&a ", "*a", "!x ", "9" * 50, "é", "#", '"', "'", ",", "]", "}",
)  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_a_damaged_repo_has_problems_and_the_loader_survives(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - no secret
    texts = dict(TEXTS)
    for _ in range(chance.randint(1, 4)):
        file = chance.choice(list(texts))
        texts[file] = _damaged(texts[file], chance)
    repo, problems = load_all(snapshot(texts))
    for problem in problems:
        assert problem.file in texts
        assert problem.line <= texts[problem.file].count("\n") + 2
    for entity in repo.entities():
        assert repo.origins(entity.name)


def _damaged(text: str, chance: random.Random) -> str:
    start = chance.randrange(len(text) + 1)
    end = min(len(text), start + chance.randrange(12))
    return text[:start] + chance.choice(PIECES) + text[end:]
