"""Removes an account with what is its user's own, in the rows and in the stores beside them, and says what stays."""

from pydantic import BaseModel, Field

from server.services import Services

_REMOVED = (
    "the account with its sessions, tokens and keys",
    "conversations, runs with all their events, files, and links to shared answers",
    "templates",
    "memories and solutions, with their vectors",
    "what was shared of these solutions without an administrator's word, also where others use it",
)
_STAYS = (
    "solutions that an administrator shares: program and patterns, without runs and requests",
    "sources that the account added: administrators have them now",
    "how often tools answered and followed each other, and the form of their answers: counts and names of fields, no requests and no values",
    "recorded calls and data flow of imports: no run of a user adds to them",
    "entries of the audit log, with the account's name",
    "backups, exports and copies that were made before",
)


class AccountRemoval(BaseModel):
    """What became of a removed account."""

    removed: list[str] = Field(default_factory=lambda: [*_REMOVED], description="What is gone for good.")
    stays: list[str] = Field(default_factory=lambda: [*_STAYS], description="What is kept, and in which form.")


async def remove_account(user_id: str, services: Services) -> AccountRemoval:
    """Remove an account and all that is its user's own.

    Raises:
        NotFoundError: there is none. ConflictError: nobody would be left who may administer.
        UnavailableError: memories and solutions are out of reach; nothing was removed, or the message says what is left.
    """
    await services.agents.check_forgetting()  # before the rows go: afterwards nobody knows whose they are
    await services.storage.users.delete(user_id)
    await services.agents.forget(user_id)
    return AccountRemoval()
