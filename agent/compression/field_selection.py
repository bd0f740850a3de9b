"""Asks a policy once per tool which fields to keep, and keeps its answer: in the process, and in a store if there is one."""

import hashlib
import logging
from collections import OrderedDict

from agent.compression.json_paths import MAX_FIELDS, Selection, named_fields
from agent.policy.protocol import FieldsQuestion, Policy
from domain.errors import FootpathError
from domain.tool import ToolDoc, ToolId
from graph.field_choices import FieldChoice, FieldChoiceStore
from graph.response_fields import output_fields

_log = logging.getLogger(__name__)
_IN_PROCESS = 4_096
_ASKED_ANEW = 4
"""How often a tool whose responses differ in shape is asked about within a process."""
_KNOWN_ENOUGH = 0.5


class FieldChoices:
    """The choices that all runs of a process share. A choice rests on the tool's document and on who made it."""

    def __init__(self, store: FieldChoiceStore | None = None) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[ToolId, str], FieldChoice] = OrderedDict()
        self._asked: dict[tuple[ToolId, str], int] = {}
        self._with_model: set[str] = set()

    async def choose(self, question: FieldsQuestion, policy: Policy) -> tuple[str, ...]:
        """The fields to keep of this response: empty where there is nothing to choose, or nobody can.

        The policy is asked where nothing is kept, and again where a response has another shape than was known: most of its
        fields are new, or none of it would be left.
        """
        key = (question.tool.id, basis_of(question.tool, policy.name))
        known = await self._recall(key)
        if known is None or (not _fits(known, question.fields) and self._asked.get(key, 0) < _ASKED_ANEW):
            known = await self._ask(key, question, policy, known)
        return known.kept if _selects(known.kept, question.fields) else ()

    async def _ask(
        self, key: tuple[ToolId, str], question: FieldsQuestion, policy: Policy, known: FieldChoice | None
    ) -> FieldChoice:
        """A new answer, joined with the earlier one, which holds for what it was about."""
        documented = (field.path for field in output_fields(question.tool) if field.path)
        fields = tuple(dict.fromkeys((*question.fields, *documented)))[:MAX_FIELDS]
        told, calls = len(policy.notices), policy.cost.model_calls
        try:
            named = await policy.decide(FieldsQuestion(question.tool, question.response, fields))
        except FootpathError as error:
            _log.warning("no fields chosen for %s: %s", question.tool.id, error)
            return known or FieldChoice((), ())
        self._asked[key] = self._asked.get(key, 0) + 1
        kept = named_fields(named, fields)
        if known:
            kept = tuple(dict.fromkeys((*kept, *known.kept)))[:MAX_FIELDS]
            fields = tuple(dict.fromkeys((*fields, *known.known)))[: 2 * MAX_FIELDS]
        choice = FieldChoice(kept, fields)
        if policy.cost.model_calls:
            self._with_model.add(policy.name)
        by_model = policy.cost.model_calls > calls
        if len(policy.notices) == told and (by_model or policy.name not in self._with_model):
            await self._keep(key, choice)  # else another policy answered in place of one with a model, for this once
        return choice

    async def _recall(self, key: tuple[ToolId, str]) -> FieldChoice | None:
        found = self._kept.get(key)
        if found is None and self._store is not None:
            try:
                found = await self._store.recall(*key)
            except FootpathError as error:
                self._without_store(error)
            if found is not None:
                self._remember(key, found)
        return found

    async def _keep(self, key: tuple[ToolId, str], choice: FieldChoice) -> None:
        self._remember(key, choice)
        if self._store is not None:
            try:
                await self._store.keep(*key, choice)
            except FootpathError as error:
                self._without_store(error)

    def _remember(self, key: tuple[ToolId, str], choice: FieldChoice) -> None:
        self._kept[key] = choice
        self._kept.move_to_end(key)
        while len(self._kept) > _IN_PROCESS:
            self._asked.pop(self._kept.popitem(last=False)[0], None)

    def _without_store(self, error: FootpathError) -> None:
        """What cannot be kept is asked for again: a run must not fail for it."""
        _log.warning("choices of fields are kept in this process only: %s", error)
        self._store = None


def basis_of(tool: ToolDoc, policy: str) -> str:
    """A digest of what a choice rests on: the document's words and shape, where it is called, and the policy."""
    parts = (
        policy,
        tool.method,
        tool.host,
        tool.api,
        tool.description,
        tool.response_schema or "",
        tool.example_response or "",
    )
    text = "\0".join((*parts, *(parameter.name for parameter in tool.parameters)))
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _fits(choice: FieldChoice, fields: tuple[str, ...]) -> bool:
    known = Selection.of(choice.known)
    covered = sum(known.covers(path) for path in fields)
    return covered >= _KNOWN_ENOUGH * len(fields) and (not choice.kept or _selects(choice.kept, fields))


def _selects(kept: tuple[str, ...], fields: tuple[str, ...]) -> bool:
    selection = Selection.of(kept)
    return any(selection.covers(path) for path in fields)
