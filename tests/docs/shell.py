"""One bash for a page: its commands run in order, in a fresh directory that is their HOME too."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.docs.masks import is_same, trimmed, without_noise
from tests.docs.pages import Command, File, Page

HOME = "/home/engineer"
"""Name that pages give to the directory in which they begin."""
_KEPT = ("JAVA_HOME", "PATH", "SPARK_LAUNCHER_OPTS", "SPARK_SUBMIT_OPTS", "LANG")
_SECONDS = 540
_MARK = re.compile(r"\x1e(\d+)\x1e")
_END = "END_OF_A_FILE_OF_THE_PAGE"
_PERSON = {"NAME": "Engineer", "EMAIL": "engineer@example.com"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """Real output and exit code of a command; no code when the command ended the shell."""

    command: Command
    output: Sequence[str]
    code: int | None

    @property
    def differs(self) -> bool:
        """Return whether the page shows something else."""
        return self.code != self.command.exit or not is_same(self.command.output, self.output)


@dataclass(frozen=True, kw_only=True, slots=True)
class Shell:
    """Runs pages.

    Args:
        home: the fresh directory.
        programs: directory that comes first on PATH.
        stand_ins: what takes the place of names in the page, such as a database's URL.
        environment: variables beyond those of every page.
    """

    home: Path
    programs: Path
    stand_ins: Mapping[str, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def run(self, page: Page) -> list[Answer]:
        """Return the answers to all commands of the page; it is not stopped by one that fails."""
        output = self._output("".join(self._lines(page)))
        parts = _MARK.split(output)
        texts, codes = parts[::2], [int(code) for code in parts[1::2]]
        commands = [step for step in page.steps if isinstance(step, Command)]
        ended = [*codes, *[None] * (len(commands) - len(codes))]
        texts += [""] * (len(commands) - len(texts))
        return [
            Answer(command=command, output=without_noise(self._shown(text).splitlines()), code=code)
            for command, text, code in zip(commands, texts, ended, strict=False)
        ]

    def _lines(self, page: Page) -> Iterator[str]:
        yield "cd\nfeedctl_code=0\n"
        for step in page.steps:
            match step:
                case File():
                    yield f'mkdir -p "$(dirname "{step.title}")"\n'
                    yield self._real(f"cat >\"{step.title}\" <<'{_END}'\n{step.text}{_END}\n")
                case Command():
                    # `$?` of a command is that of the page's command before it.
                    yield "(exit $feedctl_code)\n" + self._real("".join(f"{line}\n" for line in step.lines))
                    yield "feedctl_code=$?; printf '\\036%d\\036' $feedctl_code\n"

    def _output(self, script: str) -> str:
        """Return all that the script writes to its terminal, in order; what it leaves running is ended."""
        file, log = self.home.with_suffix(".sh"), self.home.with_suffix(".txt")
        file.write_text(script, encoding="utf-8")
        with log.open("wb") as output:
            bash = subprocess.Popen(
                ["bash", "--norc", file],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=self._variables(),
                start_new_session=True,
            )
            try:
                with contextlib.suppress(subprocess.TimeoutExpired):  # what was not reached has no code
                    bash.wait(_SECONDS)
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(bash.pid, signal.SIGKILL)
                bash.wait()
        return log.read_text(encoding="utf-8", errors="replace")

    def _variables(self) -> dict[str, str]:
        known = {name: os.environ[name] for name in _KEPT if name in os.environ}
        known["PATH"] = f"{self.programs}{os.pathsep}{known.get('PATH', os.defpath)}"
        for role in ("AUTHOR", "COMMITTER"):
            known |= {f"GIT_{role}_{name}": value for name, value in _PERSON.items()}
        fixed = {"HOME": str(self.home), "LANG": "C.UTF-8", "TZ": "UTC", "SPARK_LOCAL_IP": "127.0.0.1"}
        return {**known, **fixed, **self.environment}

    def _real(self, text: str) -> str:
        for name, value in self.stand_ins.items():
            text = text.replace(name, value)
        return text.replace(HOME, str(self.home))

    def _shown(self, text: str) -> str:
        for name, value in self.stand_ins.items():
            text = text.replace(value, name)
        return text.replace(str(self.home), HOME)


def rewritten(text: str, answers: Sequence[Answer]) -> str:
    """Return the text of the page with the real output of each command whose shown output differs."""
    lines = text.splitlines()
    for answer in reversed(answers):
        command = answer.command
        if not is_same(command.output, answer.output):
            lines[command.first : command.last] = [
                f"{command.indent}{line}".rstrip() for line in trimmed(answer.output)
            ]
    return "".join(f"{line}\n" for line in lines)
