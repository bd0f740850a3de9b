"""Origins of the arguments of a program's calls: an earlier answer, words of the request, a value of the plan."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from pydantic.types import JsonValue

from agent.files.origins import FileOrigins
from agent.plans.arguments import FIXED
from agent.text import clean
from domain.model import JsonObject
from domain.plan import Binding, StepResult
from domain.slice import Slice
from domain.tool import ToolId
from graph.lenient_json import read_value

ANSWERED = "answered when asked"
Answered = tuple[int, ToolId, StepResult]
"""A call that has ended: step number, tool and result."""

_NO_FILES = FileOrigins()
_LEAVES = 20_000
"""Maximum number of values that are visited in one answer."""
_EXPRESSION = 160
_KEY = re.compile(r"""\[\s*['"]([^'"\]]+)['"]\s*\]|\.get\(\s*['"]([^'"]+)['"]""")


def bindings(
    arguments: JsonObject,
    slices: Iterable[Slice],
    answered: Sequence[Answered],
    request: str,
    answers: "Answers",
    *,
    plan: bool,
    files: FileOrigins = _NO_FILES,
) -> Iterator[Binding]:
    """Yield the origin of each argument that the program's text has a value for.

    ``answered``: the calls before this one, in order. ``answers``: an index of what those hold. ``plan``: the text is a plan approved by a
    person, so its constants and inputs are that person's. ``files``: the files that the user gave.
    """
    for one in slices:
        value = arguments.get(one.parameter)
        if value is None:
            continue  # it was left out
        if not one.foreign and plan and _plain(one):
            yield Binding(parameter=one.parameter, origin="user", reference=FIXED)
        elif (place := answers.place(value, one, answered)) is not None:
            yield Binding(parameter=one.parameter, origin="step", reference=place)
        elif (given := _files_of(one)) and (place := files.place(value, given, _named(one)[-1])) is not None:
            yield Binding(parameter=one.parameter, origin="file", reference=place)
        elif not one.foreign and any(source.kind == "answer" for source in one.sources):
            yield Binding(parameter=one.parameter, origin="user", reference=ANSWERED)
        elif not one.foreign and (words := words_of(value, request)):
            yield Binding(parameter=one.parameter, origin="request", reference=words)
        else:
            yield Binding(parameter=one.parameter, origin="computed", reference=clean(one.expression, _EXPRESSION))


def words_of(value: JsonValue, request: str) -> str:
    """Return the words of the request that equal a value, as they are written there; empty if there are none."""
    if isinstance(value, (bool, list, dict)) or value is None or not str(value).strip():
        return ""
    found = re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", request, re.IGNORECASE)
    return found[0] if found else ""


def _named(one: Slice) -> list[str]:
    """Return the field names in an argument's expression, after an empty one that makes the last item always exist."""
    return ["", *(name for found in _KEY.finditer(one.expression) for name in found.groups() if name)]


def _files_of(one: Slice) -> frozenset[str]:
    """Return the variables of the files that went into an argument."""
    return frozenset(source.name for source in one.sources if source.kind == "file")


def _plain(one: Slice) -> bool:
    """Return True if an argument is a value of the plan as it is: a constant, or one of the plan's inputs."""
    return all(source.kind in ("constant", "said", "given") for source in one.sources)


class Answers:
    """Index of the values in the answers of one run; each answer is parsed once, when it is first searched."""

    def __init__(self) -> None:
        self._read: dict[str, _Read] = {}

    def place(self, value: JsonValue, one: Slice, answered: Sequence[Answered]) -> str | None:
        """Return where a value comes from, as ``step.field``, or None.

        The latest answer that went into the argument and holds the value wins; among several fields, the one that the expression names.
        """
        named = _named(one)[1:]
        for step, tool, result in reversed(answered):
            if tool in one.tools and result.status == "ok":
                places = self._of(result.response).places(value)
                if places:
                    wanted = [place for place in places if named and place.endswith(named[-1])]
                    return f"{step}.{(wanted or places)[0]}".rstrip(".")
        return None

    def _of(self, response: str) -> "_Read":
        """Return the indexed places of a response, parsed on first use."""
        if response not in self._read:
            self._read[response] = _Read(response)
        return self._read[response]


class _Read:
    """Places of all values in one answer; the whole answer has the empty place."""

    def __init__(self, response: str) -> None:
        self._texts: defaultdict[str, list[str]] = defaultdict(list)
        self._truths: defaultdict[bool, list[str]] = defaultdict(list)
        self._whole: list[tuple[str, JsonValue]] = []
        left: list[tuple[str, JsonValue]] = [("", read_value(response))]
        # Bounded and depth-first in document order, so that a huge answer costs a fixed amount of time.
        for _ in range(_LEAVES):
            if not left:
                return
            place, there = left.pop()
            if isinstance(there, dict):
                self._whole.append((place, there))
                left += [(f"{place}.{name}" if place else name, item) for name, item in reversed(there.items())]
            elif isinstance(there, list):
                self._whole.append((place, there))
                left += [(f"{place}[{index}]", item) for index, item in reversed(list(enumerate(there)))]
            elif there is not None:
                self._texts[str(there)].append(place)
                # True is also text here: an argument may be the text of a truth value.
                if isinstance(there, bool):
                    self._truths[there].append(place)

    def places(self, value: JsonValue) -> Sequence[str]:
        """Return the places of a value; a number and the same number as text are equal here."""
        if isinstance(value, bool):
            return self._truths.get(value, ())
        if isinstance(value, (dict, list)):
            return [place for place, there in self._whole if there == value]
        return self._texts.get(str(value), ())
