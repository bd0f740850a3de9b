"""What the server answers, as far as the page needs it. Fields that are not known here are passed over."""

from datetime import datetime

from pydantic import BaseModel, Field, SecretStr

from domain.model import JsonObject
from ui.language import message, say

PLANNERS = {
    "program": message("Program written for the request"),
    "solution": message("Program after a known solution"),
    "dfs": message("Search through the tool graph"),
    "thesis": message("Search with review of every path (thesis)"),
    "react": message("Step by step (ReAct)"),
    "cot": message("All at once, reasoned"),
    "basic": message("All at once"),
    "retrieve": message("Most alike"),
}
"""Planners by the names that the server gives them."""
ROLES = {"user": message("user"), "author": message("author"), "admin": message("admin")}
"""Roles of users, by the names that the server gives them."""


class Tokens(BaseModel):
    """A session's tokens; ``refresh_token`` counts once."""

    access_token: SecretStr
    refresh_token: SecretStr
    access_expires_at: datetime


class User(BaseModel):
    """Who is logged in. ``role``: user, author or admin; ``language``: the one that was chosen for the page."""

    id: str
    name: str
    role: str = "user"
    language: str | None = None


class LoggedIn(Tokens):
    """What registering and logging in give."""

    user: User


class Registration(BaseModel):
    """Who may make an account: ``open``, ``invited`` or ``closed``."""

    registration: str


class Conversation(BaseModel):
    """A conversation in the list. ``waits``: a run of it waits for its user."""

    id: str
    title: str = ""
    waits: bool = False

    @property
    def shown_title(self) -> str:
        """Its title, or what stands for one."""
        return self.title or say("New conversation")


class Used(BaseModel):
    """What a run took."""

    considered: int = 0
    decisions: int = 0
    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """In and out."""
        return self.prompt_tokens + self.completion_tokens


class Run(BaseModel):
    """A run as it stands. ``last_event``: the number of the last one that is stored. ``verdict``: what its user says of the answer: ``right`` or ``wrong``."""

    id: str
    request: str
    conversation_id: str = ""
    planner: str = ""
    rerun_of: str | None = None
    template_id: str | None = None
    template_version: int | None = None
    status: str = ""
    outcome: str | None = None
    usage: Used | None = None
    created_at: datetime | None = None
    cancel_at: datetime | None = None
    finished_at: datetime | None = None
    last_event: int = 0
    verdict: str | None = None

    def made_as(self, *, by_program: bool = True) -> str:
        """How it came about, in a few words. ``by_program``: whether a program was written, where one was to be."""
        if self.template_version:
            return say("from a template, version {version}", version=self.template_version)
        planned = say("planner: {planner}", planner=say(PLANNERS.get(self.planner, self.planner)))
        if self.planner in ("program", "solution") and not by_program:
            planned = say("planned step by step: no program was written for it")
        return say("run again; {planned}", planned=planned) if self.rerun_of else planned


class Choice(BaseModel):
    """One of several, and what it is."""

    name: str
    about: str = ""


class Choices(BaseModel):
    """What a run may choose. ``default_model``: empty where there is none."""

    planners: list[Choice]
    policies: list[Choice]
    models: list[str] = Field(default_factory=list[str])
    default_model: str = ""


class Chosen(BaseModel):
    """How a run is to be made. ``stop_at_plan``: it waits with its plan until that is approved."""

    planner: str = ""
    policy: str = "offline"
    model: str = ""
    stop_at_plan: bool = False


_ANSWERS = {
    "allow": message("you allowed it"),
    "deny": message("you did not"),
    "happened": message("it happened"),
    "did_not_happen": message("it did not happen"),
    "leave": message("you left it open"),
}


class Asked(BaseModel):
    """What a run asks its user. ``decision`` None: it is open. ``answer``: what was said to a question. ``accepts``: JSON Schema of the arguments of its
    calls, where they can be corrected.
    """

    id: str
    decision: str | None = None
    answer: str = ""
    accepts: JsonObject | None = None

    @property
    def answered(self) -> str:
        """What was answered, in words."""
        return self.answer or say(_ANSWERS.get(self.decision or "", self.decision or message("not answered")))


class Fault(BaseModel):
    """One thing that is wrong with a request."""

    place: str = ""
    message: str = ""


class Problem(BaseModel):
    """A problem document (RFC 9457) of the server."""

    code: str = "error"
    detail: str = ""
    errors: list[Fault] = Field(default_factory=list[Fault])
