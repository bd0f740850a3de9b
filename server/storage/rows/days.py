"""What users have used, day by day."""

from datetime import date

from sqlalchemy import BigInteger, ForeignKey
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Row


class DayRow(Row):
    """One user's day (UTC): runs asked for, and tokens of language models. It stays when runs and conversations are removed."""

    __tablename__ = "user_days"

    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True, index=True)
    runs: Mapped[int]
    prompt_tokens: Mapped[int] = mapped_column(BigInteger)
    completion_tokens: Mapped[int] = mapped_column(BigInteger)
