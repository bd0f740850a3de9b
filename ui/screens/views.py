"""What there is to see beside the conversation, and who sees it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import streamlit as st

from ui.client import Client
from ui.language import message, say
from ui.screens.account import account
from ui.screens.accounts import all_accounts
from ui.screens.audit import audit_log
from ui.screens.data import data
from ui.screens.embeddings import all_embeddings
from ui.screens.explorer import explorer
from ui.screens.history import history
from ui.screens.kept import kept
from ui.screens.library import library
from ui.screens.models import all_models
from ui.screens.shared import shared
from ui.screens.sources import sources
from ui.screens.usage import all_usage

LIBRARY, ADMINISTRATION = message("Library"), message("Administration")
GROUPS = (LIBRARY, ADMINISTRATION)
"""Under which views are listed, in their order; those of no group stand beside the conversation."""


@dataclass(frozen=True)
class View:
    """``needs``: the operation that the server must have for it. ``group``: one of ``GROUPS``. ``admins``: it is for administrators.
    ``part_of``: the view that it is a part of and is reached by, while its own address leads there. ``places``: what else
    stands in the address of who chooses it.
    """

    label: str
    icon: str
    content: Callable[[Client, str], None]
    needs: str = ""
    group: str = ""
    admins: bool = False
    part_of: str = ""
    places: Mapping[str, str] = field(default_factory=dict[str, str])

    def offered(self, client: Client) -> bool:
        """Whether this user can do something there."""
        if self.part_of or not self._may(client):
            return False
        return not self.needs or client.can(self.needs)

    def draw(self, client: Client, conversation: str) -> None:
        """What there is to see; for whom it is not, who comes by its address, a sentence that says so."""
        if self._may(client):
            self.content(client, conversation)
            return
        title = say(self.label)
        st.title(title)
        st.info(say("{page} is for administrators only. Where you need something there, ask one of them.", page=title))

    def _may(self, client: Client) -> bool:
        return not self.admins or client.account.user.role == "admin"


VIEWS = {
    "history": View(message("History"), "history", history, "/runs", places={"of": "all"}),
    "account": View(message("Account"), "account_circle", lambda client, _: account(client)),
    "kept": View(message("Templates and solutions"), "bookmarks", kept, "/templates", LIBRARY),
    "templates": View(message("Templates"), "bookmarks", partial(kept, kind="template"), part_of="kept"),
    "solutions": View(message("Solutions"), "lightbulb", partial(kept, kind="solution"), part_of="kept"),
    "tools": View(message("Tools"), "construction", library, "/tools", LIBRARY),
    "graph": View(message("Tool graph"), "graph_3", explorer, "/graph", LIBRARY),
    "sources": View(message("Sources"), "hub", lambda client, _: sources(client), "/sources", LIBRARY),
    "shared": View(message("A shared answer"), "share", shared, part_of="shared"),
    "keys": View(message("Keys"), "key", lambda client, _: account(client, "keys"), part_of="account"),
    "leave": View(message("Permissions"), "rule", lambda client, _: account(client, "permissions"), part_of="account"),
    "accounts": View(
        message("Accounts"), "group", lambda client, _: all_accounts(client), "/users", ADMINISTRATION, admins=True
    ),
    "models": View(
        message("Models"), "smart_toy", lambda client, _: all_models(client), "/models", ADMINISTRATION, admins=True
    ),
    "embeddings": View(
        message("Embeddings"),
        "scatter_plot",
        lambda client, _: all_embeddings(client),
        "/embeddings",
        ADMINISTRATION,
        admins=True,
    ),
    "data": View(
        message("Data"), "database", lambda client, _: data(client), "/data/statistics", ADMINISTRATION, admins=True
    ),
    "usage": View(
        message("Usage"), "monitoring", lambda client, _: all_usage(client), "/usage", ADMINISTRATION, admins=True
    ),
    "audit": View(
        message("Audit log"), "receipt_long", lambda client, _: audit_log(client), "/audit", ADMINISTRATION, admins=True
    ),
}
"""By the name that stands in the address, in the order in which they are offered."""
