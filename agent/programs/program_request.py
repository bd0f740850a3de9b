"""Task of a program's author: the request, files, and results of earlier requests to continue from."""

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
"""Maximum number of characters of an answer before the last one."""
_CALL = 110
_CHANGE = 180
"""Maximum number of characters of a call that changed something: its arguments may be all that an undo can use."""
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
    """Text for the author: earlier requests with their answers and results; empty if there were none."""
    foreign: bool = False
    """The text contains words of responses."""

    def select_inputs(self, names: frozenset[str]) -> dict[str, JsonValue]:
        """Return the values of those of these names that stand for earlier results.

        Programs stored by earlier versions name each result separately, as ``earlier_1``.
        """
        each = {f"{EARLIER}_{number}": value for number, value in enumerate(self.values, start=1)}
        values_by_name: dict[str, JsonValue] = {EARLIER: [*self.values], **each}
        return {name: value for name, value in values_by_name.items() if name in names}


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """Task for the author of a program: a request, with what the program can start from."""

    request: str
    today: str
    """Date, such as ``2026-11-23``."""
    earlier: EarlierResults = field(default_factory=EarlierResults)
    """Results that the program can continue from."""
    wider: bool = False
    """If a program says that it lacks something, search for tools for that, once."""
    known: KnownPrograms = NO_KNOWN_PROGRAMS
    """Programs that served such requests before."""
    counts_refusals: bool = False
    """A program that the checks refuse uses up a repair, so that at most three may fail in all."""
    given_text: str = ""
    """Program to run once; empty to have one written."""
    of_strangers: bool = False
    """The given text may have been written by someone other than the user."""
    files: GivenFiles = field(default_factory=GivenFiles)
    """Files that the user gave."""

    @property
    def tainted(self) -> bool:
        """True if the author is shown words that are not the user's, which taints what is written."""
        return self.of_strangers or self.earlier.foreign or bool(self.files.all) or self.known.tainted

    def select_inputs(self, names: frozenset[str]) -> dict[str, JsonValue]:
        """Return the values of earlier results and files for the names that a text reads."""
        return self.earlier.select_inputs(names) | self.files.inputs(names)

    def can_answer_without_calls(self, names: frozenset[str]) -> bool:
        """Return True if a text that reads these names may answer without a call, from its inputs alone."""
        return bool(self.select_inputs(names)) or self.files.seen_whole

    def describe_types(self) -> tuple[dict[str, str], str]:
        """Return the types of the inputs by name, and the definitions that these types need."""
        types, definitions = self.files.declared()
        return types | ({EARLIER: "list[Any]"} if self.earlier.text else {}), definitions

    def build_question(
        self, functions: OfferedFunctions, attempts: Sequence[ProgramAttempt], answers: Sequence[QuestionAnswered]
    ) -> ProgramQuestion:
        """Build the question to the author, who may call these functions."""
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
    """Build the earlier results from the steps that a subtask builds on.

    Arguments:
        earlier: The earlier runs of the conversation.
        numbers: Numbers of the steps of these runs that are among ``results``, which begin with them.
        results: Results of the steps, with their tools.
        is_original: The request has the user's own wording, so it may refer to earlier requests without results, too.
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
    """Group the steps by the request that they were made for; those of the current request come last."""
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
    """Parse a response as JSON; text stays text, and of cut JSON the complete part is kept."""
    value = read_value(result.response)
    return result.response if value is None and result.response.strip() not in ("null", "") else value


def _render_text(requests: Sequence[_EarlierRequest]) -> str:
    """Render each request with its answer and calls, and as many responses as there is room for.

    A response is shown by its structure and a sample, or by the structure alone.
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
        # A structure that was already shown for the same tool is not repeated.
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
