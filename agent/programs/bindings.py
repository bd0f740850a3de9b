"""Find the origins of a call's arguments: an earlier response, words of the request, a file or a value of the plan."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pydantic.types import JsonValue

from agent.files.origins import FileOrigins
from agent.plans.planned_arguments import FIXED
from agent.text import clean
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.provenance import Slice
from domain.tool import ToolId
from graph.lenient_json import read_value

ANSWERED = "answered when asked"
"""Reference in the binding of a value that the user gave in answer to a question."""
AnsweredCall = tuple[int, ToolId, StepResult]
"""A call that has ended: its step number, tool and result."""

_NO_FILES = FileOrigins()
_LEAVES = 20_000
"""Maximum number of values that are indexed in one response."""
_EXPRESSION = 160
_KEY = re.compile(r"""\[\s*['"]([^'"\]]+)['"]\s*\]|\.get\(\s*['"]([^'"]+)['"]""")


def find_bindings(
    arguments: JsonObject,
    slices: Iterable[Slice],
    answered: Sequence[AnsweredCall],
    request: str,
    answers: "AnswerIndex",
    *,
    plan: bool,
    files: FileOrigins = _NO_FILES,
) -> Iterator[Binding]:
    """Yield the origin of each argument that the program's text has a value for.

    Arguments:
        arguments: The arguments that are sent.
        slices: For each argument, the part of the program that its value depends on.
        answered: The calls that ended before this one, in order.
        request: The user's request.
        answers: Index of the values in those calls' responses.
        plan: The text is a plan that a person approved, so its constants and inputs count as that person's.
        files: The files that the user gave.
    """
    for argument in slices:
        value = arguments.get(argument.parameter)
        if value is None:
            continue  # the argument was left out
        if not argument.is_foreign and plan and _is_plan_value(argument):
            yield Binding(parameter=argument.parameter, origin="user", reference=FIXED)
        elif (place := answers.find_place(value, argument, answered)) is not None:
            yield Binding(parameter=argument.parameter, origin="step", reference=place)
        elif (file_variables := _find_file_variables(argument)) and (
            place := files.place(value, file_variables, _list_field_names(argument)[-1])
        ) is not None:
            yield Binding(parameter=argument.parameter, origin="file", reference=place)
        elif not argument.is_foreign and any(source.kind == "answer" for source in argument.sources):
            yield Binding(parameter=argument.parameter, origin="user", reference=ANSWERED)
        elif not argument.is_foreign and (words := find_request_words(value, request)):
            yield Binding(parameter=argument.parameter, origin="request", reference=words)
        else:
            yield Binding(
                parameter=argument.parameter, origin="computed", reference=clean(argument.expression, _EXPRESSION)
            )


def find_request_words(value: JsonValue, request: str) -> str:
    """Return the words of the request that equal a single value, as written there.

    The result is empty if there are none.
    """
    if isinstance(value, (bool, list, dict)) or value is None or not str(value).strip():
        return ""
    match = re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", request, re.IGNORECASE)
    return match[0] if match else ""


def _list_field_names(argument: Slice) -> list[str]:
    """Return the field names in an argument's expression, after an empty one, so that there always is a last item."""
    return ["", *(name for found in _KEY.finditer(argument.expression) for name in found.groups() if name)]


def _find_file_variables(argument: Slice) -> frozenset[str]:
    """Return the variables of the files that an argument's value depends on."""
    return frozenset(source.name for source in argument.sources if source.kind == "file")


def _is_plan_value(argument: Slice) -> bool:
    """Return True if an argument depends on nothing but constants and inputs of the plan."""
    return all(source.kind in ("constant", "said", "given") for source in argument.sources)


class AnswerIndex:
    """Index of the values in the responses of one run.

    Each response is parsed when it is first searched.
    """

    def __init__(self) -> None:
        self._read: dict[str, _AnswerPlaces] = {}

    def find_place(self, value: JsonValue, argument: Slice, answered: Sequence[AnsweredCall]) -> str | None:
        """Return the place that a value comes from, as ``step.field``; None if no response has it.

        The latest response that the argument depends on and that holds the value wins. Among several fields of it, the
        one that the argument's expression names last is preferred.
        """
        field_names = _list_field_names(argument)[1:]
        for step, tool, result in reversed(answered):
            if tool in argument.tools and result.status == "ok":
                places = self._get_places(result.response).find_places(value)
                if places:
                    preferred = [place for place in places if field_names and place.endswith(field_names[-1])]
                    return f"{step}.{(preferred or places)[0]}".rstrip(".")
        return None

    def _get_places(self, response: str) -> "_AnswerPlaces":
        """Return the indexed places of a response, parsed on first use."""
        if response not in self._read:
            self._read[response] = _AnswerPlaces(response)
        return self._read[response]


class _AnswerPlaces:
    """Places of all values in one response; the response itself has the empty place."""

    def __init__(self, response: str) -> None:
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._truths: defaultdict[bool, list[str]] = defaultdict(list)
        self._whole: list[tuple[str, JsonValue]] = []
        pending: list[tuple[str, JsonValue]] = [("", read_value(response))]
        # Depth-first, in the order of the document, and bounded: a huge response must not hold up the run.
        for _ in range(_LEAVES):
            if not pending:
                return
            place, item_value = pending.pop()
            if isinstance(item_value, dict):
                self._whole.append((place, item_value))
                pending += [(f"{place}.{name}" if place else name, item) for name, item in reversed(item_value.items())]
            elif isinstance(item_value, list):
                self._whole.append((place, item_value))
                pending += [(f"{place}[{index}]", item) for index, item in reversed(list(enumerate(item_value)))]
            elif item_value is not None:
                self._texts[str(item_value)].append(place)
                # Indexed as text as well: an argument may be the text "True".
                if isinstance(item_value, bool):
                    self._truths[item_value].append(place)

    def find_places(self, value: JsonValue) -> Sequence[str]:
        """Return the places of a value; a number and the same number as text are equal here."""
        if isinstance(value, bool):
            return self._truths.get(value, ())
        if isinstance(value, (dict, list)):
            return [place for place, there in self._whole if there == value]
        return self._texts.get(str(value), ())
