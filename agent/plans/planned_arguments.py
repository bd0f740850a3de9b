"""Arguments of a plan's steps: fixed, or taken from earlier steps."""

from agent.plans.json_paths import ITEM, find_named_item, get_value_at
from agent.policy.protocol import ArgumentsQuestion, CallArguments
from domain.model import JsonObject
from domain.plan import Binding, PlannedStep, Take

FIXED = "the plan"
"""Reference in the binding of a value that a person fixed."""


def resolve_arguments(step: PlannedStep, question: ArgumentsQuestion) -> CallArguments:
    """Return the arguments that a plan has for a step, before any policy is asked.

    A parameter is missing if the response that it is taken from has nothing at its place, or if it stands for a
    parameter of the plan without a value.
    """
    values: JsonObject = dict(step.arguments)
    provenance = [Binding(parameter=name, origin="user", reference=FIXED) for name in values]
    settled = set(values)
    missing = {name: f"the plan's parameter {own} has no value" for name, own in step.named.items()}
    for name, take in step.takes.items():
        binding = _resolve_take(name, take, question, values)
        if binding is None:
            missing[name] = f"the answer of step {take.step} has nothing at {take.field or 'its place'}"
        else:
            provenance.append(binding)
            # With an open index, words of the request choose the item: no person has fixed the value.
            if ITEM not in take.field:
                settled.add(name)
    why = "".join(f"No value for {name}: {reason}. " for name, reason in missing.items()).strip()
    return CallArguments(values, tuple(provenance), tuple(missing), settled=frozenset(settled), why=why)


def _resolve_take(name: str, take: Take, question: ArgumentsQuestion, values: JsonObject) -> Binding | None:
    """Add the value that a parameter takes to ``values`` and return its binding.

    The result is None if there is no value.
    """
    if take.step > len(question.earlier):
        return None
    _, result = question.earlier[take.step - 1]
    field, value = take.field, None
    if ITEM in field:
        # A call with side effects must not fall back to the first item when the request names none.
        item = find_named_item(result.response, field, question.request, only_named=not question.tool.safe)
        if item is not None:
            field, value = item
    else:
        value = get_value_at(result.response, field)
    if value is None:
        return None
    values[name] = value
    return Binding(parameter=name, origin="step", reference=f"{take.step}.{field}".rstrip("."))
