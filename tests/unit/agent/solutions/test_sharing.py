"""What owners share: by an administrator's word, or once several have come to it alone; and nothing of any one of them."""

from typing import Any

import pytest

from agent.solutions.library import SolutionLibrary
from domain.errors import ConflictError
from domain.solution import Solution
from graph.backends.in_memory import InMemoryPatterns, InMemorySolutions
from retriever.embedders.onnx_embedder import OnnxEmbedder
from tests.support.scholar_tools import COUNT, PAPERS, PERSON, Catalogue, solution

MANY = "How many papers has {name} written?"
ASKED = "How many papers has Tom Riddle written?"
OWNERS = ("ann", "bob", "eve")
CHANGING = Catalogue()
CHANGING.docs[PERSON] = CHANGING.docs[PERSON].model_copy(update={"marked": "changes"})


class Shelf:
    """A store of solutions with the libraries of its owners."""

    def __init__(self, catalogue: Catalogue | None = None) -> None:
        self.store, self.index, self.embedder = InMemorySolutions(), InMemoryPatterns(), OnnxEmbedder()
        self.catalogue = catalogue or Catalogue()

    def of(self, owner: str = "") -> SolutionLibrary:
        """One owner's library."""
        return SolutionLibrary(self.store, self.index, self.embedder, owner, self.catalogue, shares_by_agreement=True)

    async def shared(self) -> list[Solution]:
        """What all see."""
        return [one async for one in self.of().iterate_all()]

    async def served(self, owner: str, given: Solution, *, planned: bool = True) -> None:
        """An owner's solution, which has served once since. ``planned``: by a run of the owner's."""
        asked = given.patterns if planned else ()
        (name,) = await self.of(owner).add([given.model_copy(update={"owner": owner, "planned": asked})])
        await self.of(owner).record_outcome(name, good=True, run=f"{owner}'s run")


async def test_what_several_owners_came_to_is_shared() -> None:
    shelf = Shelf()
    for number, owner in enumerate(OWNERS):
        assert await shelf.shared() == []
        await shelf.served(owner, solution(COUNT, MANY, runs=(f"run {number}",)))
    (one,) = await shelf.shared()
    assert (one.patterns, one.good, one.runs, one.verdicts) == ((MANY,), 3, (), {})
    assert [near.solution.id for near in await shelf.of("dan").find_near(ASKED, 3)] == [one.id]
    await shelf.of("ann").record_outcome(f"{one.id}", good=True, run="one more")
    assert [kept.good for kept in await shelf.shared()] == [4]


async def test_nothing_of_one_owner_alone_goes_with_it() -> None:
    shelf = Shelf()
    texts = [
        COUNT.replace("papers = ", "zanzibar = ").replace("{len(papers)} papers", "project falcon has {len(zanzibar)} papers"),
        COUNT.replace("people", "hush_hush") + "  # for the gala",
        COUNT.replace("(name=name", "(name=boss"),
    ]  # fmt: skip
    asked = [MANY, "How many papers has {name} of project falcon written?", MANY.replace("{name}", "{boss}")]
    for owner, text, pattern in zip(OWNERS, texts, asked, strict=True):
        inputs = ("boss",) if "boss" in text else ("name",)
        await shelf.served(owner, solution(text, pattern, owner=owner, inputs=inputs, wrong=()))
    (one,) = await shelf.shared()
    told = one.model_dump_json()
    assert one.patterns == (MANY,)
    assert not [
        word
        for word in ("zanzibar", "falcon", "hush", "gala", "boss", "ann")
        if f'"{word}' in told or f" {word}" in told
    ]
    assert "papers" in one.plan.program.text
    assert list(one.plan.inputs) == ["name"]


async def test_what_one_owner_asks_it_for_is_asked_of_no_other() -> None:
    """Each of its words is in the documents, and the program does something else."""
    shelf = Shelf()
    for owner in OWNERS:
        more = ("Where they work: {name}",) if owner == "eve" else ()
        await shelf.served(owner, solution(COUNT, MANY, *more))
    assert [one.patterns for one in await shelf.shared()] == [(MANY,)]


async def test_what_one_owner_says_of_an_input_or_writes_beside_an_answer_goes_nowhere() -> None:
    shelf = Shelf()
    written = """def falcon(zanzibar: "as the gala has it") -> "the gala's":
    return len(zanzibar)
people: "of the gala" = await searchPerson(name=name)
papers = await getPapers(id=people[0]["id"])
{"answered": "yes", "answer": " ".join([f"gala {falcon(papers)} papers"])}"""
    for owner in OWNERS:
        one = solution(written.replace("gala", f"{owner}land"), MANY)
        schema = {"type": "string", "description": f"of {owner}land", "x-parameter": f"{owner}land", "x-looks": "name"}
        plan = one.plan.model_copy(update={"inputs": {"name": schema}})
        await shelf.served(owner, one.model_copy(update={"plan": plan}))
    (one,) = await shelf.shared()
    assert "land" not in one.model_dump_json()
    assert one.plan.inputs == {"name": {"type": "string", "x-looks": "name"}}
    assert one.id in {owned.id.partition(".")[0] for owned in await shelf.store.list_by_program(one.id)}


async def test_a_change_by_another_name_is_no_less_one() -> None:
    shelf = Shelf(CHANGING)
    text = 'find = searchPerson\npapers = await getPapers(id=(await find(name=name))[0]["id"])\nf"{len(papers)} papers"'
    for owner in OWNERS:
        await shelf.served(owner, solution(text, MANY).model_copy(update={"path": (PAPERS,)}))
    assert await shelf.shared() == []


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("of too few owners", {"owners": ("ann", "bob", "bob")}),
        ("one of which was wrong", {"wrong": ("How many?",)}),
        ("one of which failed more often than it served", {"bad": 3}),
        ("one of which was written after foreign data was shown", {"tainted": True}),
        ("one of which nobody has run", {"origin": "mined"}),
        ("one of which a user sent", {"origin": "person"}),
        ("one of which no run planned", {"unplanned": True}),
        ("with another constant", {"text": COUNT.replace("[0]", "[1]")}),
        ("that may change something", {"catalogue": CHANGING}),
    ],
)
async def test_it_is_not_shared(what: str, change: dict[str, Any]) -> None:
    owners = change.pop("owners", OWNERS)
    shelf = Shelf(change.pop("catalogue", None))
    unplanned = bool(change.pop("unplanned", False))
    text, tainted = str(change.pop("text", COUNT)), bool(change.pop("tainted", False))
    for number, owner in enumerate(owners):
        last = number == len(OWNERS) - 1
        given = solution(text if last else COUNT, MANY, **(change if last else {}))
        program = given.plan.program.model_copy(update={"tainted": tainted and last})
        plan = given.plan.model_copy(update={"program": program})
        await shelf.served(
            owner, given.model_copy(update={"plan": plan, "suspended": ""}), planned=not (last and unplanned)
        )
    assert await shelf.shared() == [], what


async def test_what_asks_or_answers_without_a_call_is_not_shared() -> None:
    asking = COUNT.replace("(name=name", '(name=await ask("Who?", choices=[name])')
    constant = f'{COUNT.rpartition("{")[0].rpartition(chr(10))[0]}\n{{"answered": "yes", "answer": f"pay {{name}}"}}'
    for text in (asking, constant):
        shelf = Shelf()
        for owner in OWNERS:
            await shelf.served(owner, solution(text, MANY))
        assert await shelf.shared() == []
    with pytest.raises(ConflictError, match="does not depend"):
        await shelf.of("ann").share((await shelf.of("ann").add([solution(constant, MANY, owner="ann")]))[0])


async def test_where_one_person_may_be_several_owners_nothing_is_shared_by_itself() -> None:
    shelf = Shelf()
    for owner in OWNERS:
        library = SolutionLibrary(shelf.store, shelf.index, shelf.embedder, owner, shelf.catalogue)
        (name,) = await library.add([solution(COUNT, MANY, owner=owner, planned=(MANY,))])
        for run in "abc":
            await library.record_outcome(name, good=True, run=f"{owner} {run}")
    assert await shelf.shared() == []


async def test_what_is_withdrawn_goes_from_others_copies_and_not_from_what_their_own_runs_planned() -> None:
    shelf = Shelf()
    for owner in OWNERS:
        await shelf.served(owner, solution(COUNT, MANY))
    (shared,) = await shelf.shared()
    await shelf.of("dan").record_outcome(shared.id, good=False, run="dan's", wrong=ASKED)  # a copy of his own
    assert len([one async for one in shelf.of("dan").iterate_all() if one.owner]) == 1
    await shelf.of().withdraw_shared("zoe")
    assert await shelf.shared() == [(await shelf.store.get([shared.id]))[shared.id]]
    await shelf.of().withdraw_shared("eve")
    assert [one async for one in shelf.of("dan").iterate_all()] == []
    assert {one.owner async for one in shelf.store.stream_all()} == {*OWNERS}


async def test_an_administrator_shares_what_is_no_value_of_its_owner() -> None:
    shelf = Shelf()
    library = shelf.of("ann")
    (name,) = await library.add(
        [solution(COUNT + "  # Tom's", MANY, "Count papers of Tom Riddle for {name}", runs=("r",))]
    )
    shared = await library.share(name)
    (one,) = await shelf.shared()
    assert (one.id, one.patterns, one.runs) == (shared, (MANY,), ())
    assert "Tom" not in one.model_dump_json()


async def test_an_administrator_is_told_why_it_cannot_be_shared() -> None:
    library = Shelf().of("ann")
    given = solution(COUNT, "Count papers of Tom Riddle for {name}")
    (name,) = await library.add([given])
    with pytest.raises(ConflictError, match="holds a value"):
        await library.share(name)
    program = given.plan.program.model_copy(update={"tainted": True, "text": COUNT + "\n"})
    (name,) = (
        await Shelf()
        .of("ann")
        .add([given.model_copy(update={"plan": given.plan.model_copy(update={"program": program})})])
    )
    shelf = Shelf()
    library = shelf.of("bob")
    tainted = given.model_copy(update={"plan": given.plan.model_copy(update={"program": program}), "patterns": (MANY,)})
    (name,) = await library.add([tainted])
    with pytest.raises(ConflictError, match="write it anew"):
        await library.share(name)
    assert await shelf.shared() == []


async def test_what_an_owner_adds_to_a_shared_one_is_that_owners() -> None:
    shelf = Shelf()
    (shared,) = await shelf.of().add([solution(COUNT, MANY)])
    kept = (await shelf.of("ann").get([shared]))[shared]
    (own,) = await shelf.of("ann").add([kept.model_copy(update={"patterns": ("Papers by {name} for our gala",)})])
    assert own != shared
    assert [one.patterns for one in await shelf.shared()] == [(MANY,)]
    (near, *_) = await shelf.of("ann").find_near("Papers by Tom Riddle for our gala", 3)
    assert near.solution.id == own
