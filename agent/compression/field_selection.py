"""Selection of a response's fields by a policy, asked once per tool and remembered in the process and a store."""

import hashlib
import logging
from collections import OrderedDict

from agent.compression.json_paths import MAX_FIELDS, PathSelection, match_field_names
from agent.policy.protocol import FieldsQuestion, Policy
from domain.errors import FootpathError
from domain.tool import ToolDoc, ToolId
from graph.field_choices import FieldChoice, FieldChoiceStore
from graph.response_fields import output_fields

_log = logging.getLogger(__name__)
_MAX_CACHED = 4_096
"""Choices kept in memory, the latest used."""
_MAX_QUESTIONS = 4
"""Questions per tool and process, for tools whose responses differ in shape."""
_MIN_KNOWN_SHARE = 0.5
"""Share of a response's fields that an earlier choice must have seen to be used for it."""


class FieldChoices:
    """Choices of fields, shared by all runs of a process.

    A choice is kept by the tool's document and the policy that made it, so a change of either leads to a new one.
    """

    def __init__(self, store: FieldChoiceStore | None = None) -> None:
        self._store = store
        self._choices: OrderedDict[tuple[ToolId, str], FieldChoice] = OrderedDict()
        self._question_counts: dict[tuple[ToolId, str], int] = {}
        self._model_policies: set[str] = set()

    async def choose(self, question: FieldsQuestion, policy: Policy) -> tuple[str, ...]:
        """Return the fields of a response to keep; empty if none of its fields were chosen.

        The policy is asked if no choice is known, and again if the known one does not fit the response: most of its
        fields are new, or none would be left.
        """
        key = (question.tool.id, compute_choice_basis(question.tool, policy.name))
        choice = await self._load_choice(key)
        if choice is None or (
            not _fits_fields(choice, question.fields) and self._question_counts.get(key, 0) < _MAX_QUESTIONS
        ):
            choice = await self._ask(key, question, policy, choice)
        return choice.kept if _keeps_any(choice.kept, question.fields) else ()

    async def _ask(
        self, key: tuple[ToolId, str], question: FieldsQuestion, policy: Policy, earlier: FieldChoice | None
    ) -> FieldChoice:
        """Ask the policy, merge its answer with the earlier choice, and keep the result.

        The earlier choice stays valid for the fields it was made from. If the policy fails, it is returned unchanged.
        """
        documented = (field.path for field in output_fields(question.tool) if field.path)
        fields = tuple(dict.fromkeys((*question.fields, *documented)))[:MAX_FIELDS]
        notice_count, call_count = len(policy.notices), policy.cost.model_calls
        try:
            answered_names = await policy.decide(FieldsQuestion(question.tool, question.response, fields))
        except FootpathError as error:
            _log.warning("no fields chosen for %s: %s", question.tool.id, error)
            return earlier or FieldChoice((), ())
        self._question_counts[key] = self._question_counts.get(key, 0) + 1
        kept_fields = match_field_names(answered_names, fields)
        if earlier:
            kept_fields = tuple(dict.fromkeys((*kept_fields, *earlier.kept)))[:MAX_FIELDS]
            fields = tuple(dict.fromkeys((*fields, *earlier.known)))[: 2 * MAX_FIELDS]
        choice = FieldChoice(kept_fields, fields)
        if policy.cost.model_calls:
            self._model_policies.add(policy.name)
        by_model = policy.cost.model_calls > call_count
        if len(policy.notices) == notice_count and (by_model or policy.name not in self._model_policies):
            # Otherwise the rules have answered in place of a policy with a model, and only for this once.
            await self._store_choice(key, choice)
        return choice

    async def _load_choice(self, key: tuple[ToolId, str]) -> FieldChoice | None:
        """Return the known choice, from memory or the store."""
        choice = self._choices.get(key)
        if choice is None and self._store is not None:
            try:
                choice = await self._store.recall(*key)
            except FootpathError as error:
                self._drop_store(error)
            if choice is not None:
                self._cache_choice(key, choice)
        return choice

    async def _store_choice(self, key: tuple[ToolId, str], choice: FieldChoice) -> None:
        self._cache_choice(key, choice)
        if self._store is not None:
            try:
                await self._store.keep(*key, choice)
            except FootpathError as error:
                self._drop_store(error)

    def _cache_choice(self, key: tuple[ToolId, str], choice: FieldChoice) -> None:
        self._choices[key] = choice
        self._choices.move_to_end(key)
        while len(self._choices) > _MAX_CACHED:
            self._question_counts.pop(self._choices.popitem(last=False)[0], None)

    def _drop_store(self, error: FootpathError) -> None:
        """Go on without a store that fails: losing choices must not fail a run."""
        _log.warning("choices of fields are kept in this process only: %s", error)
        self._store = None


def compute_choice_basis(tool: ToolDoc, policy: str) -> str:
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


def _fits_fields(choice: FieldChoice, fields: tuple[str, ...]) -> bool:
    """Check if a choice was made from enough of these fields, and would keep any of them."""
    known_fields = PathSelection.from_paths(choice.known)
    covered = sum(known_fields.covers(path) for path in fields)
    return covered >= _MIN_KNOWN_SHARE * len(fields) and (not choice.kept or _keeps_any(choice.kept, fields))


def _keeps_any(kept_fields: tuple[str, ...], fields: tuple[str, ...]) -> bool:
    """Check if any of these fields is kept."""
    selection = PathSelection.from_paths(kept_fields)
    return any(selection.covers(path) for path in fields)
