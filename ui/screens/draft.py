"""The plan of a run while it is edited in a visit: each change goes to the server at once, which keeps it and says what is wrong."""

from collections.abc import Callable

import streamlit as st

from domain.model import JsonObject
from domain.plan_document import PlanDocument
from ui.client import Client
from ui.code_editor import Insertion
from ui.plans import DryRun, OpenPlan, PlanProgram, edit, open_plan, write
from ui.problems import ServerError
from ui.screens.step import Change

_LATE = "The plan had changed before this reached it, so it was not done. This is the plan as it stands."


class Draft:
    """``turn`` counts changes of its shape: fields are drawn anew then, and only then. ``insertion``: what was last put in at the text's cursor."""

    def __init__(self, client: Client, run: str) -> None:
        self.client, self.run = client, run
        self.turn = 0
        self.told = ""
        self.insertion = Insertion()
        self.tried: DryRun | None = None
        self.plan: OpenPlan = open_plan(client, run)

    def put(self, turn: int, drawn: PlanDocument, change: Change, *, shape: bool = True) -> None:
        """Keep a change of its steps; told why where the server does not take it.

        ``turn`` and ``drawn``: what was on the page. Where a click comes while the page is drawn, Streamlit calls fields once more
        that nobody touched, also such as are no longer there, whose step may be another one by now.
        """
        if turn != self.turn:
            self.told = _LATE if change(drawn) != drawn else self.told
            return
        document = change(self.plan.steps)
        if document != self.plan.steps:
            self._keep(lambda: edit(self.client, self.run, self.plan.version, document))
            self.turn += shape

    def write(self, *, text: str | None = None, values: JsonObject | None = None) -> None:
        """Keep another text, or other values of its inputs."""
        now = self.plan.program
        new = PlanProgram(
            text=now.text if text is None else text,
            inputs=now.inputs,
            values=now.values if values is None else values,
        )
        if (new.text, new.values) != (now.text, now.values):
            self._keep(lambda: write(self.client, self.run, self.plan.version, new))

    def insert(self, text: str, *, line: bool = False) -> None:
        """Put something into the text, where its cursor is."""
        self.insertion = Insertion(self.insertion.number + 1, text, line)

    def again(self) -> None:
        """As the server has it."""
        self.turn += 1
        try:
            self.plan = open_plan(self.client, self.run)
        except ServerError as error:
            self.told = str(error)

    def _keep(self, send: Callable[[], OpenPlan]) -> None:
        self.told, self.tried = "", None
        try:
            self.plan = send()
        except ServerError as error:
            self.told = str(error)
            self.again()


def draft_of(client: Client, run: str, question: str) -> Draft:
    """The visit's own."""
    drafts: dict[str, Draft] = st.session_state.setdefault("drafts", {})
    if run not in drafts or drafts[run].plan.input != question:
        drafts[run] = Draft(client, run)
    return drafts[run]
