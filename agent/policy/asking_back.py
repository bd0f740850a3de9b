"""A policy that asks the user for a required value that nothing else supplies, instead of giving up."""

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
"""Kinds of values that only another tool supplies, or that nobody may tell."""
_LOOSE: frozenset[NeedKind] = frozenset({"text", "query", "entity", "amount", "number", "boolean"})
"""Kinds for which one answer cannot serve two parameters, as they need not mean the same thing."""
_TIMES = 2
"""Questions for one value; the second follows an answer that cannot be sent."""


def can_be_told(parameter: Parameter) -> bool:
    """Check if a person would know the value: neither a key nor an id that only another tool supplies."""
    return need_of(parameter).kind not in _FOUND_OUT


class AskingBack(Delegating):
    """Policy of one subtask that asks the user for missing values.

    Each parameter of a tool is asked for once; of several that want the same kind of value, only the first one.
    """

    def __init__(
        self,
        policy: Policy,
        asking: Asking,
        subtask: int,
        recorded: Callable[[str], QuestionAnswered | None],
        *,
        chosen: bool = True,
    ) -> None:
        """Wrap ``policy``.

        ``recorded`` finds the event of a question that was asked before the run was interrupted. ``chosen`` is False for tools
        that were only found and may be of no use: they are not worth a question.
        """
        super().__init__(policy)
        self._may_ask = chosen and asking.somebody
        self._asking = asking
        self._subtask = subtask
        self._recorded = recorded
        self._answers: dict[tuple[str, str], str] = {}
        self.events: list[QuestionAnswered] = []  # asked, and not yet emitted

    def told(self) -> list[QuestionAnswered]:
        """Return the questions asked since the last call, and forget them."""
        events, self.events = self.events, []
        return events

    async def choose(self, situation: Situation) -> Choice:
        """Return the policy's move; if a value was missing and the user gave it, the move that it allows."""
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
        """Return the policy's values, with those that the user gives for the missing ones."""
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
        """Return the user's answer for a parameter; empty if they give none.

        An answer that does not fit is explained, and asked for once more. Answers are kept, empty ones too.
        """
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
    """Return the key that parameters share if one answer serves them all."""
    need = need_of(parameter)
    return (tool.id, parameter.name) if need.kind in _LOOSE or parameter.enum else (need.kind, need.role)


def _wording(tool: ToolDoc, parameter: Parameter, wrong: str = "") -> str:
    """Word the question for a value, with its name, description and form, and the tool that needs it.

    ``wrong`` says what was wrong with the previous answer.
    """
    named = " ".join(words(parameter.name)) or parameter.name
    described = clean(parameter.description, 140).rstrip(".")
    form = form_told(parameter) or notes(parameter, closed=bool(parameter.enum))
    if wrong:
        return f"Which {clean(named, 60)}? {clean(wrong, 120).rstrip('.')}{f'; {form}' if form else ''}."
    told = "; ".join(part for part in (described, form) if part)
    return f"Which {clean(named, 60)}? {title(tool)} needs it{f': {told}' if told else ''}."
