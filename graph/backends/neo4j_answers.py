"""What answers of tools look like, learnt into their documents in Neo4j."""

from collections.abc import Mapping, Sequence
from typing import Final

from domain.tool import ToolId
from graph.answer_shapes import with_answers
from graph.backends import cypher
from graph.backends.bolt import Transaction
from graph.backends.neo4j_documents import document
from graph.backends.neo4j_work import Neo4jWork, send
from graph.shapes import Shape

_LEARN: Final = """
UNWIND $rows AS row
MATCH (t:Tool {id: row.id})
SET t.learnt_response = row.learnt, t.link_digest = coalesce(t.link_digest, ''), t.link_pending = true
"""


class Neo4jAnswers(Neo4jWork):
    """The part of a ``GraphStore`` that learns from answers. The nodes are locked before they are read: nothing is lost."""

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[Shape]]) -> set[ToolId]:
        tools = sorted(seen)

        async def work(transaction: Transaction) -> set[ToolId]:
            await (await transaction.run(cypher.LOCK_TOOLS, {"rows": tools})).consume()
            found = await (await transaction.run(cypher.DOCUMENTS, {"values": tools})).values()
            known = [document(properties) for (properties,) in found]
            changed = [new for old in known if (new := with_answers(old, seen[old.id])) is not old]
            rows = [{"id": one.id, "learnt": one.learnt_response} for one in changed]
            await send(transaction, _LEARN, rows)
            return {one.id for one in changed}

        return await self._connection.write(work) if tools else set()
