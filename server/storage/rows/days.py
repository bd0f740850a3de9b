"""What users have used, day by day."""

from datetime import date

from sqlalchemy import BigInteger, Double, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Row


class DayRow(Row):
    """One user's day (UTC): runs asked for, and calls and tokens of language models. It stays when runs and conversations are removed.

    ``cost``: of the tokens, as they were taken; None: no model that was asked had a price.
    """

    __tablename__ = "user_days"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True, index=True)
    runs: Mapped[int]
    prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    completion_tokens: Mapped[int] = mapped_column(BigInteger)
    model_calls: Mapped[int] = mapped_column(default=0, server_default="0")
    cost: Mapped[float | None] = mapped_column(Double[float]())


class LimitRow(Row):
    """What one user may use in a day. None: as for everybody; 0: no limit."""

    __tablename__ = "user_limits"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    runs: Mapped[int | None]
    tokens: Mapped[int | None] = mapped_column(BigInteger)
    cost: Mapped[float | None] = mapped_column(Double[float]())
