"""Related changes of several tables, made in one round trip on PostgreSQL."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from sqlalchemy import (
    CTE,
    ColumnElement,
    CursorResult,
    FromClause,
    Insert,
    Result,
    Select,
    Table,
    false,
    insert,
    literal,
    select,
    union_all,
)
from sqlalchemy.orm import Session
from sqlalchemy.sql.dml import UpdateBase

from server.storage.table_base import TableRow


class StatementChain:
    """Changes that are made together; later ones may use the rows that earlier ones return.

    PostgreSQL gets them as one atomic statement, in which each change is a common table expression. All of its
    parts see the tables as they were when it began, so what one part writes reaches another only through the rows
    that it returns. A part that changes rows which another transaction may have locked is joined to an earlier part
    (``UPDATE … FROM``): PostgreSQL does not re-evaluate a subquery after a wait.

    SQLite supports no changes in common table expressions, and has no network to save: there, the statements run one
    after the other in the session's transaction.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._is_single_statement = session.get_bind().dialect.name == "postgresql"
        self._parts: list[CTE] = []

    def add(self, change: UpdateBase) -> FromClause:
        """Add a change and return the rows that it returns, for later changes and for :meth:`fetch`.

        An insertion must give every column that has no default in the table itself: within expressions SQLAlchemy
        adds none.
        """
        if self._is_single_statement:
            part = change.cte(f"part_{len(self._parts)}")  # pyright: ignore[reportUnknownMemberType, reportAttributeAccessIssue, reportUnknownVariableType]
            self._parts.append(part)
            return part
        result = self._session.execute(change, execution_options={"synchronize_session": False})
        return _to_rows(result)

    def fetch(self, query: Select[*tuple[Any, ...]]) -> Result[*tuple[Any, ...]]:
        """Make all changes and return what the query finds in their rows.

        In tables, it finds the state before the changes on PostgreSQL.
        """
        return self._session.execute(query.add_cte(*self._parts))

    def run(self) -> None:
        """Make all changes."""
        if self._parts:
            self.fetch(select(literal(1)))


def insert_for_each(rows: FromClause, table: type[TableRow], values: Mapping[str, Any]) -> Insert:
    """Insert one row for each of ``rows``, from plain values and columns of ``rows``.

    A value that is None or missing takes the table's own default.
    """
    present = {name: value for name, value in values.items() if value is not None}
    columns = cast("Table", table.__table__).c
    selected: list[Any] = [
        value if isinstance(value, ColumnElement) else literal(value, columns[name].type)
        for name, value in present.items()
    ]
    return insert(table).from_select(list(present), select(*selected).select_from(rows), include_defaults=False)


def _to_rows(result: Result[*tuple[Any, ...]]) -> FromClause:
    """Return the rows that a statement returned, as something to select from."""
    names: list[str] = []
    rows: Sequence[Sequence[Any]] = ()
    if not isinstance(result, CursorResult) or result.returns_rows:
        names, rows = list(result.keys()), result.all()
    if not rows:
        return select(*(literal(None).label(name) for name in names or ("nothing",))).where(false()).subquery()
    selects = [select(*(literal(value).label(name) for name, value in zip(names, row, strict=True))) for row in rows]
    return union_all(*selects).subquery()
