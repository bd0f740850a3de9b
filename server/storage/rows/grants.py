"""What the rows of keys hold beside the key, where it is obtained from an authorization server, and consents that are waited for."""

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Row


class KeyConsentRow(Row):
    """Somebody was sent to an authorization server, and is to come back with what ``state_hash`` is the SHA-256 of, once.

    ``shelf``: whose key it will be, a user's or a source's; ``owner_id`` and ``name``: which. ``sealed``: what will be asked for it with.
    """

    __tablename__ = "key_consents"

    state_hash: Mapped[str] = mapped_column(primary_key=True)
    user_id: Mapped[str] = mapped_column(ForeignKey("users.id", ondelete="CASCADE"), index=True)
    shelf: Mapped[str]
    owner_id: Mapped[str] = mapped_column(index=True)
    name: Mapped[str]
    key_version: Mapped[int]
    sealed: Mapped[bytes] = mapped_column(LargeBinary)
    expires_at: Mapped[datetime] = mapped_column(index=True)
