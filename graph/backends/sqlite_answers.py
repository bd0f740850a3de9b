"""What answers of tools look like, learnt into their documents in the embedded graph."""

import sqlite3
from collections.abc import Mapping, Sequence

from domain.tool import ToolDoc, ToolId
from graph.answer_shapes import with_answers
from graph.backends import sqlite_links_schema as links
from graph.backends import sqlite_schema as sql
from graph.backends.sqlite_database import SqliteReading, json_list
from graph.shapes import Shape


class SqliteAnswers(SqliteReading):
    """The part of a ``GraphStore`` that learns from answers. Read and written under one lock: nothing is lost."""

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[Shape]]) -> set[ToolId]:
        if not seen:
            return set()
        wanted = json_list(seen)

        def write(connection: sqlite3.Connection) -> set[ToolId]:
            bodies = [body for (body,) in connection.execute(sql.DOCUMENTS, (wanted,))]
            known = [ToolDoc.model_validate_json(body) for body in bodies]
            changed = [new for old in known if (new := with_answers(old, seen[old.id])) is not old]
            rows = ((one.id, one.model_dump_json(exclude_defaults=True)) for one in changed)
            connection.executemany(sql.PUT_DOCUMENT, rows)
            expected = {one.id for one in changed}
            numbers = connection.execute(links.NUMBERS, (json_list(expected),)).fetchall()
            connection.executemany(links.EXPECT_ALSO, ((number,) for _, number in numbers))
            return expected

        return await self._database.write(write)
