"""Users, conversations and runs that tests need and are not about."""

from server.storage.accounts import Role, User
from server.storage.conversations import Conversation
from server.storage.runs import Run, RunChoices
from server.storage.storage import Storage

CHOICES = RunChoices(planner="dfs", policy="offline")


async def user(storage: Storage, name: str = "ada", role: Role = "user") -> User:
    return await storage.users.add(name, "a hash", role)


async def run(storage: Storage, of: User, request: str = "what is the weather") -> tuple[Run, Conversation]:
    conversation = await storage.conversations.add(of.id)
    return await storage.runs.add(of.id, conversation.id, request, CHOICES), conversation
