"""Task of a program's author: the request, files, and results of earlier requests to go on from."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic.types import JsonValue

from agent.conversation import CUT_NOTE, ConversationHistory
from agent.files.given import GivenFiles
from agent.policy.protocol import Results
from agent.programs.names import to_identifier
from agent.programs.offered_functions import OfferedFunctions
from agent.programs.protocol import NO_KNOWN_PROGRAMS, KnownPrograms, ProgramAttempt, ProgramQuestion
from agent.programs.value_previews import preview_values
from agent.text import clean
from domain.event import QuestionAnswered
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.lenient_json import read_value

EARLIER = "earlier"
"""Variable that holds earlier results in a program: a list, oldest first."""
_MOST = 6_000
"""Maximum number of characters that an author is shown of all earlier results."""
_REQUEST = 240
_ANSWER = 400
_OLDER = 160
"""Maximum number of characters of an answer other than the last."""
_CALL = 110
_CHANGE = 180
"""Maximum number of characters of a changing call, whose arguments may be all that an undo can use."""
_PART = "an earlier part of this request"
_IS_CUT = "  # only a part of what it answered: for the whole, call it again"
Step = tuple[int, ToolDoc, StepResult]
"""A result with its index in ``earlier``."""


@dataclass(frozen=True, slots=True)
class EarlierResults:
    """Results of earlier requests, as values for the program and as text for its author."""

    values: tuple[JsonValue, ...] = ()
    """Values of ``earlier``."""
    text: str = ""
    """Text for the author, with the requests that the results were found for; empty if there were none."""
    foreign: bool = False
    """The text contains words of responses."""

    def select_inputs(self, names: frozenset[str]) -> dict[str, JsonValue]:
        """Return the values of the names that a text reads.

        Texts of earlier versions name each result separately, from 1.
        """
        each = {f"{EARLIER}_{number}": value for number, value in enumerate(self.values, start=1)}
        values_by_name: dict[str, JsonValue] = {EARLIER: [*self.values], **each}
        return {name: value for name, value in values_by_name.items() if name in names}


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """Task for the author of a program: a request with what the program can go on from."""

    request: str
    today: str
    earlier: EarlierResults = field(default_factory=EarlierResults)
    """Results that the program goes on from."""
    wider: bool = False
    """Search once more for tools that a program says it lacks."""
    known: KnownPrograms = NO_KNOWN_PROGRAMS
    """Programs that served such requests before."""
    counts_refusals: bool = False
    """Count texts that a check refuses as repairs too: at most three texts may fail in all."""
    given_text: str = ""
    """Text that is run once instead of a written one; empty to have one written."""
    of_strangers: bool = False
    """The given text may contain words of people other than the user."""
    files: GivenFiles = field(default_factory=GivenFiles)
    """Files that the user gave."""

    @property
    def tainted(self) -> bool:
        """True if the author is shown words that are not the user's."""
        return self.of_strangers or self.earlier.foreign or bool(self.files.all) or self.known.tainted

    def select_inputs(self, names: frozenset[str]) -> dict[str, JsonValue]:
        """Return the values of earlier results and files for the names that a text reads."""
        return self.earlier.select_inputs(names) | self.files.inputs(names)

    def can_answer_without_calls(self, names: frozenset[str]) -> bool:
        """Return True if a text that reads these names may answer from its inputs without a call."""
        return bool(self.select_inputs(names)) or self.files.seen_whole

    def describe_types(self) -> tuple[dict[str, str], str]:
        """Return the types of the inputs by name, and the definitions that these types need."""
        types, definitions = self.files.declared()
        return types | ({EARLIER: "list[Any]"} if self.earlier.text else {}), definitions

    def build_question(
        self, functions: OfferedFunctions, attempts: Sequence[ProgramAttempt], answers: Sequence[QuestionAnswered]
    ) -> ProgramQuestion:
        """Build the question to the author over these functions."""
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
class _EarlierRequest:
    """An earlier request with the steps that were found for it."""

    request: str
    answer: str = ""
    steps: list[Step] = field(default_factory=list[Step])


def build_earlier_results(
    earlier: ConversationHistory, numbers: Sequence[int], results: Results, *, is_original: bool
) -> EarlierResults:
    """Build the earlier results from the steps that a subtask is given.

    ``numbers``: the numbers of those steps that the conversation's runs found. ``is_original``: the request is in the user's own wording, so
    earlier requests are shown whether or not steps were found for them.
    """
    requests = list(_split_by_request(earlier, numbers, results))
    relevant = [one for one in requests if one.steps or (is_original and one.request != _PART)]
    if not relevant:
        return EarlierResults()
    foreign = any(one.steps or one.answer for one in relevant)
    return EarlierResults(tuple(_parse_value(result) for _, result in results), _render_text(relevant), foreign)


def _split_by_request(
    earlier: ConversationHistory, numbers: Sequence[int], results: Results
) -> Iterator[_EarlierRequest]:
    """Group the steps by the request that they were found for; steps of this request come last."""
    place = {number: at for at, number in enumerate(numbers)}
    number = 0
    for run in earlier.runs:
        request = _EarlierRequest(run.request, run.answer)
        for _ in run.steps:
            number += 1
            if number in place:
                request.steps.append((place[number], *results[place[number]]))
        yield request
    yield _EarlierRequest(_PART, steps=[(at, *step) for at, step in enumerate(results) if at >= len(numbers)])


def _parse_value(result: StepResult) -> JsonValue:
    """Parse a response as JSON; text stays text, and of a cut response the complete part is kept."""
    value = read_value(result.response)
    return result.response if value is None and result.response.strip() not in ("null", "") else value


def _render_text(requests: Sequence[_EarlierRequest]) -> str:
    """Render each request with its answer and calls.

    The latest calls also show the structure of their responses, as far as there is room.
    """
    last = max((at for at, one in enumerate(requests) if one.answer), default=0)
    heads = [_render_head(one, _ANSWER if at == last else _OLDER) for at, one in enumerate(requests)]
    steps = [step for one in requests for step in one.steps]
    remaining = _MOST - sum(len(line) + 1 for line in (*heads, *map(_render_call, steps)))
    details: dict[int, str] = {}
    described = set[tuple[str, str]]()
    # The latest results are the most likely to be used: they get the room first.
    for at, tool, result in reversed(steps):
        structure, _, sample = preview_values(_parse_value(result)).text.partition("\n")
        # A structure that was shown for the same tool is not repeated.
        ways = [sample] if (tool.id, structure) in described else [f"{structure}\n{sample}", structure]
        detail = next((one for one in ways if len(one) < remaining), "")
        if detail:
            details[at] = detail
            remaining -= len(detail) + 1
            described.add((tool.id, structure))
    lines: list[str] = []
    for one, head in zip(requests, heads, strict=True):
        lines.append(head)
        for step in one.steps:
            lines += [part for part in (_render_call(step), details.get(step[0], "")) if part]
    return "\n".join(lines)


def _render_head(request: _EarlierRequest, most: int) -> str:
    """Render a request and its answer, which is cut to ``most`` characters."""
    answer = f"\nanswer: {clean(request.answer, most)}" if request.answer else ""
    return f"request: {clean(request.request, _REQUEST)}{answer}"


def _render_call(step: Step) -> str:
    """Render a step as the call that made it, assigned to its item of ``earlier``."""
    at, tool, result = step
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in result.arguments.items())
    call = clean(f"{to_identifier(tool.api, 'tool')}({arguments})", _CALL if tool.safe else _CHANGE)
    return f"{EARLIER}[{at}] = {call}{_IS_CUT if result.note == CUT_NOTE else ''}"
