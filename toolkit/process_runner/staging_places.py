"""Places of outputs that are validated before they are published, and outputs that cannot be validated."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from toolkit.actions.staged_unit import STAGING_DIRECTORY
from toolkit.entities import LocationType
from toolkit.errors import NotImplementedYet

if TYPE_CHECKING:
    from toolkit.planning.process_io import PlannedOutput, ProcessSite


def as_written(site: ProcessSite, output: PlannedOutput) -> PlannedOutput:
    """Return an output where the steps write it: in its staging place if it is validated."""
    path = output.instance.paths.get(LocationType.DATA)
    if path is None or site.quality_of(output.name) is None:
        return output
    parent, _, name = path.rstrip("/").rpartition("/")
    paths = {**output.instance.paths, LocationType.DATA: f"{parent}/{STAGING_DIRECTORY}/{name}"}
    return replace(output, instance=replace(output.instance, paths=paths))


def unvalidated_table(site: ProcessSite) -> NotImplementedYet | None:
    """Return why a process with a validated table as output cannot run: steps write partitions where all read."""
    for name, each in site.process.outputs.items():
        if site.quality_of(name) is not None and site.feeds[each.feed].table_on(site.cluster.name) is not None:
            return NotImplementedYet(
                what=f"quality of the output {name}, which is a table ({each.feed}),",
                instead="let the process make a path feed with quality, or remove the quality of this one",
                where=f"process {site.process.name}",
            )
    return None
