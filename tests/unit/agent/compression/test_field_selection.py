"""Which fields to keep is asked once per tool, kept, and asked again when the tool or the shape of its responses is another."""

from collections.abc import Sequence

import pytest

from agent.compression.field_selection import FieldChoices, compute_choice_basis
from agent.policy.protocol import FieldsQuestion, PolicyNotice
from domain.errors import UnavailableError
from domain.tool import ToolId
from graph.field_choices import FieldChoice
from tests.unit.agent.compression.test_compress import Naming, tool


class Kept:
    """``KeptFields`` in a dictionary; ``broken``: as a store is that cannot be written."""

    def __init__(self, *, broken: bool = False) -> None:
        self.rows: dict[tuple[ToolId, str], FieldChoice] = {}
        self.calls = 0
        self._broken = broken

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None:
        self.calls += 1
        if self._broken:
            raise UnavailableError("the file cannot be opened")
        return self.rows.get((tool, basis))

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        self.rows[tool, basis] = choice

    async def close(self) -> None: ...


def question(*fields: str) -> FieldsQuestion:
    return FieldsQuestion(tool(), "{}", fields)


async def chosen(choices: FieldChoices, policy: Naming, *fields: str) -> Sequence[str]:
    return await choices.choose(question(*fields), policy)


async def test_asked_once_in_a_process_and_once_for_all_processes_of_a_store() -> None:
    store, policy = Kept(), Naming("a", "c")
    first = FieldChoices(store)
    assert [await chosen(first, policy, "a", "b", "c") for _ in range(3)] == [("a", "c")] * 3
    assert await chosen(FieldChoices(store), policy, "a", "b", "c") == ("a", "c")
    assert len(policy.asked) == 1
    assert list(store.rows.values()) == [FieldChoice(("a", "c"), ("a", "b", "c"))]


async def test_another_policy_or_another_document_is_another_choice() -> None:
    choices, one, other = FieldChoices(), Naming("a"), Naming("b")
    other.name = "other"
    assert await chosen(choices, one, "a", "b") == ("a",)
    assert await chosen(choices, other, "a", "b") == ("b",)
    changed = FieldsQuestion(tool(description="Now something else"), "{}", ("a", "b"))
    await choices.choose(changed, one)
    assert len(one.asked) == 2
    assert compute_choice_basis(tool(), "x") != compute_choice_basis(tool(description="Now something else"), "x")


async def test_a_few_new_fields_are_left_out_and_another_shape_is_asked_about() -> None:
    choices, policy = FieldChoices(), Naming("a", "x")
    assert await chosen(choices, policy, "a", "b", "c") == ("a",)
    assert await chosen(choices, policy, "a", "b", "new") == ("a",)
    assert len(policy.asked) == 1
    assert await chosen(choices, policy, "x", "y", "z") == ("x", "a")
    assert await chosen(choices, policy, "a", "b", "c") == ("x", "a")
    assert len(policy.asked) == 2


async def test_a_tool_that_always_answers_otherwise_is_not_asked_about_for_ever() -> None:
    choices, policy = FieldChoices(), Naming()
    for n in range(20):
        assert await chosen(choices, policy, f"a{n}", f"b{n}") == ()
    assert len(policy.asked) == 4


async def test_what_another_policy_said_in_its_place_is_not_kept() -> None:
    class Falling(Naming):
        async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
            self.notices.append(PolicyNotice("naming", "offline", "the model is down"))
            return await super().fields_to_keep(question)

    store, policy = Kept(), Falling("a")
    assert await chosen(FieldChoices(store), policy, "a", "b") == ("a",)
    assert store.rows == {}


async def test_a_store_that_cannot_be_used_is_done_without(caplog: pytest.LogCaptureFixture) -> None:
    store, policy = Kept(broken=True), Naming("a")
    choices = FieldChoices(store)
    assert await chosen(choices, policy, "a", "b") == ("a",)
    assert await chosen(choices, policy, "a", "b") == ("a",)
    assert (store.calls, len(policy.asked)) == (1, 1)
    assert "the file cannot be opened" in caplog.text


async def test_what_was_answered_without_the_model_of_a_policy_that_has_one_is_not_kept() -> None:
    class Modelled(Naming):
        working = True

        async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
            self.cost.model_calls += self.working
            return await super().fields_to_keep(question)

    store, policy = Kept(), Modelled("a", "x")
    choices = FieldChoices(store)
    assert await chosen(choices, policy, "a", "b") == ("a",)
    policy.working = False
    assert await chosen(choices, policy, "x", "y") == ("x", "a")
    assert [row.kept for row in store.rows.values()] == [("a",)]
