"""A policy that asks the user for a required value that nothing else supplies, and the reading of the answer.

The answer to a question for an object may be ``name: Ada, street: 3 Elm Street`` or JSON.
"""

from collections.abc import Callable

from agent.parameters.kinds import UNTOUCHED, NeedKind
from agent.parameters.needs import need_of
from agent.policy.delegating_policy import DelegatingPolicy
from agent.policy.object_answers import describe_form, find_fault, parse_answer
from agent.policy.protocol import ArgumentsQuestion, CallArguments, MoveQuestion, NextMove, Policy
from agent.programs.bindings import ANSWERED
from agent.programs.signature_notes import describe_parameter
from agent.text import clean, format_scalar, format_tool_title
from agent.user_questions import UserQuestions, build_question
from domain.event import QuestionAnswered
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import Parameter, ToolDoc
from graph.identifiers import split_words

_UNASKED_KINDS: frozenset[NeedKind] = frozenset({"identifier", "latitude", "longitude", "coordinates", *UNTOUCHED})
"""Kinds of values that only another tool supplies, or that must not be asked for."""
_UNSHARED_KINDS: frozenset[NeedKind] = frozenset({"text", "query", "entity", "amount", "number", "boolean"})
"""Kinds for which one answer cannot serve two parameters, which need not mean the same thing."""
_MAX_ATTEMPTS = 2
"""Limit of questions for one value; a second one follows an answer that does not fit the parameter."""


def can_user_answer(parameter: Parameter) -> bool:
    """Return whether a person can know the value: it is neither a key nor an id that only another tool supplies."""
    return need_of(parameter).kind not in _UNASKED_KINDS


class AskUserPolicy(DelegatingPolicy):
    """Policy of one subtask that asks the user for missing values.

    Each parameter of a tool is asked for once. Parameters that want the same kind of value share one answer, unless
    they need not mean the same thing.
    """

    def __init__(
        self,
        policy: Policy,
        asking: UserQuestions,
        subtask: int,
        find_recorded: Callable[[str], QuestionAnswered | None],
        *,
        chosen: bool = True,
    ) -> None:
        """Wrap a policy.

        Args:
            policy: takes the decisions.
            asking: the questions of the run.
            subtask: number of the subtask, part of the identity of its questions.
            find_recorded: returns the event of a question that was asked before the run was interrupted.
            chosen: False if tools are only found and not chosen; they may be of no use, so nothing is asked for them.
        """
        super().__init__(policy)
        self._may_ask = chosen and asking.has_user
        self._asking = asking
        self._subtask = subtask
        self._find_recorded = find_recorded
        self._answers: dict[tuple[str, str], str] = {}
        self.events: list[QuestionAnswered] = []  # of questions that were asked, not emitted yet

    def take_events(self) -> list[QuestionAnswered]:
        """Return and clear the events of the questions asked since the last call."""
        events, self.events = self.events, []
        return events

    async def choose(self, situation: MoveQuestion) -> NextMove:
        """Return the move of the policy, or the one that a missing value allows once the user has given it."""
        choice = await self.pass_on(situation)
        lacking = choice.lacking
        if lacking is None or not self._may_ask:
            return choice
        parameter = lacking.parameter
        if choice.action != "give_up" and _build_need_key(lacking.tool, parameter) not in self._answers:
            return choice  # the policy goes on without the value, so the user is not bothered
        if not await self._get_answer(lacking.tool, parameter):
            return choice
        return NextMove("advance", f"its user was asked for {clean(parameter.name, 60)}", lacking.index)

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        """Return the arguments of the policy, completed by the user if the user can know all that are missing."""
        filled = await self.pass_on(question)
        open_parameters = [one for one in question.tool.parameters if one.name in filled.missing]
        if not open_parameters or not self._may_ask or not all(map(can_user_answer, open_parameters)):
            return filled
        answers: JsonObject = {}
        for one in open_parameters:
            answer = await self._get_answer(question.tool, one)
            if not answer:
                return filled
            answers[one.name] = parse_answer(answer, one)
        bindings = (Binding(parameter=name, origin="user", reference=ANSWERED) for name in answers)
        return CallArguments({**filled.values, **answers}, (*filled.provenance, *bindings))

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
                fault = find_fault(parse_answer(answer, parameter), tool, parameter) if reply else ""
                if not fault:
                    break
            self._answers[key] = answer
        return self._answers[key]

    async def _ask_user(self, tool: ToolDoc, parameter: Parameter, fault: str, attempt: int) -> str:
        choices = [format_scalar(one) for one in parameter.enum]
        identity = f"{self._subtask}:{tool.id}:{parameter.name}{f':{attempt}' if attempt else ''}"
        user_question = build_question(identity, _word_question(tool, parameter, fault), choices)
        event = await self._asking.ask(user_question, recorded=self._find_recorded(user_question.text))
        self.events.append(event)
        return event.answer


def _build_need_key(tool: ToolDoc, parameter: Parameter) -> tuple[str, str]:
    """Return the key of the remembered answer; parameters that one answer serves share it."""
    need = need_of(parameter)
    return (tool.id, parameter.name) if need.kind in _UNSHARED_KINDS or parameter.enum else (need.kind, need.role)


def _word_question(tool: ToolDoc, parameter: Parameter, fault: str = "") -> str:
    """Return the question for a value, with its name, description and form, and the tool that needs it.

    ``fault`` is what was wrong with the previous answer, if there was one.
    """
    name = " ".join(split_words(parameter.name)) or parameter.name
    description = clean(parameter.description, 140).rstrip(".")
    form = describe_form(parameter) or describe_parameter(parameter, closed=bool(parameter.enum))
    if fault:
        return f"Which {clean(name, 60)}? {clean(fault, 120).rstrip('.')}{f'; {form}' if form else ''}."
    details = "; ".join(part for part in (description, form) if part)
    return f"Which {clean(name, 60)}? {format_tool_title(tool)} needs it{f': {details}' if details else ''}."
