"""Write the program of an intent: a sentence of the grammar, compiled into a plan with typed inputs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic.types import JsonValue

from agent.execution.validation import value_schema
from agent.programs.grammar.compiling import Compiled, compiled
from agent.programs.grammar.sentence import Argument, Call, Figure, First, ForEach, Ranked, Sentence, Step, Test, Where
from agent.programs.names import TAKEN, identifier, named
from agent.programs.offer_text import OfferText, render_offer
from domain.errors import InvalidDecisionError
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, ToolId
from graph.links import Feed
from graph.response_fields import OutputField, output_fields
from synthesis.documents import called, field_descriptions, in_item
from synthesis.intents import Course, Intent, after_one, role_of

_DESCRIPTION = 400
_PLAIN = re.compile(r"[\w-]+")
_PIECES = re.compile(r"\[\d*\]|[^.\[\]]+")


@dataclass(frozen=True, slots=True)
class Input:
    """A value that is given before a program runs."""

    name: str
    parameter: Parameter
    said: str = ""
    """The combination's name for it, for all calls that take it; empty where no call does."""
    compared: str = ""
    """Path of the field in the last response that is compared with it; empty for inputs of calls."""


@dataclass(frozen=True, slots=True)
class Written:
    """The compiled program of an intent."""

    inputs: tuple[Input, ...]
    offer: OfferText
    """The tools as functions, as the program calls them."""
    text: str
    complaints: tuple[str, ...] = ()
    """Why there is no text; empty where there is one."""

    @property
    def schemas(self) -> dict[str, JsonObject]:
        """JSON Schemas of the inputs, by name."""
        return {one.name: input_schema(one.parameter) for one in self.inputs}


def written(intent: Intent, offer: OfferText | None = None) -> Written:
    """Write the program of an intent, or return the complaints against it.

    ``offer``: the text of the walk's tools, if it is rendered already.
    """
    offer = offer or render_offer(intent.course.walk.tools)
    given = inputs_of(intent, offer)
    try:
        sentence = _Writing(intent, offer, given).sentence()
        made = compiled(sentence, offer, [one.name for one in given])
    except (InvalidDecisionError, ValueError) as error:
        made = Compiled("", (str(error),))
    return Written(given, offer, made.text, made.complaints)


def inputs_of(intent: Intent, offer: OfferText) -> tuple[Input, ...]:
    """Build the inputs of an intent's program, with valid names; tools that take the same thing share one."""
    taken = {*TAKEN, *(one.name for one in offer.signatures)}
    said = {one.name: one.parameter for one in intent.course.combination.inputs}
    names = named(said.items(), lambda one: (identifier(one[0], "value"),), taken)
    given = [Input(name, parameter, called) for name, (called, parameter) in names]
    if intent.asked == "where" and (compared := _field(intent.last, intent.by)) is not None:
        wanted = named([compared], lambda one: _ways(one), {*taken, *(one.name for one in given)})
        given += [Input(name, _parameter(intent.last, one), compared=one.path) for name, one in wanted]
    return tuple(given)


def _ways(field: OutputField) -> tuple[str, ...]:
    base = identifier(field.name or (field.holder[-1] if field.holder else ""), "value")
    return (base, f"{base}_wanted")


def _parameter(doc: ToolDoc, field: OutputField) -> Parameter:
    said = field_descriptions(doc).get(field.path, "")
    return Parameter(name=field.name, type=field.type or "string", description=said, example=field.example)


def _field(doc: ToolDoc, path: str) -> OutputField | None:
    return next((one for one in output_fields(doc) if one.path == path), None)


def input_schema(parameter: Parameter) -> JsonObject:
    """Build the schema of an input that is always given: never null, and without the parameter's default."""
    whole: JsonObject = dict(value_schema(parameter.model_copy(update={"nullable": False})))
    schema: JsonObject = {key: value for key, value in whole.items() if key not in ("anyOf", "default")}
    options = whole.get("anyOf")
    if isinstance(options, list):
        real: list[JsonValue] = [one for one in options if not (isinstance(one, dict) and one.get("type") == "null")]
        only = real[0] if len(real) == 1 else None
        schema |= only if isinstance(only, dict) else {"anyOf": real}
    if parameter.description:
        schema["description"] = parameter.description[:_DESCRIPTION]
    return schema


def joined(place: str, path: str) -> str:
    """Append a document path to the path of a sentence's value."""
    pieces = _PIECES.findall(path)
    return place + "".join(
        one if one.startswith("[") else f".{one}" if _PLAIN.fullmatch(one) else f'["{one}"]' for one in pieces
    )


@dataclass(slots=True)
class _Writing:
    """Builds the sentence of an intent, call by call."""

    intent: Intent
    offer: OfferText
    inputs: tuple[Input, ...]
    steps: list[Step] = field(default_factory=list[Step])
    ones: dict[ToolId, str] = field(default_factory=dict[ToolId, str])
    """Names of the responses of tools that are called once."""
    at: str = ""
    """Path of the latest response; of the list of items with their responses where ``many``."""
    many: bool = False
    """True if the latest tool was called for each item of a list."""

    @property
    def _course(self) -> Course:
        return self.intent.course

    def sentence(self) -> Sentence:
        """Build the whole sentence."""
        walk = self._course.walk
        if walk.twice:
            self._from_both()
        else:
            self._call(walk.head, {})
        for number in range(2 if walk.twice else 1, len(walk.tools)):
            self._onward(number)
        return Sentence(steps=self.steps, answered="yes", answer=f"{{{self._answer()}}}", missing="")

    def _from_both(self) -> None:
        """Call the first tool for each of two things, and the second tool with values of both."""
        walk, values = self._course.walk, dict[str, str]()
        for role in walk.twice:
            self._call(walk.head, {}, role=role)
            fed = [feed for feed in self._course.fed_by(1) if role_of(feed.parameter, walk.twice) == role]
            if any("[]" in self._course.within(0, feed.field) for feed in fed):
                raise InvalidDecisionError("nothing says which of several things is meant")
            for feed in fed:
                values[feed.parameter] = f"{{{joined(self.at, self._entered(0, feed.field, role))}}}"
        self._call(walk.tools[1], values)

    def _call(self, tool: ToolDoc, filled: Mapping[str, str], each_of: str = "", role: str = "") -> None:
        """Add a call of a tool, once or for each item of a list."""
        signature = next(one for one in self.offer.signatures if one.tool == tool.id)
        names = {parameter: name for name, parameter in signature.arguments.items()}
        inputs = {one.said: f"{{{one.name}}}" for one in self.inputs if one.said}
        said = {one.parameter.name: inputs[one.name] for one in self._course.said(tool.id, role)}
        arguments = [Argument(parameter=names[one], value=value) for one, value in {**filled, **said}.items()]
        if each_of:
            self.at = f"{signature.name}_answers"
            self.steps.append(
                ForEach(do="for_each", name=self.at, of=each_of, function=signature.name, arguments=arguments)
            )
            self.many = True
        else:
            self.at = self.ones[tool.id] = f"{signature.name}_answer" + (f"_{identifier(role, 'of')}" if role else "")
            self.steps.append(Call(do="call", name=self.at, function=signature.name, arguments=arguments))

    def _onward(self, number: int) -> None:
        """Add the call of the next tool, with values of the response before it."""
        tool, fed = self._course.walk.tools[number], self._course.fed_by(number)
        path = self._entered(number - 1, fed[0].field)
        fed = tuple(
            Feed(one.source, one.target, self._entered(number - 1, one.field), one.parameter, one.score) for one in fed
        )
        earlier = {
            feed.parameter: self._earlier(feed)
            for feed in self._course.walk.into(tool.id)
            if feed not in self._course.fed_by(number)
        }
        if "[]" not in path:
            source = "item.result" if self.many else self.at
            values = {feed.parameter: f"{{{joined(source, feed.field)}}}" for feed in fed}
            self._call(tool, {**values, **earlier}, self.at if self.many else "")
            return
        inner = {feed.parameter: in_item(feed.field) for feed in fed}
        if self.intent.taken[number - 1] == "first":
            self._first_of(path.rpartition("[]")[0], f"first_{number}")
            values = {name: f"{{{joined(self.at, one)}}}" for name, one in inner.items()}
            self._call(tool, {**values, **earlier})
            return
        values = {name: f"{{{joined('item', one)}}}" for name, one in inner.items()}
        self._call(tool, {**values, **earlier}, self._list(path))

    def _entered(self, number: int, path: str, role: str = "") -> str:
        """Return a path within the one thing that a tool looked up; that thing gets a name the first time."""
        if not self._course.looks_up(number, path):
            return path
        outer, _, rest = path.partition("[]")
        if self.many:
            return f"{outer}[0]{rest}"
        name = f"found_{number + 1}" if number else f"found_{identifier(role, 'of')}" if role else "found"
        if self.at != name:
            self._first_of(outer, name)
        return rest.removeprefix(".")

    def _earlier(self, feed: Feed) -> str:
        """Return the reference to a value of a response before the last one."""
        if self.many or feed.source not in self.ones or "[]" in after_one(feed.field):
            raise InvalidDecisionError("it goes back to an answer before the last one")
        if "[]" in feed.field:
            raise InvalidDecisionError("it goes back to a list before the last one")
        return f"{{{joined(self.ones[feed.source], feed.field)}}}"

    def _list(self, path: str) -> str:
        """Return the path of a field's innermost list as one list, over all lists around it."""
        outer = path.rpartition("[]")[0]
        source = f"{self.at}[].result" if self.many else self.at
        nested = self.many or "[]" in outer
        return joined(source, outer) + ("[]" if nested else "")

    def _first_of(self, outer: str, name: str) -> None:
        place = joined(self.at, outer) + ("[]" if "[]" in outer else "")
        self.steps.append(First(do="first", name=name, of=place))
        self.at = name

    def _answer(self) -> str:
        """Add the last steps, and return the path of the answer."""
        course, asked, path, by = self._course, self.intent.asked, self._course.output, self.intent.by
        path, by = (self._entered(len(course.walk.tools) - 1, one) for one in (path, by))
        if asked == "all":
            return joined(f"{self.at}[].result" if self.many else self.at, path)
        if asked == "first":
            self._first_of(path.rpartition("[]")[0], "first_one")
            return joined(self.at, in_item(path))
        if asked == "count":
            self.steps.append(Figure(do="count", name="how_many", of=self._list(path)))
            return "how_many"
        return self._chosen(asked, path, by)

    def _chosen(self, asked: Literal["most", "least", "where"], path: str, by: str) -> str:
        """Add the step that chooses items by a field, and return the path of their labels."""
        own, listed = "[]" in path, self._list(path) if "[]" in path else self.at
        values = asked == "where" and self.many and path.endswith("[]")
        if values or not own:  # the answers to each item tell of the item
            of, within = self.at, joined("result", path)
            label = joined("item", self._label_before())
        else:
            of, within = listed, in_item(by).removeprefix(".")
            found = called(self.intent.last, self._course.output)
            if found is None:
                raise InvalidDecisionError("nothing says what the items are called")
            label = in_item(found.path)
        if asked != "where":
            self.steps.append(Ranked(do=asked, name="chosen", of=of, field=within, how_many=1))
            return joined("chosen", label)
        wanted = self.inputs[-1]
        test: Test = "contains" if values or wanted.parameter.type == "string" else "="
        self.steps.append(Where(do="where", name="chosen", of=of, field=within, test=test, value=f"{{{wanted.name}}}"))
        return joined("chosen[]", label)

    def _label_before(self) -> str:
        """Return the label path of the thing that the last tool was called for.

        The path is within an item of the list of those things.
        """
        last = len(self._course.walk.tools) - 1
        feed = self._course.fed_by(last)[0]
        found = called(self._course.walk.tools[last - 1], feed.field)
        if found is None:
            raise InvalidDecisionError("nothing says what the items are called")
        each = self.intent.taken[-1] == "each"
        return in_item(found.path) if each else f"result.{found.path}"
