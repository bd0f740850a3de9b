"""Task of a program's author: the request, files, and results of earlier requests to continue from."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pydantic.types import JsonValue

from agent.conversation import TRUNCATED_NOTE, ConversationHistory
from agent.files.given_files import GivenFiles
from agent.policy.protocol import Results
from agent.programs.function_names import to_identifier
from agent.programs.offered_functions import OfferedFunctions
from agent.programs.program_types import NO_KNOWN_PROGRAMS, KnownPrograms, ProgramAttempt, ProgramQuestion
from agent.programs.value_previews import preview_values
from agent.text import clean_text
from domain.event import QuestionAnswered
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.lenient_json import read_value

EARLIER = "earlier"
"""Variable that holds earlier results in a program: a list, oldest first."""
_MAX_CHARACTERS = 6_000
"""Maximum number of characters that an author is shown of all earlier results."""
_MAX_REQUEST_LENGTH = 240
_MAX_LAST_ANSWER_LENGTH = 400
_MAX_OLDER_ANSWER_LENGTH = 160
"""Maximum number of characters of an answer before the last one."""
_MAX_CALL_LENGTH = 110
_MAX_CHANGE_LENGTH = 180
"""Maximum number of characters of a call that changed something: its arguments may be all that an undo can use."""
_SAME_REQUEST = "an earlier part of this request"
_CUT_COMMENT = "  # only a part of what it answered: for the whole, call it again"
IndexedStep = tuple[int, ToolDoc, StepResult]
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
        numbered_values = {f"{EARLIER}_{number}": value for number, value in enumerate(self.values, start=1)}
        values_by_name: dict[str, JsonValue] = {EARLIER: [*self.values], **numbered_values}
        return {name: value for name, value in values_by_name.items() if name in names}


@dataclass(frozen=True, slots=True)
class ProgramRequest:
    """Task for the author of a program: a request, with what the program can start from."""

    request: str
    today: str
    """Date, such as ``2026-11-23``."""
    earlier: EarlierResults = field(default_factory=EarlierResults)
    """Results that the program can continue from."""
    may_widen_offer: bool = False
    """If a program says that it lacks something, search for tools for that, once."""
    known_programs: KnownPrograms = NO_KNOWN_PROGRAMS
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
        return self.of_strangers or self.earlier.foreign or bool(self.files.all_files) or self.known_programs.tainted

    def select_inputs(self, names: frozenset[str]) -> dict[str, JsonValue]:
        """Return the values of earlier results and files for the names that a text reads."""
        return self.earlier.select_inputs(names) | self.files.select_values(names)

    def can_answer_without_calls(self, names: frozenset[str]) -> bool:
        """Return True if a text that reads these names may answer without a call, from its inputs alone."""
        return bool(self.select_inputs(names)) or self.files.has_full_preview

    def describe_types(self) -> tuple[dict[str, str], str]:
        """Return the types of the inputs by name, and the definitions that these types need."""
        types, definitions = self.files.declare_types()
        return types | ({EARLIER: "list[Any]"} if self.earlier.text else {}), definitions

    def build_question(
        self, functions: OfferedFunctions, attempts: Sequence[ProgramAttempt], answers: Sequence[QuestionAnswered]
    ) -> ProgramQuestion:
        """Build the question to the author, who may call these functions."""
        return ProgramQuestion(
            request=self.request,
            offer=functions.offer,
            today=self.today,
            earlier=self.earlier.text,
            files=self.files.preview,
            file_names=tuple(self.files.names_by_variable),
            has_earlier_results=bool(self.earlier.values),
            attempts=tuple(attempts),
            unstructured=functions.unstructured,
            answers=tuple(answers),
            known_programs=self.known_programs,
            docs=functions.docs,
            follows_path=not self.may_widen_offer,
        )


@dataclass(slots=True)
class _EarlierRequest:
    """An earlier request with the steps that were found for it."""

    request: str
    answer: str = ""
    steps: list[IndexedStep] = field(default_factory=list[IndexedStep])


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
    relevant = [
        earlier_request
        for earlier_request in requests
        if earlier_request.steps or (is_original and earlier_request.request != _SAME_REQUEST)
    ]
    if not relevant:
        return EarlierResults()
    foreign = any(earlier_request.steps or earlier_request.answer for earlier_request in relevant)
    return EarlierResults(
        tuple(_parse_response_value(result) for _, result in results), _render_requests(relevant), foreign
    )


def _split_by_request(
    earlier: ConversationHistory, numbers: Sequence[int], results: Results
) -> Iterator[_EarlierRequest]:
    """Group the steps by the request that they were made for; those of the current request come last."""
    positions = {number: index for index, number in enumerate(numbers)}
    number = 0
    for run in earlier.runs:
        request = _EarlierRequest(run.request, run.answer)
        for _ in run.steps:
            number += 1
            if number in positions:
                request.steps.append((positions[number], *results[positions[number]]))
        yield request
    yield _EarlierRequest(
        _SAME_REQUEST, steps=[(index, *step) for index, step in enumerate(results) if index >= len(numbers)]
    )


def _parse_response_value(result: StepResult) -> JsonValue:
    """Parse a response as JSON; text stays text, and of cut JSON the complete part is kept."""
    value = read_value(result.response)
    return result.response if value is None and result.response.strip() not in ("null", "") else value


def _render_requests(requests: Sequence[_EarlierRequest]) -> str:
    """Render each request with its answer and calls, and as many responses as there is room for.

    A response is shown by its structure and a sample, or by the structure alone.
    """
    last = max((index for index, entry in enumerate(requests) if entry.answer), default=0)
    heads = [
        _render_request_head(entry, _MAX_LAST_ANSWER_LENGTH if index == last else _MAX_OLDER_ANSWER_LENGTH)
        for index, entry in enumerate(requests)
    ]
    steps = [step for entry in requests for step in entry.steps]
    remaining = _MAX_CHARACTERS - sum(len(line) + 1 for line in (*heads, *map(_render_step, steps)))
    details: dict[int, str] = {}
    described_structures = set[tuple[str, str]]()
    # The latest results are the most likely to be used: they get the room first.
    for index, tool, result in reversed(steps):
        structure, _, sample = preview_values(_parse_response_value(result)).text.partition("\n")
        # A structure that was already shown for the same tool is not repeated.
        candidates = [sample] if (tool.id, structure) in described_structures else [f"{structure}\n{sample}", structure]
        detail = next((entry for entry in candidates if len(entry) < remaining), "")
        if detail:
            details[index] = detail
            remaining -= len(detail) + 1
            described_structures.add((tool.id, structure))
    lines: list[str] = []
    for entry, head in zip(requests, heads, strict=True):
        lines.append(head)
        for step in entry.steps:
            lines += [part for part in (_render_step(step), details.get(step[0], "")) if part]
    return "\n".join(lines)


def _render_request_head(request: _EarlierRequest, max_answer_length: int) -> str:
    """Render a request and its answer, which is cut to ``max_answer_length`` characters."""
    answer = f"\nanswer: {clean_text(request.answer, max_answer_length)}" if request.answer else ""
    return f"request: {clean_text(request.request, _MAX_REQUEST_LENGTH)}{answer}"


def _render_step(step: IndexedStep) -> str:
    """Render a step as the call that made it, assigned to its item of ``earlier``."""
    index, tool, result = step
    arguments = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in result.arguments.items())
    call = clean_text(
        f"{to_identifier(tool.api, 'tool')}({arguments})", _MAX_CALL_LENGTH if tool.safe else _MAX_CHANGE_LENGTH
    )
    return f"{EARLIER}[{index}] = {call}{_CUT_COMMENT if result.note == TRUNCATED_NOTE else ''}"
