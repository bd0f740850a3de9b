"""Find the origins of a call's arguments: an earlier response, words of the request, a file or a value of the plan."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pydantic.types import JsonValue

from agent.files.file_origins import FileOrigins
from agent.plans.planned_arguments import PLAN_REFERENCE
from agent.text import clean_text
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.provenance import Slice
from domain.tool import ToolId
from graph.lenient_json import read_value

ANSWERED_REFERENCE = "answered when asked"
"""Reference in the binding of a value that the user gave in answer to a question."""
EarlierCall = tuple[int, ToolId, StepResult]
"""A call that has ended: its step number, tool and result."""

_NO_FILES = FileOrigins()
_MAX_VALUES = 20_000
"""Maximum number of values that are indexed in one response."""
_MAX_EXPRESSION_LENGTH = 160
_FIELD_ACCESS = re.compile(r"""\[\s*['"]([^'"\]]+)['"]\s*\]|\.get\(\s*['"]([^'"]+)['"]""")


def find_bindings(
    arguments: JsonObject,
    slices: Iterable[Slice],
    earlier_calls: Sequence[EarlierCall],
    request: str,
    answer_index: "AnswerIndex",
    *,
    is_plan: bool,
    files: FileOrigins = _NO_FILES,
) -> Iterator[Binding]:
    """Yield the origin of each argument that the program's text has a value for.

    Arguments:
        arguments: The arguments that are sent.
        slices: For each argument, the part of the program that its value depends on.
        earlier_calls: The calls that ended before this one, in order.
        request: The user's request.
        answer_index: Index of the values in those calls' responses.
        is_plan: The text is a plan that a person approved, so its constants and inputs count as that person's.
        files: The files that the user gave.
    """
    for argument in slices:
        value = arguments.get(argument.parameter)
        if value is None:
            continue  # the argument was left out
        if not argument.is_foreign and is_plan and _is_plan_value(argument):
            yield Binding(parameter=argument.parameter, origin="user", reference=PLAN_REFERENCE)
        elif (reference := answer_index.find_place(value, argument, earlier_calls)) is not None:
            yield Binding(parameter=argument.parameter, origin="step", reference=reference)
        elif (file_variables := _find_file_variables(argument)) and (
            reference := files.find_place(value, file_variables, _list_field_names(argument)[-1])
        ) is not None:
            yield Binding(parameter=argument.parameter, origin="file", reference=reference)
        elif not argument.is_foreign and any(source.kind == "answer" for source in argument.sources):
            yield Binding(parameter=argument.parameter, origin="user", reference=ANSWERED_REFERENCE)
        elif not argument.is_foreign and (words := match_request_words(value, request)):
            yield Binding(parameter=argument.parameter, origin="request", reference=words)
        else:
            yield Binding(
                parameter=argument.parameter,
                origin="computed",
                reference=clean_text(argument.expression, _MAX_EXPRESSION_LENGTH),
            )


def match_request_words(value: JsonValue, request: str) -> str:
    """Return the words of the request that equal a single value, as written there.

    The result is empty if there are none.
    """
    if isinstance(value, (bool, list, dict)) or value is None or not str(value).strip():
        return ""
    match = re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", request, re.IGNORECASE)
    return match[0] if match else ""


def _list_field_names(argument: Slice) -> list[str]:
    """Return the field names in an argument's expression, after an empty one, so that there always is a last item."""
    return ["", *(name for match in _FIELD_ACCESS.finditer(argument.expression) for name in match.groups() if name)]


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
        self._places_by_response: dict[str, _AnswerPlaces] = {}

    def find_place(self, value: JsonValue, argument: Slice, earlier_calls: Sequence[EarlierCall]) -> str | None:
        """Return the place that a value comes from, as ``step.field``; None if no response has it.

        The latest response that the argument depends on and that holds the value wins. Among several fields of it, the
        one that the argument's expression names last is preferred.
        """
        field_names = _list_field_names(argument)[1:]
        for step, tool, result in reversed(earlier_calls):
            if tool in argument.tools and result.status == "ok":
                places = self._get_places(result.response).find_places(value)
                if places:
                    preferred = [place for place in places if field_names and place.endswith(field_names[-1])]
                    return f"{step}.{(preferred or places)[0]}".rstrip(".")
        return None

    def _get_places(self, response: str) -> "_AnswerPlaces":
        """Return the indexed places of a response, parsed on first use."""
        if response not in self._places_by_response:
            self._places_by_response[response] = _AnswerPlaces(response)
        return self._places_by_response[response]


class _AnswerPlaces:
    """Places of all values in one response; the response itself has the empty place."""

    def __init__(self, response: str) -> None:
        self._places_by_text: defaultdict[str, list[str]] = defaultdict(list)
        self._places_by_bool: defaultdict[bool, list[str]] = defaultdict(list)
        self._containers: list[tuple[str, JsonValue]] = []
        pending: list[tuple[str, JsonValue]] = [("", read_value(response))]
        # Depth-first, in the order of the document, and bounded: a huge response must not hold up the run.
        for _ in range(_MAX_VALUES):
            if not pending:
                return
            place, item_value = pending.pop()
            if isinstance(item_value, dict):
                self._containers.append((place, item_value))
                pending += [(f"{place}.{name}" if place else name, item) for name, item in reversed(item_value.items())]
            elif isinstance(item_value, list):
                self._containers.append((place, item_value))
                pending += [(f"{place}[{index}]", item) for index, item in reversed(list(enumerate(item_value)))]
            elif item_value is not None:
                self._places_by_text[str(item_value)].append(place)
                # Indexed as text as well: an argument may be the text "True".
                if isinstance(item_value, bool):
                    self._places_by_bool[item_value].append(place)

    def find_places(self, value: JsonValue) -> Sequence[str]:
        """Return the places of a value; a number and the same number as text are equal here."""
        if isinstance(value, bool):
            return self._places_by_bool.get(value, ())
        if isinstance(value, (dict, list)):
            return [place for place, container in self._containers if container == value]
        return self._places_by_text.get(str(value), ())
