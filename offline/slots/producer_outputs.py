"""What the steps of a path would give a tool, by their documents, before any call is made."""

from collections.abc import Sequence

from agent.parameters.kinds import UNTOUCHED
from agent.parameters.needs import Need, need_of
from domain.event import Feed
from domain.tool import Parameter, ToolDoc
from graph.coupling import best_field
from offline.slots.field_units import unit_of
from offline.slots.write_slots import of_another


def feeding(parameter: Parameter, need: Need, tool: ToolDoc, path: Sequence[ToolDoc]) -> Feed | None:
    """The last step of the path that fits best."""
    if need.kind in UNTOUCHED:
        return None
    best: Feed | None = None
    for step, producer in enumerate(path, start=1):
        coupling = best_field(producer, parameter, tool)
        if coupling is None or of_another(coupling.field.path, need, tool):
            continue
        if best is None or coupling.score >= best.score:
            best = Feed(parameter=parameter.name, step=step, field=coupling.field.path, score=coupling.score)
    return best


def unmeasured(missing: Sequence[str], tool: ToolDoc, feeds: Sequence[Feed], path: Sequence[ToolDoc]) -> list[str]:
    """What is missing but for the units of what steps of the path give."""
    needs = {parameter.name: need_of(parameter) for parameter in tool.required}
    return [
        name
        for name in missing
        if needs[name].role == "to" or not any(unit_of(path[f.step - 1], f.field, needs[name]) for f in feeds)
    ]
