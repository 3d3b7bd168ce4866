"""Fields of a process result that other actions' results do not have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from toolkit.process_runner.targets import CLEAR, END, FLAG, PREPARE, PUBLISH, ProcessDetail, ProcessTarget, StepItem
from toolkit.rendering.action_result import ActionView, Document, counts_document, ending_document, note_lines
from toolkit.rendering.instance_params import shown_properties
from toolkit.rendering.mirror_plan import mirror_document, mirror_lines

if TYPE_CHECKING:
    from toolkit.el import TableUri
    from toolkit.process_runner.resolution import MissingInput, ResolvedInstance
    from toolkit.process_runner.targets import InstanceResult


def _instance(result: InstanceResult) -> Document:
    plan = result.plan
    resolved = plan.detail.resolved
    return {
        "process": plan.target.entity,
        "cluster": plan.target.cluster,
        "instance": plan.target.instance_key,
        "counts": counts_document(result),
        "resumed": plan.detail.resumed,
        "missing": [] if resolved is None else [_missing(each) for each in resolved.missing],
        "left_out": [] if resolved is None else list(resolved.left_out),
        "properties": {} if resolved is None or result.run is not None else shown_properties(resolved),
        "outputs": [] if resolved is None else _outputs(resolved),
        "mirror": None if plan.detail.mirror is None else mirror_document(plan.detail.mirror),
        "counters": dict(plan.detail.counters),
        **ending_document(result),
    }


def _missing(each: MissingInput) -> Document:
    return {
        "input": each.input,
        "feed": each.feed,
        "instance": each.instance_key or None,
        "path": each.uri or None,
        "state": each.state,
        "reason": each.reason,
    }


def _outputs(resolved: ResolvedInstance) -> list[Document]:
    return [{"output": each.name, "feed": each.storage.feed} for each in resolved.outputs]


def _item(item: StepItem) -> Document:
    return {
        "kind": item.kind,
        "instance": item.instance_key,
        "step": item.name,
        "engine": None if item.engine is None else str(item.engine),
        "path": item.path or None,
    }


_CHANGES = {
    PREPARE: "remove the output {}",
    CLEAR: "remove staged data of the output {}",
    PUBLISH: "publish the output {}",
    FLAG: "write the availability flag of the output {}",
}
"""Words for the change of an output."""


def _item_text(item: StepItem) -> str:
    if item.kind == END:
        return f"{item.instance_key}  all steps had succeeded"
    if item.kind in _CHANGES:
        return f"{item.instance_key}  {_CHANGES[item.kind].format(item.name)} ({item.path})"
    return f"{item.instance_key}  {item.name} ({f'{item.engine} {item.path}'.rstrip()})"


def _items_text(item: StepItem) -> str:
    """Words for items of a kind, in the plural."""
    if item.kind in _CHANGES:
        return f"times: {_CHANGES[item.kind].format(item.name)}"
    return "instances' ends" if item.kind == END else f"runs of {item.name}"


def _lines(result: InstanceResult, *, shows_properties: bool = False) -> Iterator[str]:
    """Yield the lines of one instance; in a dry run, whose steps are its items, the data and the properties."""
    yield from note_lines(result)
    detail = result.plan.detail
    if detail.counters:
        yield ", ".join(f"{name} {value:,}" for name, value in sorted(detail.counters.items()))
    if detail.mirror is not None:
        yield from mirror_lines(detail.mirror)
    resolved = detail.resolved
    if result.run is not None or not result.plan.items or resolved is None:
        return
    yield from _data_lines(resolved)
    if shows_properties:
        yield from (f"{name}={value}" for name, value in shown_properties(resolved).items())
    else:
        yield f"{len(resolved.properties)} properties, which --properties shows"


def _data_lines(resolved: ResolvedInstance) -> Iterator[str]:
    values = shown_properties(resolved)
    for read in resolved.inputs:
        yield f"input {read.name}: {_data_text(read.name, read.storage.table, values) or 'nothing is there'}"
    for made in resolved.outputs:
        yield f"output {made.name}: {_data_text(made.name, made.storage.table, values)}"


def _data_text(name: str, table: TableUri | None, values: Mapping[str, str]) -> str:
    """Return the paths, or the table and its partitions; of many the first and the last."""
    if table is not None:
        which = values.get(f"{name}_filter") or values.get(f"falcon_{name}_dataout_partitions", "").strip("'")
        return f"{table.database}.{table.table}" + (f", {which}" if which else "")
    paths = values.get(name, "").split(",")
    return paths[0] if len(paths) == 1 else f"{paths[0]} to {paths[-1]} ({len(paths)} paths)"


PROCESS_VIEW: ActionView[ProcessTarget, StepItem, ProcessDetail] = ActionView(
    targets="instances",
    target_document=_instance,
    item_document=_item,
    item_text=_item_text,
    items_text=_items_text,
    target_rule=lambda _: "",
    target_lines=_lines,
)


def process_view(*, properties: bool) -> ActionView[ProcessTarget, StepItem, ProcessDetail]:
    """Return the view of a run, of which a dry run shows the properties of its instances or only their number."""
    return replace(PROCESS_VIEW, target_lines=partial(_lines, shows_properties=properties))
