"""What answers of tools look like, learnt into their documents in Neo4j."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from domain.tool import ToolDoc, ToolId
from graph.answer_shapes import with_answers
from graph.backends import cypher
from graph.backends.bolt import Transaction
from graph.backends.neo4j_documents import Properties, document
from graph.backends.neo4j_work import Neo4jWork, send
from graph.shapes import Shape

_LEARN: Final = """
UNWIND $rows AS row
MATCH (t:Tool {id: row.id})
SET t.learnt_response = row.learnt, t.link_digest = coalesce(t.link_digest, ''), t.link_pending = true
"""


class Neo4jAnswers(Neo4jWork):
    """The part of a ``GraphStore`` that learns from answers. Before anything is written the nodes are locked and read again: nothing is lost."""

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[Shape]]) -> set[ToolId]:
        tools = sorted(seen)
        found = await self._by_chunks(cypher.DOCUMENTS, tools)
        if not _changed((row[0] for row in found), seen):
            return set()  # as after nearly every run: one read, which locks nothing

        async def work(transaction: Transaction) -> set[ToolId]:
            await (await transaction.run(cypher.LOCK_TOOLS, {"rows": tools})).consume()
            found = await (await transaction.run(cypher.DOCUMENTS, {"values": tools})).values()
            changed = _changed((properties for (properties,) in found), seen)
            rows = [{"id": one.id, "learnt": one.learnt_response} for one in changed]
            await send(transaction, _LEARN, rows)
            return {one.id for one in changed}

        return await self._connection.write(work)


def _changed(found: Iterable[Properties], seen: Mapping[ToolId, Sequence[Shape]]) -> list[ToolDoc]:
    """The documents, among these nodes' properties, that the answers add something to, with what they add."""
    known = (document(properties) for properties in found)
    return [new for old in known if (new := with_answers(old, seen[old.id])) is not old]
