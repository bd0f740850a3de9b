"""What answers of tools look like, learnt into their documents in memory."""

from collections.abc import Mapping, Sequence

from domain.tool import ToolDoc, ToolId
from graph.answer_shapes import with_answers
from graph.backends.memory_links import MemoryLinks
from graph.shapes import Shape


class MemoryAnswers(MemoryLinks):
    """The part of a ``GraphStore`` that learns from answers."""

    _documents: dict[ToolId, ToolDoc]

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[Shape]]) -> set[ToolId]:
        known = [self._documents[tool] for tool in seen if tool in self._documents]
        changed = [new for old in known if (new := with_answers(old, seen[old.id])) is not old]
        self._documents.update({one.id: one for one in changed})
        await self.expect_links({}, (one.id for one in changed))
        return {one.id for one in changed}
