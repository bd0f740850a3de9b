"""What there is to see beside the conversation, and who sees it."""

from collections.abc import Callable
from dataclasses import dataclass

from ui.client import Client
from ui.screens.history import history
from ui.screens.keys import keys
from ui.screens.library import library
from ui.screens.solutions import choosing_solution
from ui.screens.sources import sources
from ui.screens.templates import choosing_template

AUTHORS = frozenset({"author", "admin"})
"""Roles that may add tools."""


@dataclass(frozen=True)
class View:
    """``needs``: the operation that the server must have for it. ``talk``: it is of an open conversation."""

    label: str
    icon: str
    draw: Callable[[Client, str], None]
    needs: str = ""
    authors: bool = False
    talk: bool = False

    def offered(self, client: Client, conversation: str) -> bool:
        """Whether this user can do something there."""
        if (self.talk and not conversation) or (self.authors and client.account.user.role not in AUTHORS):
            return False
        return not self.needs or client.can(self.needs)


VIEWS = {
    "history": View("History of its runs", "history", history, talk=True),
    "templates": View("Templates", "bookmarks", choosing_template, "/templates"),
    "solutions": View("Solutions", "lightbulb", choosing_solution, "/solutions"),
    "tools": View("Tools", "construction", library, "/tools"),
    "sources": View("Sources", "hub", lambda client, _: sources(client), "/sources", authors=True),
    "keys": View("Keys", "key", lambda client, _: keys(client), "/me/tool-keys"),
}
"""By the name that stands in the address, in the order in which they are offered."""
