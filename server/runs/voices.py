"""Who has said what before a run's calls: its user's own messages, and what the author of another user's template wrote."""

from collections.abc import Collection
from typing import cast

from agent.provenance import Fixed, Voices
from domain.model import JsonObject
from domain.plan_document import PlanDocument
from domain.tool import ToolId
from server.storage.runs import Run
from server.storage.storage import Storage

_OTHERS = "others"
"""Of a run's settings: the values that the author of its template fixed, where that is another user."""
_MESSAGES = 50
"""Messages of a conversation that count as its user's word, the latest ones."""


def by_another(template: PlanDocument, filled: PlanDocument, given: Collection[str]) -> JsonObject:
    """What the settings of a run say of a template of another user. ``filled``: with the user's values for the parameters ``given``.

    It is kept with the run: the template may change hands, change or go before the run ends.
    """
    fixed: list[JsonObject] = [
        {"tool": step.tool, "parameter": name, "value": value}
        for own, step in zip(template.steps, filled.steps, strict=True)
        for name, value in step.arguments.items()
        if own.named.get(name) not in given
    ]
    return {_OTHERS: [*fixed]}


async def voices_of(run: Run, storage: Storage) -> Voices:
    """The same however often a run is taken up: messages after it do not count."""
    before = await storage.runs.before(run, _MESSAGES)
    asked = [*before[::-1], run]
    others = _fixed_by_others(run)
    return Voices(
        said=[one.request for one in asked if _OTHERS not in one.settings],
        fixed=[one for one in _fixed(run) if one not in others],
        others_said=[run.request] if _OTHERS in run.settings else [],
        others_fixed=others,
    )


def _fixed(run: Run) -> list[Fixed]:
    """The values that stand in the plan that a run was asked for with."""
    given = run.settings.get("document")
    steps = PlanDocument.model_validate(given).steps if given is not None else ()
    return [(step.tool, name, value) for step in steps for name, value in step.arguments.items()]


def _fixed_by_others(run: Run) -> list[Fixed]:
    told = cast("list[JsonObject]", run.settings.get(_OTHERS) or [])
    return [(ToolId(str(one["tool"])), str(one["parameter"]), one["value"]) for one in told]
