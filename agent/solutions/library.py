"""The library of solutions (SoAy's, Wang et al. 2024, section 4.1): found by how requests are worded, judged by what became of them."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from hashlib import blake2b
from typing import Protocol

from agent.memory.similarity import LEAST, likeness, pattern, telling
from agent.solutions.drift import fingerprints
from agent.solutions.identity import as_in, owned_by, solution_id
from agent.solutions.patterns import as_asked, worded
from agent.solutions.protocol import NEAR, NearSolution
from domain.solution import NearPattern, PatternIndex, Solution, SolutionStore, program_of
from domain.tool import ToolDoc, ToolId
from retriever.index import Embedder

WORN_OUT = 3
"""So many failures more than successes, and a solution is suspended."""
_APART = 0.02
"""So much nearer a request must be to what a solution serves than to what it answered wrongly."""
DOUBTED = 3
"""So many owners have said that an answer of it was wrong, and a shared solution is suspended for all."""
_LOOKED_AT = 12
"""So many times as many patterns are taken from the encoder's order, for the words to choose from."""
_PATTERNS = 40
"""Of one solution; a request that is near to none of so many is hardly nearer to one more."""
_RUNS = 20
_VERDICTS = 200
_EMBEDDED = 256
_PROVEN = {"mined": 0, "run": 1, "template": 2, "person": 3}


class Documents(Protocol):
    """What the library needs of a graph: the documents of tools."""

    async def get_tools(self, ids: Iterable[ToolId]) -> Mapping[ToolId, ToolDoc]:
        """Of those that have one."""
        ...


class SolutionLibrary:
    """The solutions of one owner, with those that all share. An empty owner: the shared ones alone, and whoever keeps them."""

    def __init__(
        self, store: SolutionStore, index: PatternIndex, embedder: Embedder, owner: str, documents: Documents
    ) -> None:
        self._store = store
        self._index = index
        self._embedder = embedder
        self._owner = owner
        self._documents = documents

    @property
    def owner(self) -> str:
        """Whose own ones it keeps."""
        return self._owner

    async def near(self, request: str, k: int, least: float = NEAR) -> list[NearSolution]:
        """As :class:`agent.solutions.protocol.Solutions` says; of the same program the own solution goes before the shared one."""
        asked = pattern(request)
        if len(telling(asked)) < LEAST or k < 1:
            return []
        vector = (await self._embedder.embed([asked], "query"))[0].tolist()
        found = await self._index.near(vector, self._embedder.identity, self._owner, _LOOKED_AT * k)
        known = await self._known({one.solution for one in found})
        mine = {one: known.get(owned_by(program_of(one), self._owner)) for one in known}
        best = _best_of_each([one for one in found if not _refused(mine.get(one.solution))], known, request)
        wrong = await self._wrong(asked, vector, [known[one.solution.id] for one in best], known)
        told = [
            one
            for one in best
            if one.likeness >= least and one.likeness > wrong.get(program_of(one.solution.id), -1.0) + _APART
        ]
        return await self._with_their_tools(told, k)

    async def add(self, solutions: Sequence[Solution]) -> list[str]:
        """As :class:`agent.solutions.protocol.Solutions` says. The ids that they come with do not count; nor do values and stubs."""
        made = [await self._made(one) for one in solutions]
        new: dict[str, list[Solution]] = {}
        for one in made:
            new.setdefault(one.id, []).append(one)

        def change(solution: str, kept: Solution | None) -> Solution | None:
            for one in new[solution]:
                kept = merged(kept, one) if kept else one
            return kept

        written = await self._store.change(list(new), change)
        await self._embed(list(written.values()))
        return [one.id for one in made]

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        """By id, of this owner or shared."""
        return {one: kept for one, kept in (await self._store.get(ids)).items() if self._sees(kept)}

    async def all(self) -> AsyncIterator[Solution]:
        """Those of this owner and the shared ones, ordered by id, streamed."""
        async for one in self._store.all():
            if self._sees(one):
                yield one

    async def judge(self, solution: str, *, good: bool, run: str = "", wrong: str = "", right: str = "") -> None:
        """What became of a run that took it, counted once a run: a later word on the same run takes the place of the first.

        ``wrong``: the request, where a user marked its answer as wrong; ``right``: as right, which takes such a mark back. What one owner
        says is wrong of a shared solution is that owner's alone: it is kept with the own copy, and the shared one only loses what the run had
        counted for it. One that several owners have said it of is suspended.
        """
        kept = (await self.get([solution])).get(solution)
        if kept is None:
            return
        mine = owned_by(program_of(solution), self._owner)

        def change(one: str, there: Solution | None) -> Solution | None:
            if one == solution != mine and there is not None and wrong:
                return without(there, _key(run))
            if one != mine:
                return counted(there, _key(run), good=good) if there is not None else None
            if not (wrong or right):
                return counted(there, _key(run), good=good) if there is not None and one == solution else None
            there = there or (_own_copy(kept, mine, self._owner) if wrong else None)
            return _marked(counted(there, _key(run), good=good), wrong, right) if there is not None else None

        written = await self._store.change(list(dict.fromkeys((solution, mine))), change)
        if mine in written and mine != solution:
            await self._embed([written[mine]])
            if wrong:
                await self._doubt(solution)

    async def share(self, solution: str) -> str:
        """An own one becomes one that all share, without the requests and the runs of its owner; the id that it is kept under.

        The own one stays where its owner has said of requests that its answer to them was wrong.
        """
        kept = (await self.get([solution])).get(solution)
        if kept is None or not kept.owner:
            return solution
        bare: dict[str, object] = {"owner": "", "runs": (), "wrong": (), "verdicts": {}, "suspended": ""}
        (shared,) = await self.add([kept.model_copy(update=bare)])
        if not kept.wrong:
            await self.forget([solution])
        return shared

    async def take_up(self, solution: str) -> None:
        """It was checked again: what it is taken with from now on are its tools as they are, and what it has done counts from here."""
        kept = (await self.get([solution])).get(solution)
        if kept is None:
            return
        prints = fingerprints(kept.plan.program, await self._documents.get_tools(kept.path))
        anew = {"suspended": "", "fingerprints": prints, "good": 0, "bad": 0, "verdicts": {}}
        await self._store.change([solution], lambda _, there: there and there.model_copy(update=anew))

    async def _doubt(self, shared: str) -> None:
        """Suspend what so many owners have said a wrong answer of."""
        copies = await self._store.of_program(program_of(shared))
        doubting = sum(bool(one.owner and one.wrong) for one in copies)
        if doubting >= DOUBTED:
            await self.suspend(shared, f"{doubting} users have said that an answer of it was wrong")

    async def suspend(self, solution: str, why: str) -> None:
        """Take it no more until it is checked again."""

        def change(_: str, there: Solution | None) -> Solution | None:
            return there.model_copy(update={"suspended": why}) if there is not None else None

        await self._store.change([solution], change)

    async def on_path(self, tools: Iterable[ToolId]) -> list[Solution]:
        """Those of this owner and the shared ones that call one of these tools."""
        return [one for one in await self._store.on_path(tools) if self._sees(one)]

    async def forget(self, ids: Iterable[str]) -> None:
        """For good: an owner's own ones; by whoever keeps the shared ones, all."""
        there = await self._store.get(ids)
        gone = [one for one, kept in there.items() if kept.owner == self._owner or not self._owner]
        if gone:
            await self._store.remove(gone)
            await self._index.remove(gone)

    async def embed(self, progress: Callable[[int], None] | None = None) -> int:
        """Make what this encoder has not seen found, of all owners; the number of solutions. Interrupted, it goes on where it was."""
        done, page = 0, list[Solution]()
        async for one in self._store.all():
            page.append(one)
            if len(page) == _EMBEDDED:
                done += await self._embed(page)
                page = []
                if progress:
                    progress(done)
        return done + await self._embed(page)

    def _sees(self, solution: Solution) -> bool:
        return solution.owner in ("", self._owner)

    async def _known(self, ids: Iterable[str]) -> dict[str, Solution]:
        """These, and what the owner has said of the shared ones among them."""
        wanted = set(ids)
        own = {owned_by(program_of(one), self._owner) for one in wanted}
        return await self._store.get(sorted(wanted | own))

    async def _wrong(
        self, asked: str, vector: Sequence[float], near: Sequence[Solution], known: Mapping[str, Solution]
    ) -> dict[str, float]:
        """By program, how like the request is to one whose answer by it was marked as wrong."""
        marked: dict[str, list[str]] = {}
        for one in near:
            own = known.get(owned_by(program_of(one.id), self._owner))
            said = (*one.wrong, *(own.wrong if own else ()))
            if said:
                marked[program_of(one.id)] = [pattern(text) for text in said]
        texts = list(dict.fromkeys(text for said in marked.values() for text in said))
        if not texts:
            return {}
        cosines = dict(zip(texts, (await self._embedder.embed(texts, "query") @ vector).tolist(), strict=True))
        return {program: max(likeness(cosines[text], asked, text) for text in said) for program, said in marked.items()}

    async def _with_their_tools(self, near: Sequence[NearSolution], k: int) -> list[NearSolution]:
        """The first whose tools are there as they were; one whose tools have drifted is suspended."""
        ranked = sorted(near, key=_rank)
        docs = await self._documents.get_tools({tool for one in ranked for tool in one.solution.path})
        kept: list[NearSolution] = []
        for one in ranked:
            if len(kept) == k:
                break
            if not all(tool in docs for tool in one.solution.path):
                continue
            changed = drifted(one.solution, docs)
            if changed:
                await self.suspend(one.solution.id, f"changed since it was checked: {', '.join(changed)}")
            else:
                kept.append(one)
        return kept

    async def _made(self, given: Solution) -> Solution:
        """As it is kept."""
        program = given.plan.program.model_copy(update={"stubs": ""})
        plan = given.plan.model_copy(update={"program": program, "values": {}})
        prints = given.fingerprints or fingerprints(program, await self._documents.get_tools(given.path))
        patterns = tuple(dict.fromkeys(given.patterns))[:_PATTERNS]
        own = {"id": solution_id(given.owner, plan), "plan": plan, "fingerprints": prints, "patterns": patterns}
        return given.model_copy(update=own)

    async def _embed(self, solutions: Sequence[Solution]) -> int:
        """Put the vectors of those whose patterns this encoder has not all seen; how many there were."""
        identity = self._embedder.identity
        seen = await self._index.known([one.id for one in solutions], identity)
        new = [one for one in solutions if seen.get(one.id, 0) != len(one.patterns)]
        texts = [as_asked(text, one.plan.inputs) for one in new for text in one.patterns]
        vectors = iter((await self._embedder.embed(texts, "query")).tolist() if texts else [])
        for one in new:
            await self._index.put(identity, one.owner, one.id, [next(vectors) for _ in one.patterns])
        return len(new)


def standing(solution: Solution) -> float:
    """How far it is to be trusted, in (0, 1]: the share of good uses, that which it was made for one of them."""
    return (solution.good + 1) / (solution.good + solution.bad + 1)


def drifted(solution: Solution, docs: Mapping[ToolId, ToolDoc]) -> list[ToolId]:
    """Its tools whose signatures are not those that it was checked against."""
    now = fingerprints(solution.plan.program, docs)
    return [tool for tool, known in solution.fingerprints.items() if now.get(tool, known) != known]


def merged(kept: Solution, new: Solution) -> Solution:
    """A solution with what another that is the same program adds to it; a run that wrote it again has been served by it.

    One that was suspended because its tools had drifted, and was made again for what they are now, may be taken again.
    """
    fresh = bool(new.fingerprints) and new.fingerprints != kept.fingerprints
    patterns = tuple(dict.fromkeys((*kept.patterns, *as_in(kept, new))))
    again = new.runs[-1] if new.origin == "run" and new.runs and new.runs[-1] not in kept.runs else ""
    served = counted(kept, _key(again), good=True) if again else kept
    return served.model_copy(
        update={
            "patterns": patterns[:_PATTERNS],
            "origin": max(kept.origin, new.origin, key=_PROVEN.__getitem__),
            "outputs": kept.outputs or new.outputs,
            "fingerprints": {**kept.fingerprints, **new.fingerprints},
            "good": served.good + new.good,
            "bad": served.bad + new.bad,
            "wrong": tuple(dict.fromkeys((*kept.wrong, *new.wrong))),
            "suspended": "" if fresh else kept.suspended,
            "runs": tuple(dict.fromkeys((*kept.runs, *new.runs)))[-_RUNS:],
        }
    )


def counted(solution: Solution, run: str, *, good: bool) -> Solution:
    """With one more success or failure, once a run; suspended where it has failed too often. ``run`` empty: counted whatever came before."""
    before = solution.verdicts.get(run) if run else None
    if before is good:
        return solution
    undone = int(before is not None)
    update: dict[str, object] = {
        "good": solution.good + (1 if good else -undone),
        "bad": solution.bad + (-undone if good else 1),
    }
    if run:
        verdicts = {**{one: said for one, said in solution.verdicts.items() if one != run}, run: good}
        update["verdicts"] = dict(list(verdicts.items())[-_VERDICTS:])
    made = solution.model_copy(update=update)
    if not good and not made.suspended and made.bad - made.good >= WORN_OUT:
        return made.model_copy(update={"suspended": f"it has failed {made.bad} times, and served {made.good} times"})
    return made


def without(solution: Solution, run: str) -> Solution:
    """As if a run had not counted for it."""
    before = solution.verdicts.get(run)
    if before is None:
        return solution
    verdicts = {one: said for one, said in solution.verdicts.items() if one != run}
    counts = {"good": solution.good - before, "bad": solution.bad - (not before), "verdicts": verdicts}
    return solution.model_copy(update=counts)


def _best_of_each(found: Iterable[NearPattern], known: Mapping[str, Solution], request: str) -> list[NearSolution]:
    """Each program that may be taken, with the pattern that is nearest; the own solution before the shared one."""
    best: dict[str, NearSolution] = {}
    for one in found:
        kept = known.get(one.solution)
        if kept is None or one.number >= len(kept.patterns) or kept.suspended:
            continue
        text = kept.patterns[one.number]
        asked = worded(text, request, kept.plan.inputs)
        near = NearSolution(kept, text, likeness(one.similarity, asked, as_asked(text, kept.plan.inputs)))
        other = best.get(program_of(one.solution))
        if other is None or (near.likeness, kept.owner) > (other.likeness, other.solution.owner):
            best[program_of(one.solution)] = near
    return list(best.values())


def _refused(own: Solution | None) -> bool:
    """Whether the owner's own copy of a program is not to be taken: nor is the shared one."""
    return own is not None and bool(own.suspended)


def _rank(near: NearSolution) -> tuple[float, int, str]:
    return (-near.likeness * standing(near.solution), -near.solution.good, near.solution.id)


def _own_copy(shared: Solution, name: str, owner: str) -> Solution:
    """A shared solution as an owner's own, of which nothing is known yet."""
    blank = Solution(
        id=name,
        owner=owner,
        plan=shared.plan,
        patterns=shared.patterns,
        path=shared.path,
        origin=shared.origin,
        at=shared.at,
    )
    return blank.model_copy(update={"outputs": shared.outputs, "fingerprints": shared.fingerprints})


def _marked(solution: Solution, wrong: str, right: str) -> Solution:
    said = tuple(one for one in solution.wrong if one not in (wrong, right))
    return solution.model_copy(update={"wrong": (*said, wrong) if wrong else said})


def _key(run: str) -> str:
    return blake2b(run.encode(), digest_size=8).hexdigest() if run else ""
