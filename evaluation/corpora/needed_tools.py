"""Benchmarks that label a request with the calls that serve it, and which tools of a store these labels mean."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from domain.tool import ToolDoc, ToolId, tool_id
from evaluation.api_keys import Key, key_of
from evaluation.corpora.corpus import read_as
from evaluation.offer_requests import OfferRequest
from evaluation.queries import query_of
from graph.importers.records import Record, as_list, as_object, text

Form = Literal["restbench", "graphqlrestbench", "nestful", "playground", "queries_dev"]

_RESULT = "var_result"
"""NESTFUL: not a call, but the result of the calls before it."""
_GROUPS = {1: "one tool", 2: "two tools", 3: "three tools"}
_FUNCTION = re.compile(r"\b((?:GET|PUT|POST|DELETE|PATCH)_\w*)\s*\(")
_OTHER = re.compile(r"[^a-z0-9]+")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class Case:
    """A request with the names that its label calls, in order."""

    id: str
    query: str
    names: tuple[str, ...]
    group: str = ""
    """Empty: grouped by the number of tools."""
    left_out: str = ""
    """Why the request has no usable label; empty if it has one."""
    certain: bool = False
    """The names are ids; an id without a document counts as a tool that can only be missed."""


@dataclass(slots=True)
class Labels:
    """The requests whose tools are known."""

    requests: list[OfferRequest] = field(default_factory=list[OfferRequest])
    unmatched: dict[str, int] = field(default_factory=dict[str, int])
    """Names that mean no tool or several, with the number of requests that use them."""
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """Number of requests left out, by reason."""


class CalledNames:
    """Tools by the names that a label may use: id, API, function, or method and route, as written or joined.

    ``GET /tracks/{id}`` and ``GET_tracks__id_`` are one name. A route may leave out what all routes of an address begin with (``/v1``), and
    rename its placeholders where that is unambiguous.
    """

    def __init__(self, documents: Iterable[ToolDoc]) -> None:
        known = list(documents)
        self._named: dict[str, set[ToolId]] = {}
        self._copies: dict[Key, set[ToolId]] = {}
        self._routes: dict[str, set[ToolId]] = {}
        shared = _shared_beginnings(known)
        for document in known:
            for name in {document.id, document.api, document.function}:
                self._named.setdefault(name, set()).add(document.id)
            self._copies.setdefault(key_of(document.id), set()).add(document.id)
            steps = _steps(document)
            for start in range(min(len(steps) - 1, shared[document.address]) + 1):
                route = f"{document.method} {'/'.join(steps[start:])}"
                for name in {_joined(route), _nameless(route)}:
                    self._routes.setdefault(name, set()).add(document.id)

    def find(self, name: str) -> set[ToolId]:
        """Return the tools that a name may mean.

        For an id without a document it is the first copy in another category or spelling.
        """
        if name in self._named:
            return self._named[name]
        if name.count("/") == 2 and (copies := self._copies.get(key_of(ToolId(name)))):
            return {min(copies)}
        return self._routes.get(_joined(name)) or self._routes.get(_nameless(name), set())


def _shared_beginnings(documents: Iterable[ToolDoc]) -> dict[str, int]:
    """Return for each address how many path segments all its routes begin with."""
    routes: dict[str, list[list[str]]] = {}
    for document in documents:
        routes.setdefault(document.address, []).append(_steps(document))
    return {
        address: sum(1 for _ in takewhile(lambda step: len(set(step)) == 1, zip(*steps, strict=False)))
        for address, steps in routes.items()
    }


def _steps(document: ToolDoc) -> list[str]:
    return urlsplit(document.url).path.strip("/").split("/")


def _joined(name: str) -> str:
    return _OTHER.sub("_", name.lower()).strip("_")


def _nameless(route: str) -> str:
    """Return a route without its placeholders' names."""
    return "/".join(_joined(part) for part in _PLACEHOLDER.sub("", route).replace(" /", " ").split("/"))


def labels(cases: Iterable[Case], names: CalledNames) -> Labels:
    """Resolve the names of each request to the ids of its tools, each once, in the order of the calls."""
    found = Labels()
    for case in cases:
        tools = {name: names.find(name) for name in case.names}
        unclear = [name for name, meant in tools.items() if len(meant) != 1]
        for name in unclear:
            found.unmatched[name] = found.unmatched.get(name, 0) + 1
        if reason := _left_out(case, unclear):
            found.left_out[reason] = found.left_out.get(reason, 0) + 1
            continue
        needed = tuple(dict.fromkeys(min(meant, default=ToolId(name)) for name, meant in tools.items()))
        group = case.group or _GROUPS.get(len(needed), "four or more tools")
        found.requests.append(OfferRequest(id=case.id, query=case.query, relevant=needed, group=group))
    return found


def _left_out(case: Case, unclear: Sequence[str]) -> str:
    """Return why a request is left out; empty if it is not."""
    if case.left_out or not case.names:
        return case.left_out or "no recorded call"
    return "a name without one tool" if unclear and not case.certain else ""


def read_cases(form: Form, paths: Sequence[Path], part: str = "") -> Iterator[Case]:
    """Yield the requests of a benchmark's files.

    ``part`` selects one ``domain`` of files that hold several.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line is no such record.
    """
    for path in paths:
        name = path.name.split(".")[0]
        for number, record in enumerate(read_as(path, lambda record: record), 1):
            if not part or record.get("domain") == part:
                yield _FORMS[form](record, name, f"{name}-{number}")


def _restbench(record: Record, file: str, name: str) -> Case:
    del file
    called = tuple(str(one) for one in as_list(record.get("solution"), "'solution'"))
    return Case(name, text(record, "query"), called)


def _graphqlrestbench(record: Record, file: str, name: str) -> Case:
    """Parse a row of GraphQLRestBench; some gold programs are not valid Python, so calls are found by their names."""
    called = tuple(dict.fromkeys(_FUNCTION.findall(text(record, "output"))))
    return Case(name, text(record, "utterance"), called, file)


def _nestful(record: Record, file: str, name: str) -> Case:
    del file
    calls = [as_object(call, "a call") for call in as_list(record.get("output"), "'output'")]
    called = tuple(text(call, "name") for call in calls if call.get("name") != _RESULT)
    return Case(name, text(record, "input"), called)


def _playground(record: Record, file: str, name: str) -> Case:
    """Parse a request of the playground with the operations of its recorded solution.

    Requests within a conversation are left out: they say too little by themselves.
    """
    calls = [as_object(call, "a call") for call in as_list(record.get("calls"), "'calls'")]
    reason = "asked within a conversation" if record.get("before") or record.get("turns") else ""
    reason = reason or ("cannot be answered" if record.get("answerable") is False else "")
    return Case(
        str(record.get("id") or name),
        "" if record.get("turns") else text(record, "request"),
        tuple(text(c, "operation") for c in calls),
        file,
        reason,
    )


def _queries_dev(record: Record, file: str, name: str) -> Case:
    del file
    query = query_of(record)
    apis = [as_object(item, "an item of 'relevant'") for item in as_list(record.get("relevant"), "'relevant'")]
    tools = tuple(tool_id(text(api, "category"), text(api, "tool"), text(api, "api")) for api in apis)
    return Case(name, query.query, tools, query.group, certain=True)


_FORMS: dict[Form, Callable[[Record, str, str], Case]] = {
    "restbench": _restbench,
    "graphqlrestbench": _graphqlrestbench,
    "nestful": _nestful,
    "playground": _playground,
    "queries_dev": _queries_dev,
}
