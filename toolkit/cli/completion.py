"""Shell completion of values: names of the config repo, of lint rules, entrypoints and schemas.

An error is of no use in the middle of typing: a failure offers no candidates. zsh evaluates what it is given,
and what is offered ends in a command line, so only words that mean nothing to a shell are: a tag may be anything.
"""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from toolkit.cli.streams import silence
from toolkit.errors import FeedctlError
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from toolkit.bootstrap.config import RepoRequest
    from toolkit.entities.repository import Repository

_Completion = Callable[[typer.Context, str], list[str]]

_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.,:@%+=/-]*")
"""A text that no shell takes for more than a word, nor a command for an option."""

_PATIENCE = 2.0
"""Seconds until a user who waits for candidates types on; a repo that takes longer to load offers none."""


def is_completing(program: str) -> bool:
    """Return whether a shell requests completions.

    Args:
        program: the name of the command.
    """
    return bool(_instruction(program))


def is_installing(program: str) -> bool:
    """Return whether a shell requests the script that requests completions; no command is needed for it.

    Args:
        program: the name of the command.
    """
    return _instruction(program).startswith("source_")


def _instruction(program: str) -> str:
    return process_variables().get(f"_{program}_COMPLETE".replace("-", "_").upper()) or ""


def complete_in_silence() -> None:
    """Let this process, which completes, say nothing on standard error and end when it takes too long."""
    silence(2)
    signal.signal(signal.SIGALRM, lambda *_: os._exit(0))  # nothing on the way up can catch that, and nothing is open
    signal.setitimer(signal.ITIMER_REAL, _PATIENCE)


def _completion(find: Callable[[typer.Context], Iterable[str]]) -> _Completion:
    """Offers what is found and begins so; nothing when finding fails."""

    def offer(ctx: typer.Context, incomplete: str) -> list[str]:
        with suppress(FeedctlError, OSError):
            return sorted({each for each in find(ctx) if each.startswith(incomplete) and _WORD.fullmatch(each)})
        return []

    return offer


def _request(ctx: typer.Context) -> RepoRequest:
    """The config repo and environment that were typed already; no shell has replaced the ``~`` of a path yet."""
    from toolkit.bootstrap.config import RepoRequest

    named = ctx.params.get("config_repo")
    path = named and os.path.expanduser(named)  # noqa: PTH111 - a text; it may be anything
    return RepoRequest(config_repo=path, environment=ctx.params.get("env"), variables=process_variables())


def _repository(ctx: typer.Context) -> Repository:
    from toolkit.bootstrap.config import load_repository

    return load_repository(_request(ctx))


def _clusters(ctx: typer.Context) -> Iterable[str]:
    repository = _repository(ctx)
    environment = repository.environment
    return (name for name in repository.clusters if environment is None or environment.allows(name))


def _environments(ctx: typer.Context) -> Iterable[str]:
    from toolkit.bootstrap.config import open_config
    from toolkit.entities.source_files import environment_name

    return filter(None, map(environment_name, open_config(_request(ctx)).files))


def _groups(ctx: typer.Context) -> Iterable[str]:
    return (group for feed in _repository(ctx).feeds.values() for group in feed.groups)


def _tags(ctx: typer.Context) -> Iterable[str]:
    return (f"{key}={value}" for entity in _repository(ctx).entities() for key, value in entity.tags.items())


def _rules(_: typer.Context) -> Iterable[str]:
    from toolkit.linter.rules import RULES

    return RULES


def _entrypoints(_: typer.Context) -> Iterable[str]:
    from toolkit.cli.shipped import entrypoints

    return entrypoints()


def _schemas(_: typer.Context) -> Iterable[str]:
    from toolkit.entities.schema_store import SchemaName
    from toolkit.rendering.document_schemas import DocumentName

    return [*SchemaName, *DocumentName]


def _new_kinds(_: typer.Context) -> Iterable[str]:
    from toolkit.entities.drafts import KINDS

    return KINDS


mirror_types = _completion(lambda ctx: _repository(ctx).mirror_types)
entity_names = _completion(lambda ctx: (each.name for each in _repository(ctx).entities()))
process_names = _completion(lambda ctx: _repository(ctx).processes)
feed_names = _completion(lambda ctx: _repository(ctx).feeds)
cluster_names = _completion(_clusters)
environment_names = _completion(_environments)
group_names = _completion(_groups)
tag_texts = _completion(_tags)
rule_names = _completion(_rules)
entrypoint_names = _completion(_entrypoints)
schema_names = _completion(_schemas)
new_kinds = _completion(_new_kinds)
