"""Benchmarks that label a request with the calls that serve it, and which tools of a store these labels mean."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from domain.tool import ToolDoc, ToolId, make_tool_id
from evaluation.api_names import ApiName, get_api_name
from evaluation.corpora.corpus import read_parsed_lines
from evaluation.offer_requests import OfferRequest
from evaluation.queries import parse_query
from graph.importers.records import Record, ensure_list, ensure_object, require_text

Form = Literal["restbench", "graphqlrestbench", "nestful", "playground", "queries_dev"]

_RESULT = "var_result"
"""NESTFUL: not a call, but the result of the calls before it."""
_GROUPS = {1: "one tool", 2: "two tools", 3: "three tools"}
_FUNCTION = re.compile(r"\b((?:GET|PUT|POST|DELETE|PATCH)_\w*)\s*\(")
_OTHER = re.compile(r"[^a-z0-9]+")
_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


@dataclass(frozen=True, slots=True)
class BenchmarkRequest:
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
class ResolvedLabels:
    """The requests whose tools are known."""

    requests: list[OfferRequest] = field(default_factory=list[OfferRequest])
    unmatched: dict[str, int] = field(default_factory=dict[str, int])
    """Names that mean no tool or several, with the number of requests that use them."""
    left_out: dict[str, int] = field(default_factory=dict[str, int])
    """Number of requests left out, by reason."""


class ToolNameIndex:
    """Tools by the names that a label may use: id, API, function, or method and route, as written or joined.

    ``GET /tracks/{id}`` and ``GET_tracks__id_`` are one name. A route may leave out what all routes of an address begin with (``/v1``), and
    rename its placeholders where that is unambiguous.
    """

    def __init__(self, documents: Iterable[ToolDoc]) -> None:
        all_documents = list(documents)
        self._by_name: dict[str, set[ToolId]] = {}
        self._copies: dict[ApiName, set[ToolId]] = {}
        self._routes: dict[str, set[ToolId]] = {}
        shared = _count_shared_steps(all_documents)
        for document in all_documents:
            for name in {document.id, document.api, document.function}:
                self._by_name.setdefault(name, set()).add(document.id)
            self._copies.setdefault(get_api_name(document.id), set()).add(document.id)
            steps = _split_route(document)
            for start in range(min(len(steps) - 1, shared[document.address]) + 1):
                route = f"{document.method} {'/'.join(steps[start:])}"
                for name in {_normalize_name(route), _normalize_route(route)}:
                    self._routes.setdefault(name, set()).add(document.id)

    def find(self, name: str) -> set[ToolId]:
        """Return the tools that a name may mean.

        For an id without a document it is the first copy in another category or spelling.
        """
        if name in self._by_name:
            return self._by_name[name]
        if name.count("/") == 2 and (copies := self._copies.get(get_api_name(ToolId(name)))):
            return {min(copies)}
        return self._routes.get(_normalize_name(name)) or self._routes.get(_normalize_route(name), set())


def _count_shared_steps(documents: Iterable[ToolDoc]) -> dict[str, int]:
    """Return for each address how many path segments all its routes begin with."""
    routes: dict[str, list[list[str]]] = {}
    for document in documents:
        routes.setdefault(document.address, []).append(_split_route(document))
    return {
        address: sum(1 for _ in takewhile(lambda step: len(set(step)) == 1, zip(*steps, strict=False)))
        for address, steps in routes.items()
    }


def _split_route(document: ToolDoc) -> list[str]:
    return urlsplit(document.url).path.strip("/").split("/")


def _normalize_name(name: str) -> str:
    return _OTHER.sub("_", name.lower()).strip("_")


def _normalize_route(route: str) -> str:
    """Return a route without its placeholders' names."""
    return "/".join(_normalize_name(part) for part in _PLACEHOLDER.sub("", route).replace(" /", " ").split("/"))


def resolve_labels(cases: Iterable[BenchmarkRequest], names: ToolNameIndex) -> ResolvedLabels:
    """Resolve the names of each request to the ids of its tools, each once, in the order of the calls."""
    result = ResolvedLabels()
    for case in cases:
        tools = {name: names.find(name) for name in case.names}
        unclear = [name for name, meant in tools.items() if len(meant) != 1]
        for name in unclear:
            result.unmatched[name] = result.unmatched.get(name, 0) + 1
        if reason := _explain_omission(case, unclear):
            result.left_out[reason] = result.left_out.get(reason, 0) + 1
            continue
        needed = tuple(dict.fromkeys(min(meant, default=ToolId(name)) for name, meant in tools.items()))
        group = case.group or _GROUPS.get(len(needed), "four or more tools")
        result.requests.append(OfferRequest(id=case.id, query=case.query, relevant=needed, group=group))
    return result


def _explain_omission(case: BenchmarkRequest, unclear: Sequence[str]) -> str:
    """Return why a request is left out; empty if it is not."""
    if case.left_out or not case.names:
        return case.left_out or "no recorded call"
    return "a name without one tool" if unclear and not case.certain else ""


def read_benchmark_requests(form: Form, paths: Sequence[Path], part: str = "") -> Iterator[BenchmarkRequest]:
    """Yield the requests of a benchmark's files.

    ``part`` selects one ``domain`` of files that hold several.

    Raises:
        UsageError: there is no such file.
        BrokenInputError: a line is no such record.
    """
    for path in paths:
        name = path.name.split(".")[0]
        for number, record in enumerate(read_parsed_lines(path, lambda record: record), 1):
            if not part or record.get("domain") == part:
                yield _FORMS[form](record, name, f"{name}-{number}")


def _parse_restbench(record: Record, file: str, name: str) -> BenchmarkRequest:
    del file
    called = tuple(str(one) for one in ensure_list(record.get("solution"), "'solution'"))
    return BenchmarkRequest(name, require_text(record, "query"), called)


def _parse_graphqlrestbench(record: Record, file: str, name: str) -> BenchmarkRequest:
    """Parse a row of GraphQLRestBench; some gold programs are not valid Python, so calls are found by their names."""
    called = tuple(dict.fromkeys(_FUNCTION.findall(require_text(record, "output"))))
    return BenchmarkRequest(name, require_text(record, "utterance"), called, file)


def _parse_nestful(record: Record, file: str, name: str) -> BenchmarkRequest:
    del file
    calls = [ensure_object(call, "a call") for call in ensure_list(record.get("output"), "'output'")]
    called = tuple(require_text(call, "name") for call in calls if call.get("name") != _RESULT)
    return BenchmarkRequest(name, require_text(record, "input"), called)


def _parse_playground(record: Record, file: str, name: str) -> BenchmarkRequest:
    """Parse a request of the playground with the operations of its recorded solution.

    Requests within a conversation are left out: they say too little by themselves.
    """
    calls = [ensure_object(call, "a call") for call in ensure_list(record.get("calls"), "'calls'")]
    reason = "asked within a conversation" if record.get("before") or record.get("turns") else ""
    reason = reason or ("cannot be answered" if record.get("answerable") is False else "")
    return BenchmarkRequest(
        str(record.get("id") or name),
        "" if record.get("turns") else require_text(record, "request"),
        tuple(require_text(c, "operation") for c in calls),
        file,
        reason,
    )


def _parse_queries_dev(record: Record, file: str, name: str) -> BenchmarkRequest:
    del file
    query = parse_query(record)
    apis = [ensure_object(item, "an item of 'relevant'") for item in ensure_list(record.get("relevant"), "'relevant'")]
    tools = tuple(
        make_tool_id(require_text(api, "category"), require_text(api, "tool"), require_text(api, "api")) for api in apis
    )
    return BenchmarkRequest(name, query.query, tools, query.group, certain=True)


_FORMS: dict[Form, Callable[[Record, str, str], BenchmarkRequest]] = {
    "restbench": _parse_restbench,
    "graphqlrestbench": _parse_graphqlrestbench,
    "nestful": _parse_nestful,
    "playground": _parse_playground,
    "queries_dev": _parse_queries_dev,
}
