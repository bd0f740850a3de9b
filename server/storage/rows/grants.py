"""What the rows of keys hold beside the key, where it is obtained from an authorization server, and consents that are waited for."""

from datetime import datetime

from sqlalchemy import ForeignKey, LargeBinary
from sqlalchemy.orm import Mapped, mapped_column

from server.storage.columns import Row


class GrantColumns:
    """Of a key that is obtained from an authorization server; a plain one has none of it.

    ``grant``: how it is obtained. ``fresh_until``: when its access token is renewed; None: never. ``lapsed``: why nobody but its owner can
    renew it. ``turn``: changes with each renewal, which one asker makes at a time, until ``turn_until`` at most.
    """

    grant: Mapped[str | None]
    fresh_until: Mapped[datetime | None]
    lapsed: Mapped[str] = mapped_column(default="", server_default="")
    turn: Mapped[str] = mapped_column(default="", server_default="")
    turn_until: Mapped[datetime | None]


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
