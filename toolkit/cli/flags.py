"""Options that commands share as fields of dataclasses, and the decorator that gives them to a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache, cached_property, update_wrapper
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar, get_args, get_origin, get_type_hints

import typer

from toolkit.cli.completion import environment_names
from toolkit.cli.options import OutputAs, OutputFormat
from toolkit.variables import process_variables

if TYPE_CHECKING:
    from toolkit.bootstrap.config import RepoRequest
    from toolkit.entities.repo import RepoSettings
    from toolkit.entities.repository import Repository
    from toolkit.ledger.database import Ledger

_R = TypeVar("_R")

ConfigRepo = Annotated[
    str | None,
    typer.Option(
        "--config-repo",
        metavar="DIR|ARCHIVE",
        help="The config repo. Default: FEEDCTL_REPO, else the nearest parent folder with a repo.yaml.",
    ),
]
Env = Annotated[
    str | None,
    typer.Option(
        "--env", metavar="NAME", autocompletion=environment_names, help="The environment to lay over the entities."
    ),
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fields:
    """Fields of a dataclass that a command has as options; each other field has its default.

    Attributes:
        only: these alone; empty: all.
        but: not these.
    """

    only: tuple[str, ...] = ()
    but: tuple[str, ...] = ()

    def of(self, flags: type) -> Iterator[Field[object]]:
        """The fields, in the order of the dataclass."""
        return (
            each for each in fields(flags) if each.name not in self.but and (not self.only or each.name in self.only)
        )


class FlatCommand(Generic[_R]):
    """A command for typer: each parameter of its function that is a dataclass stands for an option per field."""

    def __init__(self, function: Callable[..., _R]) -> None:
        update_wrapper(self, function)
        self.function = function

    def __call__(self, **values: object) -> _R:
        """Run the function, with its dataclasses made of the options."""
        return self.function(**{
            name: values[name] if flags is None else flags(**{each.name: values[each.name] for each in options})
            for name, (flags, options) in self._parameters.items()
        })  # fmt: skip

    @cached_property
    def __signature__(self) -> inspect.Signature:
        """The signature that typer reads; made late, since only the command that runs needs one."""
        return inspect.Signature([each for _, options in self._parameters.values() for each in options])

    @cached_property
    def _parameters(self) -> dict[str, tuple[type | None, list[inspect.Parameter]]]:
        """For each parameter of the function its dataclass, or None, and the options that stand for it."""
        signature = inspect.signature(self.function, eval_str=True)
        return {name: _options_of(each) for name, each in signature.parameters.items()}


def flat(function: Callable[..., _R]) -> FlatCommand[_R]:
    """Make a command for typer of a function whose parameters may be dataclasses of options."""
    return FlatCommand(function)


def _options_of(parameter: inspect.Parameter) -> tuple[type | None, list[inspect.Parameter]]:
    is_annotated = get_origin(parameter.annotation) is Annotated
    flags, *marks = get_args(parameter.annotation) if is_annotated else (parameter.annotation,)
    if not (isinstance(flags, type) and is_dataclass(flags)):
        return None, [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)]
    hints = _hints(flags)
    return flags, [
        inspect.Parameter(
            each.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if each.default is MISSING else each.default,
            annotation=hints[each.name],
        )
        for each in (marks[-1] if marks else Fields()).of(flags)
    ]


@cache
def _hints(flags: type) -> dict[str, object]:
    """Return the annotations of the fields; cached, since `--help` needs those of one class for many commands."""
    return get_type_hints(flags, include_extras=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class RepoFlags:
    """The config repo that a command reads, with its environment."""

    config_repo: ConfigRepo = None
    env: Env = None

    def request(self) -> RepoRequest:
        """Return the config repo that is meant, with the variables of this process."""
        from toolkit.bootstrap.config import RepoRequest

        return RepoRequest(config_repo=self.config_repo, environment=self.env, variables=process_variables())

    def entities(self) -> Repository:
        """Load all entities, for reading.

        Raises:
            InvalidInput: no usable config repo.
        """
        from toolkit.bootstrap.config import load_repository

        return load_repository(self.request())

    @contextmanager
    def opened(self, *, writing: bool) -> Iterator[tuple[Ledger, Repository]]:
        """Open the ledger, and load all entities.

        Args:
            writing: the command changes something; otherwise the database itself refuses every change.

        Raises:
            InvalidInput: no usable config repo or ledger.
            LedgerUnavailable: the database cannot be used now.
        """
        from toolkit.bootstrap.ledgers import ledger_and_repository

        ledger, repository = ledger_and_repository(self.request(), read_only=not writing)
        try:
            yield ledger, repository
        finally:
            ledger.close()

    @contextmanager
    def opened_with_settings(self, *, writing: bool) -> Iterator[tuple[Ledger, RepoSettings]]:
        """Open the ledger, and load the settings of the repo; the entities are not read and may be broken.

        Raises:
            InvalidInput: no usable config repo or ledger.
            LedgerUnavailable: the database cannot be used now.
        """
        from toolkit.bootstrap.config import load_settings_of, open_config
        from toolkit.bootstrap.ledgers import ledger_of

        repo = self.request()
        snapshot = open_config(repo)
        settings = load_settings_of(snapshot, repo)
        ledger = ledger_of(snapshot, settings, repo.variables, read_only=not writing)
        try:
            yield ledger, settings
        finally:
            ledger.close()


@dataclass(frozen=True, kw_only=True, slots=True)
class AnswerFlags(RepoFlags):
    """The config repo that a command reads, and the form of its answer."""

    output: OutputAs = OutputFormat.TEXT
