"""Fields of a process result that other actions' results do not have."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from toolkit.process_runner.targets import CLEAR, END, FLAG, PREPARE, PUBLISH, ProcessDetail, ProcessTarget, StepItem
from toolkit.rendering.action_result import ActionView, Document, counts_document, ending_document, note_lines
from toolkit.rendering.instance_params import shown_properties

if TYPE_CHECKING:
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
    return f"{item.instance_key}  {item.name} ({item.engine} {item.path})"


def _items_text(item: StepItem) -> str:
    """Words for items of a kind, in the plural."""
    if item.kind in _CHANGES:
        return f"times: {_CHANGES[item.kind].format(item.name)}"
    return "instances' ends" if item.kind == END else f"runs of {item.name}"


def _lines(result: InstanceResult) -> Iterator[str]:
    """Yield the lines of one instance's plan; a dry run is looked at for its properties."""
    yield from note_lines(result)
    if result.run is None and result.plan.items and result.plan.detail.resolved is not None:
        for name, value in shown_properties(result.plan.detail.resolved).items():
            yield f"{name}={value}"


PROCESS_VIEW: ActionView[ProcessTarget, StepItem, ProcessDetail] = ActionView(
    targets="instances",
    target_document=_instance,
    item_document=_item,
    item_text=_item_text,
    items_text=_items_text,
    target_rule=lambda _: "",
    target_lines=_lines,
)
