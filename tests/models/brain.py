"""A scripted model behind the real protocol: answers by decision, each decision's answers in order, the last one again and again."""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from pydantic.types import JsonValue

from tests.models.openai_replies import ChatRequest, Reply, Resets

PURPOSES = (
    "decompose", "choose", "choose_by_result", "whole_path", "reflect", "arguments", "fields_to_keep", "answer", "program", "program_grammar", "phrase",
    "choose_solution", "fill", "adopt", "score",
)  # fmt: skip
Said = Reply | str | Mapping[str, JsonValue]
"""A reply, a text, or an object that is answered as JSON."""
Line = Said | Callable[[ChatRequest], Said]


@lru_cache(maxsize=1)
def _beginnings() -> dict[str, str]:
    prompts = files("agent") / "prompts"
    return {purpose: (prompts / f"{purpose}.md").read_text(encoding="utf-8")[:60] for purpose in PURPOSES}


def purpose_of(request: ChatRequest) -> str:
    """Which decision is asked for, known by the stable part of the prompt."""
    system = str(request.messages[0]["content"])
    return next(purpose for purpose, beginning in _beginnings().items() if system.startswith(beginning))


WHOLE: dict[str, JsonValue] = {"reason": "it is one thing", "subtasks": []}
GOOD: dict[str, JsonValue] = {"reason": "it serves the request", "verdict": "success", "first_wrong": None, "noisy": []}
HOPELESS: dict[str, JsonValue] = {**GOOD, "reason": "no tool here serves it", "verdict": "total"}


def content(request: ChatRequest) -> Mapping[str, JsonValue]:
    """A judge who lets everything stand as it is."""
    return HOPELESS if "The planning gave up" in request.prompt or "There is no path." in request.prompt else GOOD


class Brain:
    """``asked``: the decisions that were asked for, in order. Where nothing is said of them, nothing is split, every path is good enough, no
    program is written, and no solution serves; any other question breaks the connection off, as a model that is lost.
    """

    def __init__(self, **script: Sequence[Line]) -> None:
        self._script: dict[str, list[Line]] = {
            "decompose": [WHOLE],
            "reflect": [content],
            "program": ["I write no programs."],
            "program_grammar": ["Nor plans."],
            "fill": [{"reason": "it asks for something else", "fits": False, "inputs": [], "wordings": []}],
        }
        self._script |= {purpose: list(lines) for purpose, lines in script.items()}
        self.asked: list[str] = []

    def __call__(self, request: ChatRequest) -> Reply | str:
        purpose = purpose_of(request)
        self.asked.append(purpose)
        lines = self._script.get(purpose, [])
        if not lines:
            return Resets()
        line = lines.pop(0) if len(lines) > 1 else lines[0]
        said = line(request) if callable(line) else line
        return json.dumps(said) if isinstance(said, Mapping) else said


def advance(number: int, reason: str = "it fits") -> dict[str, JsonValue]:
    return {"reason": reason, "action": "advance", "number": number}


def move(action: str, reason: str = "so it is") -> dict[str, JsonValue]:
    return {"reason": reason, "action": action, "number": None}


def advance_to(name: str) -> Callable[[ChatRequest], Mapping[str, JsonValue]]:
    """Advance to the candidate whose line names a tool; give up where none does."""

    def choose(request: ChatRequest) -> Mapping[str, JsonValue]:
        lines = request.prompt.partition("[[candidates ")[2].splitlines()
        numbers = [line.partition(".")[0] for line in lines if f"/{name}" in line.partition(":")[0]]
        return advance(int(numbers[0])) if numbers else move("give_up", f"there is no {name}")

    return choose


def split(*descriptions: str, after: Sequence[int] = ()) -> dict[str, JsonValue]:
    """Subtasks; the last one depends on those that it comes ``after``."""
    subtasks: list[JsonValue] = [
        {
            "name": text[:30],
            "description": text,
            "depends_on": list(after) if number == len(descriptions) else [],
        }
        for number, text in enumerate(descriptions, start=1)
    ]
    return {"reason": "they are apart", "subtasks": subtasks}


def judge(verdict: str, first_wrong: int | None = None, noisy: Sequence[int] = ()) -> dict[str, JsonValue]:
    """A judgement of a path."""
    return {"reason": f"a {verdict} one", "verdict": verdict, "first_wrong": first_wrong, "noisy": list(noisy)}


def bind(*bindings: tuple[str, JsonValue, str, str], missing: Sequence[str] = ()) -> dict[str, JsonValue]:
    """Arguments: (parameter, value, origin, reference) each."""
    bound: list[JsonValue] = [
        {"parameter": name, "value": value, "origin": origin, "reference": reference}
        for name, value, origin, reference in bindings
    ]
    return {"bindings": bound, "missing": list(missing)}
