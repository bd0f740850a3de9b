"""A policy that asks its user for a value that is required and that nothing gives, where it would else give up."""

from collections.abc import Callable

from agent.asking import Asking, question
from agent.parameters.kinds import UNTOUCHED, NeedKind
from agent.parameters.needs import need_of
from agent.policy.delegating import Delegating
from agent.policy.object_answers import fault_of, form_told, value_of
from agent.policy.protocol import Arguments, ArgumentsQuestion, Choice, Policy, Situation
from agent.programs.bindings import ANSWERED
from agent.programs.notes import notes
from agent.text import clean, shown, title
from domain.event import QuestionAnswered
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import Parameter, ToolDoc
from graph.identifiers import words

_FOUND_OUT: frozenset[NeedKind] = frozenset({"identifier", "latitude", "longitude", "coordinates", *UNTOUCHED})
"""Kinds that only another tool gives, or that are nobody's to tell."""
_LOOSE: frozenset[NeedKind] = frozenset({"text", "query", "entity", "amount", "number", "boolean"})
"""Kinds of which two parameters need not mean the same thing."""
_TIMES = 2
"""How often a value is asked for, where what was said first is none that can be sent."""


def can_be_told(parameter: Parameter) -> bool:
    """Whether a person would know its value: no id that only another tool gives, and no key."""
    return need_of(parameter).kind not in _FOUND_OUT


class AskingBack(Delegating):
    """One subtask's. Each parameter of a tool is asked for once, and of several that want the same kind of thing the first. ``events``: what was asked and is still to be told."""

    def __init__(
        self,
        policy: Policy,
        asking: Asking,
        subtask: int,
        recorded: Callable[[str], QuestionAnswered | None],
        *,
        chosen: bool = True,
    ) -> None:
        """``recorded``: what became of a question, where it was asked before the run was broken off. ``chosen``: whether the tools were; one that was only
        found, and may be of no use, is worth no question.
        """
        super().__init__(policy)
        self._may_ask = chosen and asking.somebody
        self._asking = asking
        self._subtask = subtask
        self._recorded = recorded
        self._answers: dict[tuple[str, str], str] = {}
        self.events: list[QuestionAnswered] = []

    def told(self) -> list[QuestionAnswered]:
        """What was asked since it was told last."""
        events, self.events = self.events, []
        return events

    async def choose(self, situation: Situation) -> Choice:
        """The policy's move; where it lacks a value for one that would serve, and its user tells it, that one."""
        choice = await self.pass_on(situation)
        lacking = choice.lacking
        if lacking is None or not self._may_ask:
            return choice
        parameter = lacking.parameter
        if choice.action != "give_up" and _wanted(lacking.tool, parameter) not in self._answers:
            return choice  # there may be another way
        if not await self._answer(lacking.tool, parameter):
            return choice
        return Choice("advance", f"its user was asked for {clean(parameter.name, 60)}", lacking.index)

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """The policy's values, with those that its user tells."""
        found = await self.pass_on(question)
        open_ones = [one for one in question.tool.parameters if one.name in found.missing]
        if not open_ones or not self._may_ask or not all(map(can_be_told, open_ones)):
            return found
        said: JsonObject = {}
        for one in open_ones:
            answer = await self._answer(question.tool, one)
            if not answer:
                return found
            said[one.name] = value_of(answer, one)
        bindings = (Binding(parameter=name, origin="user", reference=ANSWERED) for name in said)
        return Arguments({**found.values, **said}, (*found.provenance, *bindings))

    async def _answer(self, tool: ToolDoc, parameter: Parameter) -> str:
        """What its user says for a parameter; empty where they do not. What does not fit is said, and it is asked for once more."""
        key = _wanted(tool, parameter)
        if key not in self._answers:
            wrong, answer = "", ""
            for time in range(_TIMES):
                said = await self._asked(tool, parameter, wrong, time)
                answer = said or answer
                wrong = fault_of(value_of(answer, parameter), tool, parameter) if said else ""
                if not wrong:
                    break
            self._answers[key] = answer
        return self._answers[key]

    async def _asked(self, tool: ToolDoc, parameter: Parameter, wrong: str, time: int) -> str:
        choices = [shown(one) for one in parameter.enum]
        identity = f"{self._subtask}:{tool.id}:{parameter.name}{f':{time}' if time else ''}"
        asked = question(identity, _wording(tool, parameter, wrong), choices)
        event = await self._asking.ask(asked, recorded=self._recorded(asked.text))
        self.events.append(event)
        return event.answer


def _wanted(tool: ToolDoc, parameter: Parameter) -> tuple[str, str]:
    """What two parameters have in common that one answer is for."""
    need = need_of(parameter)
    return (tool.id, parameter.name) if need.kind in _LOOSE or parameter.enum else (need.kind, need.role)


def _wording(tool: ToolDoc, parameter: Parameter, wrong: str = "") -> str:
    """A question for a value, by its name, its description, its form and what needs it. ``wrong``: what is so with what was said before."""
    named = " ".join(words(parameter.name)) or parameter.name
    described = clean(parameter.description, 140).rstrip(".")
    form = form_told(parameter) or notes(parameter, closed=bool(parameter.enum))
    if wrong:
        return f"Which {clean(named, 60)}? {clean(wrong, 120).rstrip('.')}{f'; {form}' if form else ''}."
    told = "; ".join(part for part in (described, form) if part)
    return f"Which {clean(named, 60)}? {title(tool)} needs it{f': {told}' if told else ''}."
