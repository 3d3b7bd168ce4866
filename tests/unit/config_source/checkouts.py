"""Config repos on the disk, and git checkouts of them, for the tests of config_source."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

REPO = {
    "repo.yaml": "name: web\n",
    "feeds/clicks.yaml": "kind: feed\nname: clicks\n",
    "workflows/clicks.sql": "select 1\n",
}


def write(root: Path, texts: Mapping[str, str]) -> Path:
    """Writes files below a directory."""
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


def git(directory: Path, *arguments: str, at: str = "2026-03-01T06:40:00+00:00") -> str:
    """Runs git with an identity of its own, at a fixed time."""
    fixed = {
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.com",
        "GIT_AUTHOR_DATE": at,
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.com",
        "GIT_COMMITTER_DATE": at,
        "GIT_CONFIG_GLOBAL": os.devnull,
    }
    done = subprocess.run(
        ["git", *arguments], cwd=directory, env={**os.environ, **fixed}, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def checkout(root: Path, texts: Mapping[str, str] = REPO) -> Path:
    """A git checkout with one commit."""
    write(root, texts)
    git(root, "init", "--quiet", "--initial-branch=main")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=first")
    return root
