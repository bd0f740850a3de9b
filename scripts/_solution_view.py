"""How solutions look: as JSON, and on a terminal."""

from pydantic.types import JsonValue

from agent.plans.plan_inputs import build_shown_schemas
from domain.solution import Solution
from domain.tool import ToolId


def line(one: Solution, likeness: float | None = None) -> str:
    """One of a list."""
    near = "" if likeness is None else f"{likeness:.2f}  "
    state = f"  (suspended: {one.suspended})" if one.suspended else ""
    whose = f"of {one.owner}" if one.owner else "shared"
    return f"{near}{one.id}  +{one.good} -{one.bad}  {one.origin}, {whose}  {next(iter(one.patterns), '')}{state}"


def told(one: Solution, likeness: float | None = None) -> dict[str, JsonValue]:
    """One of a list, as JSON."""
    shown: dict[str, JsonValue] = {
        "id": one.id,
        "owner": one.owner,
        "patterns": list(one.patterns),
        "path": list(one.path),
        "origin": one.origin,
        "good": one.good,
        "bad": one.bad,
        "suspended": one.suspended,
    }
    return shown if likeness is None else {**shown, "likeness": likeness}


def whole(one: Solution, drift: list[ToolId]) -> dict[str, JsonValue]:
    """With its program."""
    return {
        **told(one),
        "program": one.plan.program.text,
        "parameters": {**build_shown_schemas(one.plan)},
        "wrong": list(one.wrong),
        "runs": list(one.runs),
        "drift": [*drift],
    }


def lines(one: Solution, drift: list[ToolId]) -> list[str]:
    """The same for a terminal."""
    found = [line(one), "", "serves:", *(f"  {pattern}" for pattern in one.patterns)]
    found += ["", *one.plan.program.text.splitlines(), ""]
    found += [f"{name}: {schema}" for name, schema in build_shown_schemas(one.plan).items()]
    found += [f"not for (marked wrong): {request}" for request in one.wrong]
    found += [f"drifted: {tool}" for tool in drift]
    return found + [f"run: {run}" for run in one.runs]
