"""Resolves the function names in trajectories to the documents that they mean, by ToolBench's naming rules.

An ambiguous name is reported as such, never resolved silently.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from domain.tool import ToolDoc, ToolId, make_unresolved_id

FUNCTION_LENGTH = 64
"""Names in trajectories keep their last 64 characters, as ToolBench cut them."""

_OTHER = re.compile(r"[^\u4e00-\u9fa5a-z^0-9_]", re.IGNORECASE)
_RUNS = re.compile(r"__+")
_RESERVED = frozenset({"from", "class", "return", "false", "true", "id", "and"})

ResolutionKind = Literal["document", "elsewhere", "unresolved", "ambiguous"]
"""Kind of a name's resolution. ``elsewhere``: its only document belongs to another tool set than the call named."""


def standardise(text: str) -> str:
    """Return ToolBench's file-name form: lower case, anything else one underscore, ``get_`` before a leading digit.

    Caret and Chinese characters stay, as in its ``standardize``. May be empty (a name in another script).
    """
    plain = _RUNS.sub("_", _OTHER.sub("_", text)).lower().strip("_")
    return f"get_{plain}" if plain[:1].isdigit() else plain


def standardise_api(api: str) -> str:
    """Return the API's half of a function name: :func:`standardise`, and ``is_`` before Python's reserved words."""
    plain = standardise(api)
    return f"is_{plain}" if plain in _RESERVED else plain


def build_function_name(api: str, toolset: str) -> str:
    """Return ToolBench's name of an API in trajectories: ``{api}_for_{toolset}``, standardised, last 64 characters."""
    return f"{standardise_api(api)}_for_{standardise(toolset)}"[-FUNCTION_LENGTH:]


@dataclass(frozen=True, slots=True)
class ResolvedName:
    """Result of resolving a name."""

    id: ToolId
    """Id of the document, or of an unresolved node."""
    how: ResolutionKind

    @property
    def resolved(self) -> bool:
        """True if exactly one document is meant."""
        return self.how in ("document", "elsewhere")


class NameIndex:
    """Documents by function name. ``resolve`` caches its results, because trajectories repeat their names.

    Several documents with one name are told apart by category and tool set, raw or in file-name form. The only document
    of a name is taken even if the call named another tool set (``elsewhere``): catalogues list a function that several
    tool sets share only once.
    """

    def __init__(self, documents: Iterable[ToolDoc] = ()) -> None:
        self._functions: dict[str, list[ToolId]] = {}
        self._recorded: dict[tuple[str, str, str], list[ToolId]] = {}
        self._places: dict[ToolId, tuple[str, str]] = {}
        self._answers: dict[tuple[str, str | None, str | None], ResolvedName] = {}
        for document in documents:
            self.add(document)

    def __len__(self) -> int:
        return len(self._places)

    def add(self, document: ToolDoc) -> None:
        """Add a document; a second one of the same id changes nothing."""
        if document.id in self._places:
            return
        toolset = standardise(document.toolset)
        self._places[document.id] = (document.category, toolset)
        self._functions.setdefault(document.function, []).append(document.id)
        recorded = (document.category, toolset, standardise_api(document.api))
        self._recorded.setdefault(recorded, []).append(document.id)
        self._answers.clear()

    def resolve(self, function: str, category: str | None = None, toolset: str | None = None) -> ResolvedName:
        """Return the document that a call of a trajectory means."""
        key = (function, category, toolset)
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._look_up(function, category, toolset)
        return answer

    def resolve_recorded(self, category: str, toolset: str, api: str) -> ResolvedName:
        """Return the document that a recorded call means. All three parts are given, in file-name or raw form.

        The toolset's slash is an underscore in one form and left out in the other, so the latter is tried last.
        """
        for spelling in (toolset, toolset.replace("/", "")):
            ids = self._recorded.get((category, standardise(spelling), standardise_api(api)), ())
            if ids:
                break
        else:
            name = f"{api}_for_{toolset}"[-FUNCTION_LENGTH:]
            ids = self._narrow(self._functions.get(name, []), category, toolset)
        return _resolve_ids(ids, api, category, toolset)

    def _look_up(self, function: str, category: str | None, toolset: str | None) -> ResolvedName:
        candidates = self._functions.get(function, [])
        fitting = self._narrow(candidates, category, toolset)
        if len(candidates) == 1:
            return ResolvedName(candidates[0], "document" if fitting else "elsewhere")
        return _resolve_ids(fitting or candidates, function, category or "", toolset or "")

    def _narrow(self, ids: list[ToolId], category: str | None, toolset: str | None) -> list[ToolId]:
        """Return the ids that belong to this category and tool set; None matches all."""
        standard_toolset = None if toolset is None else standardise(toolset)
        return [
            tool
            for tool in ids
            if category in (None, self._places[tool][0]) and standard_toolset in (None, self._places[tool][1])
        ]


def _resolve_ids(ids: "list[ToolId] | tuple[ToolId, ...]", function: str, category: str, toolset: str) -> ResolvedName:
    """Return the single document among ``ids``, else the id of an unresolved node."""
    if len(ids) == 1:
        return ResolvedName(ids[0], "document")
    return ResolvedName(make_unresolved_id(function, category, toolset), "ambiguous" if ids else "unresolved")
