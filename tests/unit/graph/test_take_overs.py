"""What a document may change of a tool that is there, and what needs somebody's word."""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest

from domain.errors import BrokenInputError
from domain.side_effect import DeclaredEffect
from domain.tool import Credential, ToolDoc, ToolId, make_tool_id
from graph.backends.in_memory import InMemoryGraph
from graph.facts import ToolFacts
from graph.ingest import GraphImporter, ImportResult
from graph.shapes import infer_shape
from graph.take_overs import IdentityChange, ImportAdmission, TakeOver, find_sensitive_changes
from tests.support.bank_documents import EVIL, KEY, OURS, PAY, other, written
from tests.support.graph_samples import walked


def with_key(change: dict[str, Any]) -> dict[str, Any]:
    return {"keys": {"key": KEY}} | change


def quiet(stage: str, done: int, total: int | None) -> None:
    """No progress is shown."""


class Store:
    """A graph with what was forgotten beside it."""

    def __init__(self) -> None:
        self.graph = InMemoryGraph()
        self.forgotten: list[ToolId] = []

    async def take(self, *paths: Path, replace: bool = False, strict: bool = False) -> ImportResult:
        told: list[TakeOver] = []
        admission = ImportAdmission(self.graph, replace, self._forget, told.append)
        ingest = GraphImporter(self.graph, None, quiet, strict=strict, admission=admission)
        await ingest.import_tools(paths)
        assert ingest.result.take_overs == told
        return ingest.result

    async def _forget(self, tools: Collection[ToolId]) -> None:
        self.forgotten += tools

    async def pay(self) -> ToolDoc:
        return (await self.graph.get_tools([PAY]))[PAY]


@pytest.fixture
async def store(tmp_path: Path) -> Store:
    """The bank's own document, imported and used."""
    store = Store()
    await store.take(written(tmp_path / "bank.json", keys={"key": KEY}))
    await store.graph.learn(walked("r", PAY))
    return store


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"host": EVIL}, "host"),
        ({"host": "http://bank.example"}, "host"),
        ({"host": "https://bank.example:8443"}, "host"),
        ({"method": "get"}, "method"),
        ({"keys": None}, "credentials"),
        ({"keys": {"other": KEY}}, "credentials"),
        ({"keys": {"key": KEY | {"in": "query"}}}, "credentials"),
        ({"keys": {"key": {"type": "http", "scheme": "bearer"}}}, "credentials"),
    ],
    ids=str,
)
@pytest.mark.parametrize("name", ["bank.json", "evil.json"])
async def test_a_take_over_is_refused_whoever_makes_it(
    store: Store, tmp_path: Path, change: dict[str, Any], what: str, name: str
) -> None:
    before, facts = await store.pay(), await store.graph.get_facts([PAY])
    second = written(tmp_path / "new" / name, **with_key(change))
    found = await store.take(second)
    (refused,) = found.refused
    assert (refused.tool, refused.known, refused.source) == (PAY, "openapi:bank.json", str(second))
    assert what in [one.what for one in refused.changes]
    assert "--replace" in refused.advice
    assert (await store.pay(), await store.graph.get_facts([PAY])) == (before, facts)
    assert await store.graph.get_tools([make_tool_id("Bank", "Bank", other(second))])
    with pytest.raises(BrokenInputError, match="--strict"):
        await store.take(second, strict=True)


async def test_a_new_edition_comes_freely_from_wherever_it_lies(store: Store, tmp_path: Path) -> None:
    for name in ("bank.json", "moved.json"):
        edition = written(tmp_path / "new" / name, "HTTPS://BANK.example:443/v2", route="/transfers", keys={"key": KEY})
        assert (await store.take(edition)).take_overs == []
        assert (await store.pay()).url.endswith("/v2/transfers")
    assert (await store.graph.get_facts([PAY]))[PAY].ok == 1
    assert store.forgotten == []


async def test_with_the_word_it_is_done_and_what_was_learnt_begins_anew(store: Store, tmp_path: Path) -> None:
    await store.graph.put_tools([(await store.pay()).model_copy(update={"marked": "reads"})])
    await store.graph.learn_answers({PAY: [infer_shape({"payment": 1})]})
    found = await store.take(written(tmp_path / "new.json", EVIL, keys={"key": KEY}), replace=True)
    (done,) = found.take_overs
    assert (done.replaced, done.changes, found.refused) == (True, (IdentityChange("host", OURS, EVIL),), [])
    assert ((await store.pay()).host, (await store.pay()).marked) == ("evil.example", "")
    assert (await store.pay()).learnt_response is None
    assert (await store.graph.get_facts([PAY]))[PAY] == ToolFacts()
    assert await store.graph.get_lessons(PAY) == []
    assert store.forgotten == [PAY]


async def test_other_keys_at_the_same_host_leave_the_evidence(store: Store, tmp_path: Path) -> None:
    found = await store.take(written(tmp_path / "new.json", keys={"other": KEY}), replace=True)
    assert [one.replaced for one in found.take_overs] == [True]
    assert (await store.graph.get_facts([PAY]))[PAY].ok == 1
    assert store.forgotten == []


@pytest.mark.parametrize("replace", [False, True])
async def test_of_two_documents_in_one_import_the_first_counts(tmp_path: Path, replace: bool) -> None:
    first, second = written(tmp_path / "bank.json"), written(tmp_path / "evil.json", EVIL)
    store = Store()
    for _ in range(2):  # the same command again
        found = await store.take(first, second, replace=replace)
        assert [(one.tool, one.source) for one in found.refused] == [(PAY, str(second))]
        assert (await store.pay()).host == "bank.example"
        assert found.duplicates == []
    again = await store.take(first, written(tmp_path / "copy.json"), replace=replace)
    assert (again.take_overs, again.duplicates) == ([], [PAY])


async def test_a_first_address_needs_the_word_and_leaves_what_was_recorded(tmp_path: Path) -> None:
    store = Store()
    await store.take(written(tmp_path / "bank.json", "/relative"))
    await store.graph.learn(walked("r", PAY))
    second = written(tmp_path / "new.json")
    assert [one.changes for one in (await store.take(second)).refused] == [(IdentityChange("host", "", OURS),)]
    await store.take(second, replace=True)
    assert (await store.graph.get_facts([PAY]))[PAY].ok == 1


@pytest.mark.parametrize(
    ("source", "said", "changed"), [("a", "reads", ()), ("b", "changes", ()), ("b", "reads", ("side effect",))]
)
def test_only_its_own_source_says_that_a_tool_reads(
    source: str, said: DeclaredEffect, changed: tuple[str, ...]
) -> None:
    tool = ToolDoc(id=PAY, category="", toolset="", api="pay", function="", method="POST", source="a", marked="reads")
    new = tool.model_copy(update={"source": source, "side_effect": said, "marked": ""})
    assert tuple(one.what for one in find_sensitive_changes(tool, new)) == changed


def test_whether_a_key_is_optional_changes_no_tool() -> None:
    tool = ToolDoc(id=PAY, category="", toolset="", api="pay", function="", credentials=(Credential(secret="s"),))
    optional = tool.model_copy(update={"credentials": (Credential(secret="s", required=False),)})
    assert find_sensitive_changes(tool, optional) == ()


async def test_what_answers_look_like_stays_with_a_new_edition(store: Store, tmp_path: Path) -> None:
    await store.graph.learn_answers({PAY: [infer_shape({"payment": 1})]})
    learnt = (await store.pay()).learnt_response
    await store.take(written(tmp_path / "bank.json", route="/transfers", keys={"key": KEY}))
    assert (await store.pay()).url.endswith("/transfers")
    assert (await store.pay()).learnt_response == learnt is not None


async def test_an_administrators_mark_stays_with_a_new_edition(store: Store, tmp_path: Path) -> None:
    await store.graph.put_tools([(await store.pay()).model_copy(update={"marked": "reads"})])
    await store.take(written(tmp_path / "new.json", keys={"key": KEY}))
    assert (await store.pay()).marked == "reads"
    await store.graph.put_tools([(await store.pay()).model_copy(update={"marked": "changes"})])
    await store.take(written(tmp_path / "new.json", EVIL, keys={"key": KEY}), replace=True)
    assert ((await store.pay()).marked, (await store.pay()).host) == ("changes", "evil.example")
