"""Programs of intents: each is a sentence of the program grammar, compiled into Python with typed inputs."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.programs.function_names import RESERVED_NAMES, assign_names, to_identifier
from agent.programs.grammar.sentence import Argument, Call, Figure, First, ForEach, Ranked, Sentence, Step, Test, Where
from agent.programs.grammar.sentence_compiler import CompiledSentence, compile_sentence
from agent.programs.signatures import OfferText, render_offer
from domain.errors import InvalidDecisionError
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, ToolId
from graph.links import FeedLink
from graph.response_fields import OutputField, output_fields
from synthesis.field_labels import find_label_field, get_field_descriptions, get_item_path
from synthesis.intents import Intent, QueryPath, find_role, get_first_item_path

_MAX_DESCRIPTION = 400
_PLAIN_KEY = re.compile(r"[\w-]+")
_PATH_PIECE = re.compile(r"\[\d*\]|[^.\[\]]+")


@dataclass(frozen=True, slots=True)
class ProgramInput:
    """A value that is given before a program runs."""

    name: str
    parameter: Parameter
    user_name: str = ""
    """The combination's name for it, for all calls that take it; empty where no call does."""
    compared_path: str = ""
    """Path of the field in the last response that is compared with it; empty for inputs of calls."""


@dataclass(frozen=True, slots=True)
class IntentProgram:
    """The compiled program of an intent."""

    inputs: tuple[ProgramInput, ...]
    offer: OfferText
    """The tools as functions, as the program calls them."""
    text: str
    complaints: tuple[str, ...] = ()
    """Why there is no text; empty where there is one."""

    @property
    def schemas(self) -> dict[str, JsonObject]:
        """JSON Schemas of the inputs, by name."""
        return {program_input.name: build_input_schema(program_input.parameter) for program_input in self.inputs}


def write_program(intent: Intent, offer: OfferText | None = None) -> IntentProgram:
    """Write the program of an intent, or return the complaints against it.

    ``offer``: the text of the walk's tools, if it is rendered already.
    """
    offer = offer or render_offer(intent.query_path.walk.tools)
    inputs = build_inputs(intent, offer)
    try:
        sentence = _SentenceBuilder(intent, offer, inputs).build()
        program = compile_sentence(sentence, offer, [program_input.name for program_input in inputs])
    except (InvalidDecisionError, ValueError) as error:
        program = CompiledSentence("", (str(error),))
    return IntentProgram(inputs, offer, program.text, program.complaints)


def build_inputs(intent: Intent, offer: OfferText) -> tuple[ProgramInput, ...]:
    """Build the inputs of an intent's program, with valid names; tools that take the same thing share one."""
    reserved_names = {*RESERVED_NAMES, *(item.name for item in offer.signatures)}
    parameters = {item.name: item.parameter for item in intent.query_path.combination.inputs}
    names = assign_names(parameters.items(), lambda one: (to_identifier(one[0], "value"),), reserved_names)
    inputs = [ProgramInput(name, parameter, user_name) for name, (user_name, parameter) in names]
    if intent.kind == "where" and (compared_field := _find_field(intent.tail, intent.compared_path)) is not None:
        compared_inputs = assign_names(
            [compared_field], lambda one: _propose_names(one), {*reserved_names, *(item.name for item in inputs)}
        )
        inputs += [
            ProgramInput(name, _build_parameter(intent.tail, item), compared_path=item.path)
            for name, item in compared_inputs
        ]
    return tuple(inputs)


def _propose_names(field: OutputField) -> tuple[str, ...]:
    base = to_identifier(field.name or (field.holder[-1] if field.holder else ""), "value")
    return (base, f"{base}_wanted")


def _build_parameter(doc: ToolDoc, field: OutputField) -> Parameter:
    description = get_field_descriptions(doc).get(field.path, "")
    return Parameter(name=field.name, type=field.type or "string", description=description, example=field.example)


def _find_field(doc: ToolDoc, path: str) -> OutputField | None:
    return next((field for field in output_fields(doc) if field.path == path), None)


def build_input_schema(parameter: Parameter) -> JsonObject:
    """Build the schema of an input that is always given: never null, and without the parameter's default."""
    full_schema: JsonObject = dict(build_value_schema(parameter.model_copy(update={"nullable": False})))
    schema: JsonObject = {key: value for key, value in full_schema.items() if key not in ("anyOf", "default")}
    options = full_schema.get("anyOf")
    if isinstance(options, list):
        other_options: list[JsonValue] = [
            option for option in options if not (isinstance(option, dict) and option.get("type") == "null")
        ]
        single_option = other_options[0] if len(other_options) == 1 else None
        schema |= single_option if isinstance(single_option, dict) else {"anyOf": other_options}
    if parameter.description:
        schema["description"] = parameter.description[:_MAX_DESCRIPTION]
    return schema


def join_path(base: str, path: str) -> str:
    """Append a document path to the path of a sentence's value."""
    pieces = _PATH_PIECE.findall(path)
    return base + "".join(
        piece if piece.startswith("[") else f".{piece}" if _PLAIN_KEY.fullmatch(piece) else f'["{piece}"]'
        for piece in pieces
    )


@dataclass(slots=True)
class _SentenceBuilder:
    """Builds the sentence of an intent, call by call."""

    intent: Intent
    offer: OfferText
    inputs: tuple[ProgramInput, ...]
    steps: list[Step] = field(default_factory=list[Step])
    single_answers: dict[ToolId, str] = field(default_factory=dict[ToolId, str])
    """Names of the responses of tools that are called once."""
    current_path: str = ""
    """Path of the latest response or, if ``is_fan_out``, of the list of items with their responses."""
    is_fan_out: bool = False
    """True if the latest tool was called for each item of a list."""

    @property
    def _query_path(self) -> QueryPath:
        return self.intent.query_path

    def build(self) -> Sentence:
        """Build the whole sentence."""
        walk = self._query_path.walk
        if walk.repeated_inputs:
            self._add_role_calls()
        else:
            self._add_call(walk.head, {})
        for number in range(2 if walk.repeated_inputs else 1, len(walk.tools)):
            self._add_next_call(number)
        return Sentence(steps=self.steps, answered="yes", answer=f"{{{self._build_answer()}}}", missing="")

    def _add_role_calls(self) -> None:
        """Call the first tool for each of two things, and the second tool with values of both."""
        walk, values = self._query_path.walk, dict[str, str]()
        for role in walk.repeated_inputs:
            self._add_call(walk.head, {}, role=role)
            role_feeds = [
                feed
                for feed in self._query_path.get_feeds(1)
                if find_role(feed.parameter, walk.repeated_inputs) == role
            ]
            if any("[]" in self._query_path.resolve_lookup_path(0, feed.field) for feed in role_feeds):
                raise InvalidDecisionError("nothing says which of several things is meant")
            for feed in role_feeds:
                values[feed.parameter] = f"{{{join_path(self.current_path, self._enter_lookup(0, feed.field, role))}}}"
        self._add_call(walk.tools[1], values)

    def _add_call(self, tool: ToolDoc, linked: Mapping[str, str], each_of: str = "", role: str = "") -> None:
        """Add a call of a tool, once or for each item of a list."""
        signature = next(item for item in self.offer.signatures if item.tool == tool.id)
        names = {parameter: name for name, parameter in signature.arguments.items()}
        inputs = {item.user_name: f"{{{item.name}}}" for item in self.inputs if item.user_name}
        input_values = {item.parameter.name: inputs[item.name] for item in self._query_path.list_inputs(tool.id, role)}
        arguments = [Argument(parameter=names[item], value=value) for item, value in {**linked, **input_values}.items()]
        if each_of:
            self.current_path = f"{signature.name}_answers"
            self.steps.append(
                ForEach(do="for_each", name=self.current_path, of=each_of, function=signature.name, arguments=arguments)
            )
            self.is_fan_out = True
        else:
            self.current_path = self.single_answers[tool.id] = f"{signature.name}_answer" + (
                f"_{to_identifier(role, 'of')}" if role else ""
            )
            self.steps.append(Call(do="call", name=self.current_path, function=signature.name, arguments=arguments))

    def _add_next_call(self, number: int) -> None:
        """Add the call of the next tool, with values of the response before it."""
        tool, feeds = self._query_path.walk.tools[number], self._query_path.get_feeds(number)
        path = self._enter_lookup(number - 1, feeds[0].field)
        feeds = tuple(
            FeedLink(
                element.source,
                element.target,
                self._enter_lookup(number - 1, element.field),
                element.parameter,
                element.score,
            )
            for element in feeds
        )
        earlier_values = {
            feed.parameter: self._refer_to_earlier(feed)
            for feed in self._query_path.walk.list_feeds_into(tool.id)
            if feed not in self._query_path.get_feeds(number)
        }
        if "[]" not in path:
            source = "item.result" if self.is_fan_out else self.current_path
            values = {feed.parameter: f"{{{join_path(source, feed.field)}}}" for feed in feeds}
            self._add_call(tool, {**values, **earlier_values}, self.current_path if self.is_fan_out else "")
            return
        item_paths = {feed.parameter: get_item_path(feed.field) for feed in feeds}
        if self.intent.item_modes[number - 1] == "first":
            self._pick_first(path.rpartition("[]")[0], f"first_{number}")
            values = {name: f"{{{join_path(self.current_path, element)}}}" for name, element in item_paths.items()}
            self._add_call(tool, {**values, **earlier_values})
            return
        values = {name: f"{{{join_path('item', element)}}}" for name, element in item_paths.items()}
        self._add_call(tool, {**values, **earlier_values}, self._flatten_list_path(path))

    def _enter_lookup(self, number: int, path: str, role: str = "") -> str:
        """Return a path relative to the thing that a tool looked up; unchanged if the tool looks nothing up.

        The first time, this adds the step that gives the thing a name.
        """
        if not self._query_path.is_lookup_path(number, path):
            return path
        outer_path, _, rest = path.partition("[]")
        if self.is_fan_out:
            return f"{outer_path}[0]{rest}"
        name = f"found_{number + 1}" if number else f"found_{to_identifier(role, 'of')}" if role else "found"
        if self.current_path != name:
            self._pick_first(outer_path, name)
        return rest.removeprefix(".")

    def _refer_to_earlier(self, feed: FeedLink) -> str:
        """Return the reference to a value of a response before the last one.

        Raises:
            InvalidDecisionError: there are several such responses or values.
        """
        if self.is_fan_out or feed.source not in self.single_answers or "[]" in get_first_item_path(feed.field):
            raise InvalidDecisionError("it goes back to an answer before the last one")
        if "[]" in feed.field:
            raise InvalidDecisionError("it goes back to a list before the last one")
        return f"{{{join_path(self.single_answers[feed.source], feed.field)}}}"

    def _flatten_list_path(self, path: str) -> str:
        """Return the path of a field's innermost list as one list, over all lists around it."""
        outer_path = path.rpartition("[]")[0]
        source = f"{self.current_path}[].result" if self.is_fan_out else self.current_path
        nested = self.is_fan_out or "[]" in outer_path
        return join_path(source, outer_path) + ("[]" if nested else "")

    def _pick_first(self, outer_path: str, name: str) -> None:
        """Add the step that names the first item of a list, and continue from that item."""
        list_path = join_path(self.current_path, outer_path) + ("[]" if "[]" in outer_path else "")
        self.steps.append(First(do="first", name=name, of=list_path))
        self.current_path = name

    def _build_answer(self) -> str:
        """Add the steps that select the answer, and return its path."""
        query_path, kind, path, compared_path = (
            self._query_path,
            self.intent.kind,
            self._query_path.output,
            self.intent.compared_path,
        )
        path, compared_path = (
            self._enter_lookup(len(query_path.walk.tools) - 1, document_path) for document_path in (path, compared_path)
        )
        if kind == "all":
            return join_path(f"{self.current_path}[].result" if self.is_fan_out else self.current_path, path)
        if kind == "first":
            self._pick_first(path.rpartition("[]")[0], "first_one")
            return join_path(self.current_path, get_item_path(path))
        if kind == "count":
            self.steps.append(Figure(do="count", name="how_many", of=self._flatten_list_path(path)))
            return "how_many"
        return self._choose_items(kind, path, compared_path)

    def _choose_items(self, kind: Literal["most", "least", "where"], path: str, compared_path: str) -> str:
        """Add the step that chooses items by a field, and return the path of their labels."""
        has_own_list, list_path = "[]" in path, self._flatten_list_path(path) if "[]" in path else self.current_path
        is_value_list = kind == "where" and self.is_fan_out and path.endswith("[]")
        if is_value_list or not has_own_list:  # each response is about the item that it was called for
            list_value, field_path = self.current_path, join_path("result", path)
            label = join_path("item", self._get_source_label())
        else:
            list_value, field_path = list_path, get_item_path(compared_path).removeprefix(".")
            label_field = find_label_field(self.intent.tail, self._query_path.output)
            if label_field is None:
                raise InvalidDecisionError("nothing says what the items are called")
            label = get_item_path(label_field.path)
        if kind != "where":
            self.steps.append(Ranked(do=kind, name="chosen", of=list_value, field=field_path, how_many=1))
            return join_path("chosen", label)
        condition = self.inputs[-1]
        test: Test = "contains" if is_value_list or condition.parameter.type == "string" else "="
        self.steps.append(
            Where(do="where", name="chosen", of=list_value, field=field_path, test=test, value=f"{{{condition.name}}}")
        )
        return join_path("chosen[]", label)

    def _get_source_label(self) -> str:
        """Return the label path of the thing that the last tool was called for.

        The path is within an item of the list of those things.
        """
        last = len(self._query_path.walk.tools) - 1
        feed = self._query_path.get_feeds(last)[0]
        label_field = find_label_field(self._query_path.walk.tools[last - 1], feed.field)
        if label_field is None:
            raise InvalidDecisionError("nothing says what the items are called")
        is_each = self.intent.item_modes[-1] == "each"
        return get_item_path(label_field.path) if is_each else f"result.{label_field.path}"
