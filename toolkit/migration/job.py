"""Workflow of Falcon, and the path that an engine of feedctl makes of it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from toolkit.entities.pointers import value_at
from toolkit.migration.arguments import StepArguments
from toolkit.migration.draft import CannotConvert, Converted, Draft
from toolkit.migration.known import Known, names_in
from toolkit.migration.xml_tree import Element, Fact

URI = re.compile(r"(?P<store>[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?)(?P<path>/.*)")
_NAME_NODE = re.compile(r"\$\{nameNode\}(?=/)")
FOLDER = "workflows"
"""Folder of scripts in the config repo."""


class Runs(Protocol):
    """Command of one of Falcon's engines; `place` gets the path of a workflow, its own or a late one."""

    def place(self, path: str, script: str) -> Converted:
        """The path in the YAML.

        Args:
            path: in the XML.
            script: a name for a script, without an ending.

        Raises:
            CannotConvert: it is no path that can be run.
        """
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class FalconWorkflow:
    """Workflow of a process as an engine gets it.

    Attributes:
        element: the workflow.
        spark: the attributes for Spark.
    """

    draft: Draft
    known: Known
    element: Element
    spark: Element | None
    engine: Fact | None
    libraries: Fact | None

    def put_engine(self, engine: str, note: str) -> None:
        """Write the engine; Falcon's default is Oozie."""
        if self.engine is None:
            self.draft.add(("workflow", "engine"), engine, f"Falcon's engine is Oozie unless it is named; {note}")
        else:
            self.draft.put(self.engine, ("workflow", "engine"), engine, note)

    def put_path(self, runs: Runs) -> None:
        """Write what runs."""
        path = self.element.attribute("path")
        self.draft.copy(path, ("workflow", "path"), partial(runs.place, script=self.draft.name))

    def todo(self, text: str) -> None:
        """Leave something about the workflow to the owner."""
        source = self.element.attribute("path") or Fact(self.element.place, self.element.line, "")
        self.draft.todo(source, ("workflow", "path"), text)

    def put_removals(self) -> None:
        """Have each output removed before a run, as Falcon does for pig, hive and spark.

        It drops the partition of a table; feedctl does not, so that is to do.
        """
        for name in names_in(self.draft.document, ("outputs",)):
            if self.known.is_table(str(value_at(self.draft.document, ("outputs", name, "feed")))):
                self.todo(
                    f"Falcon drops the partition of the output {name} before each run, and feedctl does not: let the"
                    " workflow overwrite it (INSERT OVERWRITE)"
                )
            else:
                why = "Falcon removes an output before each run of pig, hive and spark"
                self.draft.add(("outputs", name, "prepare"), "delete", why)

    def put_arguments(self, arguments: StepArguments, before: tuple[str, ...] = ()) -> None:
        """Write the arguments of the command."""
        why = "what Falcon hands to the workflow, each as one argument without a shell"
        self.draft.add(("workflow", "args"), [*before, *arguments.arguments], why)
        for name in arguments.left_out:
            self.todo(
                f"the property {name!r} cannot be an argument by this name; it is in the environment of the command"
            )


def own_path(path: str) -> str:
    """A path of Falcon's without `${nameNode}`, which all paths without a scheme mean.

    Raises:
        CannotConvert: its meaning is unknown.
    """
    own = _NAME_NODE.sub("", path)
    if not path.isprintable() or "${" in own:
        expected = "a path without control characters, and without ${...} but ${nameNode} in front"
        raise CannotConvert(expected)
    if not own.startswith("/") and not URI.fullmatch(own):
        expected = "an absolute path or a URI"
        raise CannotConvert(expected)
    return own
