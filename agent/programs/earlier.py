"""What a program goes on from: results of earlier requests, whole as the values of ``earlier``, and what its author is shown of them."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic.types import JsonValue

from agent.conversation import CUT, Earlier
from agent.files.given import GivenFiles
from agent.policy.protocol import Results
from agent.programs.known import NOTHING, Known
from agent.programs.looks import shown
from agent.programs.names import identifier
from agent.programs.offered import Functions
from agent.programs.protocol import Attempt, ProgramQuestion
from agent.text import clean
from domain.event import QuestionAnswered
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.lenient_json import read_value

EARLIER = "earlier"
"""The name that a program finds them by: a list, the oldest first."""
_MOST = 6_000
"""Characters of what an author is shown of all of them."""
_REQUEST = 240
_ANSWER = 400
_OLDER = 160
"""Characters of an answer that is not the last."""
_CALL = 110
_CHANGE = 180
"""Characters of a call; of a change its arguments are all that there may be to take it back by."""
_PART = "an earlier part of this request"
_IS_CUT = "  # only a part of what it answered: for the whole, call it again"
Step = tuple[int, ToolDoc, StepResult]
"""A result with its place in ``earlier``, from 0."""


@dataclass(frozen=True, slots=True)
class EarlierResults:
    """``values``: those of ``earlier``. ``text``: what their author is shown, the requests that they were found for with it; empty where there was none.

    ``foreign``: words of responses stand in it.
    """

    values: tuple[JsonValue, ...] = ()
    text: str = ""
    foreign: bool = False

    def inputs(self, names: frozenset[str]) -> dict[str, JsonValue]:
        """What a text finds that reads these names. Texts of earlier versions name each result by itself, from 1."""
        each = {f"{EARLIER}_{number}": value for number, value in enumerate(self.values, start=1)}
        known: dict[str, JsonValue] = {EARLIER: [*self.values], **each}
        return {name: value for name, value in known.items() if name in names}


@dataclass(frozen=True, slots=True)
class Asked:
    """What a program is written for. ``earlier``: what it goes on from. ``wider``: what a program lacks is looked for once more.

    ``given``: a text that is run once instead of one that is written, ``of_strangers`` where it may hold other words than its user's.
    ``files``: that its user gave. ``known``: how such requests were served. ``thrice``: three texts may come to nothing in all, those that a check refuses among them.
    """

    request: str
    today: str
    earlier: EarlierResults = field(default_factory=EarlierResults)
    wider: bool = False
    known: Known = NOTHING
    thrice: bool = False
    given: str = ""
    of_strangers: bool = False
    files: GivenFiles = field(default_factory=GivenFiles)

    @property
    def tainted(self) -> bool:
        """Whether its author is shown what is no word of its user."""
        return self.of_strangers or self.earlier.foreign or bool(self.files.all) or self.known.tainted

    def found(self, names: frozenset[str]) -> dict[str, JsonValue]:
        """What a text finds that reads these names: earlier results and files."""
        return self.earlier.inputs(names) | self.files.inputs(names)

    def stands_on(self, names: frozenset[str]) -> bool:
        """Whether an answer of a text that reads these names may rest on what was given, without a call."""
        return bool(self.found(names)) or self.files.seen_whole

    def types(self) -> tuple[dict[str, str], str]:
        """Of what a text finds, with the definitions that these need."""
        types, definitions = self.files.declared()
        return types | ({EARLIER: "list[Any]"} if self.earlier.text else {}), definitions

    def question(
        self, functions: Functions, attempts: Sequence[Attempt], answers: Sequence[QuestionAnswered]
    ) -> ProgramQuestion:
        """What its author sees, over these functions."""
        return ProgramQuestion(
            request=self.request,
            offer=functions.text,
            today=self.today,
            earlier=self.earlier.text,
            files=self.files.text,
            file_names=tuple(self.files.names),
            goes_on=bool(self.earlier.values),
            attempts=tuple(attempts),
            unknown=functions.unknown,
            answers=tuple(answers),
            known=self.known,
            docs=functions.docs,
            of_path=not self.wider,
        )


@dataclass(slots=True)
class _Asked:
    """An earlier request with what was found for it."""

    request: str
    answer: str = ""
    steps: list[Step] = field(default_factory=list[Step])


def earlier_results(earlier: Earlier, numbers: Sequence[int], given: Results, *, whole: bool) -> EarlierResults:
    """Of the steps that a subtask is ``given``; ``numbers``: of those among them that the conversation's runs have found.

    ``whole``: the request is as its user put it, so that what was asked before is shown, whatever was found for it.
    """
    asked = list(_asked(earlier, numbers, given))
    kept = [one for one in asked if one.steps or (whole and one.request != _PART)]
    if not kept:
        return EarlierResults()
    foreign = any(one.steps or one.answer for one in kept)
    return EarlierResults(tuple(_value(result) for _, result in given), _text(kept), foreign)


def _asked(earlier: Earlier, numbers: Sequence[int], given: Results) -> Iterator[_Asked]:
    place = {number: at for at, number in enumerate(numbers)}
    number = 0
    for run in earlier.runs:
        asked = _Asked(run.request, run.answer)
        for _ in run.steps:
            number += 1
            if number in place:
                asked.steps.append((place[number], *given[place[number]]))
        yield asked
    yield _Asked(_PART, steps=[(at, *step) for at, step in enumerate(given) if at >= len(numbers)])


def _value(result: StepResult) -> JsonValue:
    """The response as JSON has it, text as text; of one that was cut, what is complete."""
    value = read_value(result.response)
    return result.response if value is None and result.response.strip() not in ("null", "") else value


def _text(asked: Sequence[_Asked]) -> str:
    """Each request with its answer and its calls; of the latest ones also what they answered, as far as there is room."""
    last = max((at for at, one in enumerate(asked) if one.answer), default=0)
    heads = [_head(one, _ANSWER if at == last else _OLDER) for at, one in enumerate(asked)]
    steps = [step for one in asked for step in one.steps]
    left = _MOST - sum(len(line) + 1 for line in (*heads, *map(_line, steps)))
    details: dict[int, str] = {}
    told = set[tuple[str, str]]()
    for at, tool, result in reversed(steps):
        structure, _, sample = shown(_value(result)).text.partition("\n")
        ways = [sample] if (tool.id, structure) in told else [f"{structure}\n{sample}", structure]
        detail = next((one for one in ways if len(one) < left), "")
        if detail:
            details[at] = detail
            left -= len(detail) + 1
            told.add((tool.id, structure))
    lines: list[str] = []
    for one, head in zip(asked, heads, strict=True):
        lines.append(head)
        for step in one.steps:
            lines += [part for part in (_line(step), details.get(step[0], "")) if part]
    return "\n".join(lines)


def _head(one: _Asked, most: int) -> str:
    answer = f"\nanswer: {clean(one.answer, most)}" if one.answer else ""
    return f"request: {clean(one.request, _REQUEST)}{answer}"


def _line(step: Step) -> str:
    at, tool, result = step
    given = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in result.arguments.items())
    call = clean(f"{identifier(tool.api, 'tool')}({given})", _CALL if tool.safe else _CHANGE)
    return f"{EARLIER}[{at}] = {call}{_IS_CUT if result.note == CUT else ''}"
