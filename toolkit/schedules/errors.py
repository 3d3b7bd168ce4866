"""Why a schedule cannot be written down."""

from __future__ import annotations

from collections.abc import Iterable

from toolkit.errors import InvalidInput


class NoSchedules(InvalidInput):
    """The environment does not say how its actions are started.

    Args:
        environment: name; empty: there is none.
        missing: keys of its `schedules`.
    """

    def __init__(self, *, environment: str, missing: Iterable[str]) -> None:
        self.environment, self.missing = environment, tuple(missing)
        if environment:
            found = f"environments/{environment}.yaml has no schedules.{' and no schedules.'.join(self.missing)}"
        else:
            found = "the config repo has no environment, or none was named with --env"
        todo = (
            "write into it, for example, schedules: {entrypoints: /opt/feedctl/entrypoints, config_repo: /srv/feeds}; "
            "`feedctl schema environment` has all keys"
        )
        super().__init__(f"{found}; {todo}")


class NotSayable(InvalidInput):
    """Texts that a scheduler's format would take for something else than what they are.

    Args:
        form: the format.
        found: each text, with what is wrong with it.
    """

    def __init__(self, *, form: str, found: Iterable[str]) -> None:
        self.form, self.found = form, tuple(dict.fromkeys(found))
        super().__init__(f"{form} cannot hold {'; '.join(self.found)}; change that in the config repo, or the export")


class BrokenBlock(InvalidInput):
    """A crontab whose marks of a generated block are not in order.

    Args:
        file: the crontab.
        found: what is wrong with them.
    """

    def __init__(self, *, file: str, found: str) -> None:
        self.file, self.found = file, found
        super().__init__(f"{file}: {found}; put both marks around the generated lines, or remove them with these")
