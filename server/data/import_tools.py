"""Which tools an import brings, by the API that they are of: how many are new or changed, with the names of the first."""

import asyncio
from collections.abc import Callable, Iterator
from itertools import islice

from pydantic import BaseModel, Field

from domain.tool import ToolDoc, ToolId
from graph.importers.records import SkippedInput
from graph.store import GraphStore
from graph.take_overs import find_sensitive_changes, merge_known
from server.data.import_preview import FIRST

_AT_ONCE = 500
_APIS, _NAMES = 20, 5


class ApiTools(BaseModel):
    """Of one API (a tool set). ``names``: of the first ones that are new or changed."""

    api: str
    new: int = 0
    changed: int = 0
    names: list[str] = Field(default_factory=list[str])


class ImportedTools(BaseModel):
    """``apis``: how many APIs the new and changed ones are of; ``first``: of the first APIs, in their order. ``taken_over``: documents that would
    make other tools of those that are there; ``first_taken_over``: what would change of the first of them.
    """

    new: int = 0
    changed: int = 0
    same: int = 0
    taken_over: int = 0
    apis: int = 0
    first: list[ApiTools] = Field(default_factory=list[ApiTools])
    first_taken_over: list[str] = Field(default_factory=list[str])


class _Counting:
    """Counts one document after another. ``replace``: one that takes a tool over changes it."""

    def __init__(self, *, replace: bool) -> None:
        self.found = ImportedTools()
        self._replace = replace
        self._apis: dict[str, ApiTools] = {}
        self._seen: set[ToolId] = set()

    def add(self, doc: ToolDoc, old: ToolDoc | None) -> None:
        """``old``: the tool of that name that is there. Of two documents of one tool the first counts."""
        if doc.id in self._seen:
            return
        self._seen.add(doc.id)
        changes = find_sensitive_changes(old, doc) if old is not None else ()
        if changes:
            self.found.taken_over += 1
            if len(self.found.first_taken_over) < FIRST:
                self.found.first_taken_over.append(f"{doc.id}: {'; '.join(map(str, changes))}"[:500])
        if old is None:
            self.found.new += 1
            self._of_api(doc).new += 1
        elif changes and not self._replace:
            return
        elif not changes and merge_known(doc, old, is_different=False) == old:
            self.found.same += 1
        else:
            self.found.changed += 1
            self._of_api(doc).changed += 1

    def _of_api(self, doc: ToolDoc) -> ApiTools:
        if (one := self._apis.get(doc.toolset)) is None:
            one = self._apis[doc.toolset] = ApiTools(api=doc.toolset[:200])
            self.found.apis += 1
            if len(self.found.first) < _APIS:
                self.found.first.append(one)
        if len(one.names) < _NAMES:
            one.names.append(doc.api[:200])
        return one


async def imported_tools(
    documents: Iterator[ToolDoc | SkippedInput],
    graph: GraphStore,
    tell: Callable[[int], None],
    *,
    replace: bool = False,
) -> ImportedTools:
    """Documents held against what a store has, before they come. ``tell`` is told how many were. ``replace``: those that take over come, too."""
    counting, done = _Counting(replace=replace), 0
    while docs := await asyncio.to_thread(
        lambda: [one for one in islice(documents, _AT_ONCE) if isinstance(one, ToolDoc)]
    ):
        there = await graph.get_tools([doc.id for doc in docs])
        for doc in docs:
            counting.add(doc, there.get(doc.id))
        done += len(docs)
        tell(done)
    return counting.found


async def added_tools(graph: GraphStore, before: frozenset[ToolId]) -> ImportedTools:
    """Those of a store that were not there ``before``."""
    counting = _Counting(replace=False)
    async for doc in graph.stream_documents():
        if doc.id not in before:
            counting.add(doc, None)
    return counting.found
