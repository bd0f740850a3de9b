"""The plan of a run while it is edited in a visit: each change goes to the server at once, which keeps it and says what is wrong."""

from collections.abc import Callable

import streamlit as st

from domain.model import JsonObject
from domain.plan import PlanDocument
from ui.client import Client
from ui.code_editor import Insertion
from ui.language import message, say
from ui.plans import DryRun, OpenPlan, PlanProgram, edit, open_plan, write
from ui.problems import ServerError
from ui.screens.step import Change

_LATE = message("The plan had changed before this reached it, so it was not done. This is the plan as it stands.")


class Draft:
    """``turn`` counts changes of its shape: fields are drawn anew then, and only then. ``insertion``: what was last put in at the text's cursor.
    ``pending``: what was written as code and the server did not keep; it stays on the page, and nothing is approved meanwhile.
    """

    def __init__(self, client: Client, run: str) -> None:
        self.client, self.run = client, run
        self.turn = 0
        self.told = ""
        self.insertion = Insertion()
        self.tried: DryRun | None = None
        self.pending: PlanProgram | None = None
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
            if not self._kept(lambda: edit(self.client, self.run, self.plan.version, document)):
                self.again()
            self.turn += shape

    @property
    def program(self) -> PlanProgram:
        """What stands on the page."""
        return self.pending or self.plan.program

    def write(self, *, text: str | None = None, values: JsonObject | None = None) -> None:
        """Keep another text, or other values of its inputs."""
        now, kept = self.program, self.plan.program
        new = PlanProgram(
            text=now.text if text is None else text,
            inputs=now.inputs,
            values=now.values if values is None else values,
        )
        if (new.text, new.values) == (kept.text, kept.values):
            self.pending, self.told = None, "" if self.pending else self.told
        elif not self._kept(lambda: write(self.client, self.run, self.plan.version, new)):
            self.pending = new

    def insist(self) -> None:
        """Put what was not kept in place of what the server has by now."""
        mine = self.pending
        if mine is not None and self._kept(lambda: open_plan(self.client, self.run)):
            self.write(text=mine.text, values=mine.values)

    def insert(self, text: str, *, line: bool = False) -> None:
        """Put something into the text, where its cursor is."""
        self.insertion = Insertion(self.insertion.number + 1, text, line)

    def take_kept(self) -> None:
        """Give up what was not kept."""
        self.told = ""
        self.again()

    def again(self) -> None:
        """As the server has it; as it stands where that cannot be read."""
        try:
            self.plan = open_plan(self.client, self.run)
        except ServerError as error:
            self.told = str(error)
        else:
            self.turn += 1
            self.pending = None

    def _kept(self, send: Callable[[], OpenPlan]) -> bool:
        """Whether the server took it and gave the plan that stands now; told why not."""
        self.told, self.tried = "", None
        try:
            self.plan = send()
        except ServerError as error:
            self.told = say("Not kept: {error}", error=error)
            return False
        self.pending = None
        return True


def draft_of(client: Client, run: str, question: str) -> Draft:
    """The visit's own."""
    drafts: dict[str, Draft] = st.session_state.setdefault("drafts", {})
    if run not in drafts or drafts[run].plan.input != question:
        drafts[run] = Draft(client, run)
    return drafts[run]
