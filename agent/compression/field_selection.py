"""Selection of a response's fields by a policy, asked once per tool and remembered in the process and a store."""

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
"""Choices kept in memory, the latest used."""
_ASKED_ANEW = 4
"""Questions per tool and process, for tools whose responses differ in shape."""
_KNOWN_ENOUGH = 0.5
"""Share of a response's fields that an earlier choice must have seen to be used for it."""


class FieldChoices:
    """Choices of fields, shared by all runs of a process.

    A choice is kept by the tool's document and the policy that made it, so a change of either leads to a new one.
    """

    def __init__(self, store: FieldChoiceStore | None = None) -> None:
        self._store = store
        self._kept: OrderedDict[tuple[ToolId, str], FieldChoice] = OrderedDict()
        self._asked: dict[tuple[ToolId, str], int] = {}
        self._with_model: set[str] = set()

    async def choose(self, question: FieldsQuestion, policy: Policy) -> tuple[str, ...]:
        """Return the fields of a response to keep; empty if none of its fields were chosen.

        The policy is asked if no choice is known, and again if the known one does not fit the response: most of its
        fields are new, or none would be left.
        """
        key = (question.tool.id, basis_of(question.tool, policy.name))
        known = await self._recall(key)
        if known is None or (not _fits(known, question.fields) and self._asked.get(key, 0) < _ASKED_ANEW):
            known = await self._ask(key, question, policy, known)
        return known.kept if _selects(known.kept, question.fields) else ()

    async def _ask(
        self, key: tuple[ToolId, str], question: FieldsQuestion, policy: Policy, known: FieldChoice | None
    ) -> FieldChoice:
        """Ask the policy, merge its answer with the earlier choice, and keep the result.

        The earlier choice stays valid for the fields it was made from. If the policy fails, it is returned unchanged.
        """
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
            # Otherwise the rules have answered in place of a policy with a model, and only for this once.
            await self._keep(key, choice)
        return choice

    async def _recall(self, key: tuple[ToolId, str]) -> FieldChoice | None:
        """Return the known choice, from memory or the store."""
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
        """Go on without a store that fails: losing choices must not fail a run."""
        _log.warning("choices of fields are kept in this process only: %s", error)
        self._store = None


def basis_of(tool: ToolDoc, policy: str) -> str:
    """Return a digest of all that a choice depends on: the tool's document, its host, and the policy's name."""
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
    """Check if a choice was made from enough of these fields, and would keep any of them."""
    known = Selection.of(choice.known)
    covered = sum(known.covers(path) for path in fields)
    return covered >= _KNOWN_ENOUGH * len(fields) and (not choice.kept or _selects(choice.kept, fields))


def _selects(kept: tuple[str, ...], fields: tuple[str, ...]) -> bool:
    """Check if any of these fields is kept."""
    selection = Selection.of(kept)
    return any(selection.covers(path) for path in fields)
