"""Runs once more: the same, with other values, or as a template with names for what may differ."""

from datetime import datetime

from pydantic import BaseModel, Field, JsonValue

from domain.model import JsonObject
from domain.plan import PlanDocument
from domain.program import ProgramPlan
from ui.client import Client, read, read_all
from ui.replies import Run


class Offered(BaseModel):
    """A value of a run that may be another one next time: of an ``input`` of its program, or of a ``parameter`` of a ``step``, which counts from 1.
    ``value_schema``: JSON Schema of what it may be.
    """

    name: str
    input: str | None = None
    step: int | None = None
    parameter: str | None = None
    value: JsonValue = None
    value_schema: JsonObject = Field(default_factory=dict, alias="schema")


class Done(BaseModel):
    """What a finished run has done, as a plan. ``document``: its steps, where steps can say it. ``parameters``: the values in it that came from the request."""

    program: ProgramPlan
    document: PlanDocument | None = None
    parameters: list[Offered] = Field(default_factory=list[Offered])

    @property
    def by_program(self) -> bool:
        """Whether its values are those of a program's inputs."""
        return self.document is None or any(one.input is not None for one in self.parameters)

    @property
    def choices(self) -> list[Offered]:
        """One of each name: values that came from the same words have one, and become one parameter."""
        first: dict[str, Offered] = {}
        for one in self.parameters:
            first.setdefault(one.name, one)
        return list(first.values())

    def schema_of(self, step: int, parameter: str) -> JsonObject:
        """What a value may be; by the value itself where nothing else is known."""
        for one in self.parameters:
            if (one.step, one.parameter) == (step, parameter) and one.value_schema:
                return one.value_schema
        value = self.document.steps[step - 1].arguments.get(parameter) if self.document is not None else None
        return {"type": "string" if isinstance(value, str) else "any"}


class TemplateUse(BaseModel):
    """How a template has done for its user."""

    runs: int = 0
    answered: int = 0
    last_used_at: datetime | None = None


class Template(BaseModel):
    """A template in the list. ``version``: the latest; ``own``: whether it is the user's; ``taken``: of another's, the one the user runs."""

    id: str
    name: str
    description: str = ""
    shared: bool = False
    own: bool = True
    version: int = 1
    taken: int | None = None
    updated_at: datetime | None = None
    use: TemplateUse = Field(default_factory=TemplateUse)


class Content(BaseModel):
    """A template's version. ``request``: what its runs ask; ``parameters``: name to JSON Schema, one with a ``default`` may be left out.
    ``document``: its program as steps, where steps can say it; ``problem``: why it cannot be run.
    """

    version: int
    request: str = ""
    program: ProgramPlan | None = None
    document: PlanDocument | None = None
    problem: str = ""
    parameters: dict[str, JsonObject] = Field(default_factory=dict[str, JsonObject])


class WholeTemplate(Template):
    """With the version that was taken, or its latest."""

    content: Content

    @property
    def newer(self) -> int | None:
        """The latest version, where the user runs an older one of another's."""
        return self.version if self.taken is not None and self.taken < self.version else None


class Difference(BaseModel):
    """Something that a newer version does otherwise."""

    said: str


class Differences(BaseModel):
    """All that version ``after`` does otherwise than ``before``."""

    before: int
    after: int
    changes: list[Difference] = Field(default_factory=list[Difference])


def done(client: Client, run: str) -> Done:
    """Raises ServerError (409): it has not ended."""
    return read(Done, client.send("GET", f"/runs/{run}/document"))


class ExportedFile(BaseModel):
    """``file``: what it may be called."""

    file: str
    text: str


def exported(client: Client, run: str, form: str) -> ExportedFile:
    """What a run did, to be run elsewhere. Raises ServerError (400): what keeps it from that."""
    return read(ExportedFile, client.send("GET", f"/runs/{run}/export", params={"as": form}))


def rerun(client: Client, run: str, document: PlanDocument | None = None) -> Run:
    """Ask the same once more; with ``document``, carry out these steps."""
    body = {} if document is None else {"document": document.model_dump(mode="json")}
    return read(Run, client.send("POST", f"/runs/{run}/rerun", json=body))


def rerun_with(client: Client, run: str, values: JsonObject) -> Run:
    """Carry out what the run did, with these values for inputs of its program."""
    return read(Run, client.send("POST", f"/runs/{run}/rerun", json={"values": values}))


def rerun_text(client: Client, run: str, plan: ProgramPlan, text: str) -> Run:
    """Carry out the run's program with another text. Raises ServerError (400): it says what is wrong with it, by line."""
    body = {"text": text, "inputs": plan.inputs, "values": plan.values, "tools": plan.program.tools}
    return read(Run, client.send("POST", f"/runs/{run}/rerun", json={"program": body}))


def templates(client: Client) -> list[Template]:
    """The user's, and those that others share."""
    return read_all(Template, client.send("GET", "/templates"))


def template(client: Client, template: str) -> WholeTemplate:
    """One of them, as the user runs it."""
    return read(WholeTemplate, client.send("GET", f"/templates/{template}"))


def save(client: Client, run: str, name: str, parameters: dict[str, Offered]) -> WholeTemplate:
    """Keep a run as a template. ``parameters``: by the names they get, the values that may differ."""
    places = {
        name: {"input": one.input} if one.input is not None else {"step": one.step, "parameter": one.parameter}
        for name, one in parameters.items()
    }
    body = {"run_id": run, "name": name, "parameters": places}
    return read(WholeTemplate, client.send("POST", "/templates", json=body))


def differences(client: Client, template: str) -> Differences:
    """What the latest version does otherwise than the one that was taken; of one's own, than the one before it."""
    return read(Differences, client.send("GET", f"/templates/{template}/differences"))


def take(client: Client, template: str, version: int) -> None:
    """Run this version of another's template from now on."""
    client.send("PUT", f"/templates/{template}/taken", json={"version": version})


def run_template(client: Client, template: str, conversation: str, values: JsonObject, version: int) -> Run:
    """At the version that was looked at, with these values. Raises ServerError (400): some do not fit; it says which."""
    body = {"conversation_id": conversation, "parameters": values, "version": version}
    return read(Run, client.send("POST", f"/templates/{template}/runs", json=body))


def change_template(client: Client, template: str, *, name: str | None = None, shared: bool | None = None) -> None:
    """Give it another name, or let all users see and run it. Raises ServerError: the name is taken, or this user may not share."""
    given = {"name": name, "shared": shared}
    client.send("PATCH", f"/templates/{template}", json={key: one for key, one in given.items() if one is not None})


def remove_template(client: Client, template: str) -> None:
    """With its versions; its runs stay."""
    client.send("DELETE", f"/templates/{template}")
