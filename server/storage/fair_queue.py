"""Whose run is next: users take turns, however many runs each has asked for."""

from datetime import datetime

from sqlalchemy import ColumnElement, Select, and_, case, func, or_, select, union_all

from server.storage.rows.runs import RunRow


def next_runs(
    worker: str, at: datetime, limit: int, due: ColumnElement[bool], of_one: int | None = None
) -> Select[str]:
    """The ids of runs to be taken up: first of who has the fewest under way, with whatever worker; of one user the oldest first.

    ``due``: which of them are to be taken up now. ``of_one``: how many of one user's runs this worker may have at a time, beside those that are to
    end. What several are taken at once is what they would be one by one. Rows are locked, and those that another transaction has locked are left out.
    """
    columns = select(RunRow.id, RunRow.user_id)
    # In two parts, so that each is read off its index alone.
    either = union_all(columns.where(RunRow.status == "queued", due), columns.where(is_lost(at), due)).subquery(
        "either"
    )
    number = func.row_number().over(partition_by=either.c.user_id, order_by=either.c.id).label("number")
    free = select(either.c.id, either.c.user_id, number).subquery("free")
    mine = case((RunRow.worker == worker, 1), else_=0)
    under_way = (
        select(RunRow.user_id, func.count().label("everywhere"), func.sum(mine).label("here"))
        .where(RunRow.status == "running", RunRow.lease_until >= at)
        .group_by(RunRow.user_id)
        .subquery("under_way")
    )
    order = free.c.number + func.coalesce(under_way.c.everywhere, 0)
    chosen = (
        select(RunRow.id)
        .join(free, free.c.id == RunRow.id)
        .outerjoin(under_way, under_way.c.user_id == RunRow.user_id)
        .where(
            due, or_(RunRow.status == "queued", is_lost(at))
        )  # once more, since it may have been taken while its row was waited for
        .order_by(order, RunRow.id)
        .limit(limit)
        .with_for_update(of=RunRow, skip_locked=True)
    )
    if of_one is not None:
        has_a_place = free.c.number + func.coalesce(under_way.c.here, 0) <= of_one
        chosen = chosen.where(or_(RunRow.cancel_at.is_not(None), has_a_place))
    return chosen


def is_lost(at: datetime) -> ColumnElement[bool]:
    """Running, with a worker that has not renewed its lease."""
    return and_(RunRow.status == "running", or_(RunRow.lease_until.is_(None), RunRow.lease_until < at))
