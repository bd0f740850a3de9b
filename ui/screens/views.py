"""What there is to see beside the conversation, and who sees it."""

from collections.abc import Callable
from dataclasses import dataclass

from ui.client import Client
from ui.screens.accounts import all_accounts
from ui.screens.audit import audit_log
from ui.screens.history import history
from ui.screens.keys import keys
from ui.screens.leave import leave
from ui.screens.library import library
from ui.screens.solutions import choosing_solution
from ui.screens.sources import sources
from ui.screens.templates import choosing_template
from ui.screens.usage import all_usage


@dataclass(frozen=True)
class View:
    """``needs``: the operation that the server must have for it. ``admins``: it is for administrators; ``talk``: it is of an open conversation."""

    label: str
    icon: str
    draw: Callable[[Client, str], None]
    needs: str = ""
    admins: bool = False
    talk: bool = False

    def offered(self, client: Client, conversation: str) -> bool:
        """Whether this user can do something there."""
        if (self.talk and not conversation) or (self.admins and client.account.user.role != "admin"):
            return False
        return not self.needs or client.can(self.needs)


VIEWS = {
    "history": View("History of its runs", "history", history, talk=True),
    "templates": View("Templates", "bookmarks", choosing_template, "/templates"),
    "solutions": View("Solutions", "lightbulb", choosing_solution, "/solutions"),
    "tools": View("Tools", "construction", library, "/tools"),
    "sources": View("Sources", "hub", lambda client, _: sources(client), "/sources"),
    "keys": View("Keys", "key", lambda client, _: keys(client), "/me/tool-keys"),
    "leave": View("Permissions", "verified_user", lambda client, _: leave(client), "/me/allowed-tools"),
    "accounts": View("Accounts", "group", lambda client, _: all_accounts(client), "/users", admins=True),
    "usage": View("Usage", "monitoring", lambda client, _: all_usage(client), "/usage", admins=True),
    "audit": View("Audit log", "receipt_long", lambda client, _: audit_log(client), "/audit", admins=True),
}
"""By the name that stands in the address, in the order in which they are offered."""
