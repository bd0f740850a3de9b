"""A policy that asks the user for a required value that nothing else supplies, and the reading of the answer.

The answer to a question for an object may be ``name: Ada, street: 3 Elm Street`` or JSON.
"""

import re
from collections.abc import Callable
from typing import Any, cast

from pydantic.types import JsonValue

from agent.execution.coercion import coerce_value, convert_to_schema
from agent.execution.validation import build_value_schema, check_arguments
from agent.parameter_needs import UNFILLED_KINDS, NeedKind, derive_need
from agent.policy.delegating_policy import DelegatingPolicy
from agent.policy.protocol import ArgumentsQuestion, CallArguments, MoveQuestion, NextMove, Policy
from agent.programs.argument_bindings import ANSWERED_REFERENCE
from agent.programs.signature_notes import describe_parameter
from agent.text import clean_text, format_scalar, format_tool_title
from agent.user_questions import UserQuestions, build_user_question
from domain.event import QuestionAnswered
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import Parameter, ToolDoc
from graph.identifiers import split_words
from graph.lenient_json import read_value

_MAX_NAMED_FIELDS = 8
"""Limit of fields that a question names."""


def get_object_fields(parameter: Parameter) -> dict[str, dict[str, Any]]:
    """Return the fields of an object parameter with their schemas; none if they are not fixed or it is no object."""
    if parameter.type != "object":
        return {}
    schema: Any = build_value_schema(parameter)
    if parameter.nullable:
        schema = schema["anyOf"][0]
    properties: Any = schema.get("properties")
    fields = cast("dict[str, Any]", properties) if isinstance(properties, dict) else {}
    return {
        name: cast("dict[str, Any]", field_schema) if isinstance(field_schema, dict) else {}
        for name, field_schema in fields.items()
    }


def describe_answer_form(parameter: Parameter) -> str:
    """Describe the form of an answer that is an object; empty for other parameters.

    Example: ``answer as name: …, street: …; phone may be left out``.
    """
    fields = get_object_fields(parameter)
    if not fields:
        return "answer with an object as JSON" if parameter.type == "object" else ""
    required = _get_required_fields(parameter) & set(fields)
    first = [name for name in fields if name in required] or list(fields)
    required_text = ", ".join(f"{clean_text(name, 24)}: …" for name in first[:_MAX_NAMED_FIELDS])
    rest = [clean_text(name, 24) for name in fields if name not in first]
    optional_text = f"; {', '.join(rest[:_MAX_NAMED_FIELDS])} may be left out" if rest else ""
    return f"answer as {required_text}{optional_text}"


def parse_user_answer(answer: str, parameter: Parameter) -> JsonValue:
    """Convert an answer to the type of a parameter; if that is not possible, return it as text."""
    value = coerce_value(answer, parameter)
    if parameter.type == "any" and answer.lstrip()[:1] in ("{", "["):
        structure = read_value(answer)
        return value if structure is None else structure
    fields = get_object_fields(parameter)
    if not fields or not isinstance(value, str):
        return value
    texts = _parse_pairs(value, fields)
    return {name: convert_to_schema(text, fields[name]) for name, text in texts.items()} or value


def find_value_fault(value: JsonValue, tool: ToolDoc, parameter: Parameter) -> str:
    """Return why a value does not fit a parameter, in a sentence; empty if it fits."""
    complaints = check_arguments(tool, {parameter.name: value})[1]
    return next((complaint for name, complaint in complaints if name == parameter.name), "")


def _parse_pairs(text: str, fields: dict[str, Any]) -> dict[str, str]:
    """Return the text after each field name, up to the next one."""
    by_words = {" ".join(split_words(name)): name for name in fields} | {name.casefold(): name for name in fields}
    name_pattern = "|".join(sorted(map(re.escape, by_words), key=len, reverse=True))
    marks = list(re.finditer(rf"(?:^|[\s,;])({name_pattern})\s*[:=]\s*", text, re.IGNORECASE))
    ends = [mark.start() for mark in marks[1:]] + [len(text)] * bool(marks)
    texts: dict[str, str] = {}
    for mark, end in zip(marks, ends, strict=True):
        texts[by_words[mark[1].casefold()]] = text[mark.end() : end].strip(" ,;")
    return texts


def _get_required_fields(parameter: Parameter) -> set[str]:
    schema: Any = build_value_schema(parameter)
    if parameter.nullable:
        schema = schema["anyOf"][0]
    names: Any = schema.get("required")
    return {name for name in cast("list[Any]", names) if isinstance(name, str)} if isinstance(names, list) else set()


_UNASKABLE_KINDS: frozenset[NeedKind] = frozenset(
    {"identifier", "latitude", "longitude", "coordinates", *UNFILLED_KINDS}
)
"""Kinds of values that only another tool supplies, or that must not be asked for."""
_UNSHAREABLE_KINDS: frozenset[NeedKind] = frozenset({"text", "query", "entity", "amount", "number", "boolean"})
"""Kinds for which one answer cannot serve two parameters, which need not mean the same thing."""
_MAX_ATTEMPTS = 2
"""Limit of questions for one value; a second one follows an answer that does not fit the parameter."""


def can_user_answer(parameter: Parameter) -> bool:
    """Return whether a person can know the value: it is neither a key nor an id that only another tool supplies."""
    return derive_need(parameter).kind not in _UNASKABLE_KINDS


class AskUserPolicy(DelegatingPolicy):
    """Policy of one subtask that asks the user for missing values.

    Each parameter of a tool is asked for once. Parameters that want the same kind of value share one answer, unless
    they need not mean the same thing.
    """

    def __init__(
        self,
        policy: Policy,
        user_questions: UserQuestions,
        subtask: int,
        find_recorded_answer: Callable[[str], QuestionAnswered | None],
        *,
        is_worth_asking: bool = True,
    ) -> None:
        """Wrap a policy.

        Args:
            policy: takes the decisions.
            user_questions: the questions of the run.
            subtask: number of the subtask, part of the identity of its questions.
            find_recorded_answer: returns the event of a question that was asked before the run was interrupted.
            is_worth_asking: False if tools are only found and not chosen; they may be of no use, so nothing is asked for them.
        """
        super().__init__(policy)
        self._may_ask = is_worth_asking and user_questions.has_user
        self._user_questions = user_questions
        self._subtask = subtask
        self._find_recorded_answer = find_recorded_answer
        self._answers: dict[tuple[str, str], str] = {}
        self.events: list[QuestionAnswered] = []  # of questions that were asked, not emitted yet

    def take_events(self) -> list[QuestionAnswered]:
        """Return and clear the events of the questions asked since the last call."""
        events, self.events = self.events, []
        return events

    async def choose(self, situation: MoveQuestion) -> NextMove:
        """Return the move of the policy, or the one that a missing value allows once the user has given it."""
        move = await self.delegate(situation)
        missing_value = move.missing_value
        if missing_value is None or not self._may_ask:
            return move
        parameter = missing_value.parameter
        if move.action != "give_up" and _build_need_key(missing_value.tool, parameter) not in self._answers:
            return move  # the policy goes on without the value, so the user is not bothered
        if not await self._get_answer(missing_value.tool, parameter):
            return move
        return NextMove("advance", f"its user was asked for {clean_text(parameter.name, 60)}", missing_value.index)

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        """Return the arguments of the policy, completed by the user if the user can know all that are missing."""
        arguments = await self.delegate(question)
        open_parameters = [parameter for parameter in question.tool.parameters if parameter.name in arguments.missing]
        if not open_parameters or not self._may_ask or not all(map(can_user_answer, open_parameters)):
            return arguments
        answers: JsonObject = {}
        for parameter in open_parameters:
            answer = await self._get_answer(question.tool, parameter)
            if not answer:
                return arguments
            answers[parameter.name] = parse_user_answer(answer, parameter)
        bindings = (Binding(parameter=name, origin="user", reference=ANSWERED_REFERENCE) for name in answers)
        return CallArguments({**arguments.values, **answers}, (*arguments.provenance, *bindings))

    async def _get_answer(self, tool: ToolDoc, parameter: Parameter) -> str:
        """Return the user's answer for a parameter; empty if there is none.

        If an answer does not fit, the user is told why and asked once more. Answers are remembered, empty ones too.
        """
        key = _build_need_key(tool, parameter)
        if key not in self._answers:
            fault, answer = "", ""
            for attempt in range(_MAX_ATTEMPTS):
                reply = await self._ask_user(tool, parameter, fault, attempt)
                answer = reply or answer
                fault = find_value_fault(parse_user_answer(answer, parameter), tool, parameter) if reply else ""
                if not fault:
                    break
            self._answers[key] = answer
        return self._answers[key]

    async def _ask_user(self, tool: ToolDoc, parameter: Parameter, fault: str, attempt: int) -> str:
        choices = [format_scalar(value) for value in parameter.enum]
        identity = f"{self._subtask}:{tool.id}:{parameter.name}{f':{attempt}' if attempt else ''}"
        user_question = build_user_question(identity, _format_question(tool, parameter, fault), choices)
        event = await self._user_questions.ask(user_question, recorded=self._find_recorded_answer(user_question.text))
        self.events.append(event)
        return event.answer


def _build_need_key(tool: ToolDoc, parameter: Parameter) -> tuple[str, str]:
    """Return the key of the remembered answer; parameters that one answer serves share it."""
    need = derive_need(parameter)
    return (tool.id, parameter.name) if need.kind in _UNSHAREABLE_KINDS or parameter.enum else (need.kind, need.role)


def _format_question(tool: ToolDoc, parameter: Parameter, fault: str = "") -> str:
    """Return the question for a value, with its name, description and form, and the tool that needs it.

    ``fault`` is what was wrong with the previous answer, if there was one.
    """
    name = " ".join(split_words(parameter.name)) or parameter.name
    description = clean_text(parameter.description, 140).rstrip(".")
    form = describe_answer_form(parameter) or describe_parameter(parameter, lists_values=bool(parameter.enum))
    if fault:
        return f"Which {clean_text(name, 60)}? {clean_text(fault, 120).rstrip('.')}{f'; {form}' if form else ''}."
    details = "; ".join(part for part in (description, form) if part)
    return f"Which {clean_text(name, 60)}? {format_tool_title(tool)} needs it{f': {details}' if details else ''}."
