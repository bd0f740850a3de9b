"""The library of solutions (SoAy, Wang et al. 2024, section 4.1), searched by the wording of requests.

Its solutions are judged by what became of the runs that took them.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from agent.memory.similarity import LEAST, likeness, pattern, telling
from agent.programs.analysis.slices import answer_rests_on_calls
from agent.solutions.drift import drifted, fingerprints
from agent.solutions.evidence import PATTERNS, counted, marked, merged, own_copy, run_key, standing, without
from agent.solutions.identity import owned_by, owner_key, solution_id
from agent.solutions.patterns import as_asked, worded
from agent.solutions.protocol import NEAR, NearSolution
from agent.solutions.sharing import common_to, refuse_unfit, shareable, tools_of
from domain.solution import NearPattern, PatternIndex, Solution, SolutionStore, program_of
from domain.tool import ToolDoc, ToolId
from retriever.calibration import LinearMap
from retriever.index import Embedder

_APART = 0.02
"""Margin by which a request must be nearer to a pattern than to any request that was answered wrongly."""
DOUBTED = 3
"""Owners who must have marked an answer as wrong before a shared solution is suspended for all."""
_LOOKED_AT = 12
"""Factor of the number of patterns that the encoder returns; words decide among them."""
_EMBEDDED = 256


class Documents(Protocol):
    """Source of tool documents, as far as the library needs it."""

    async def get_tools(self, ids: Iterable[ToolId]) -> Mapping[ToolId, ToolDoc]:
        """Return the documents of these tools that exist."""
        ...


class SolutionLibrary:
    """Solutions of one owner and the shared ones, except those that call one of the ``hidden`` tools.

    An empty owner stands for the shared solutions alone and for whoever maintains them.
    """

    def __init__(
        self,
        store: SolutionStore,
        index: PatternIndex,
        embedder: Embedder,
        owner: str,
        documents: Documents,
        hidden: Collection[ToolId] = (),
        *,
        shares_alone: bool = False,
    ) -> None:
        """Create the library of an owner.

        ``shares_alone`` lets solutions be shared automatically once several owners came to them; it must be off
        where one person may be several owners.
        """
        self._store = store
        self._index = index
        self._embedder = embedder
        self._owner = owner
        self._documents = documents
        self._hidden = frozenset(hidden)
        self._shares_alone = shares_alone

    @property
    def owner(self) -> str:
        """Owner of the library; empty for that of the shared solutions."""
        return self._owner

    async def near(self, request: str, k: int, least: float = NEAR) -> list[NearSolution]:
        """Return the best solutions for a request, as :meth:`agent.solutions.protocol.Solutions.near` says.

        Of the same program, the owner's solution comes before the shared one.
        """
        asked = pattern(request)
        if len(telling(asked)) < LEAST or k < 1:
            return []
        vector = (await self._embedder.embed([asked], "query"))[0].tolist()
        found = await self._index.near(vector, self._embedder.identity, self._owner, _LOOKED_AT * k)
        known = await self._known({one.solution for one in found})
        mine = {one: known.get(owned_by(program_of(one), self._owner)) for one in known}
        scale = (await self._embedder.scale()).requests
        allowed = [one for one in found if not _refused(mine.get(one.solution))]
        best = _best_of_each(allowed, known, request, scale)
        wrong = await self._wrong(asked, vector, [known[one.solution.id] for one in best], known)
        told = [
            one
            for one in best
            if one.likeness >= least and one.likeness > wrong.get(program_of(one.solution.id), -1.0) + _APART
        ]
        return await self._with_their_tools(told, k)

    async def add(self, solutions: Sequence[Solution]) -> list[str]:
        """Store solutions so that they can be found, and return their ids.

        Ids, values and stubs that they come with are ignored. What an owner adds to a shared solution becomes that
        owner's own.
        """
        ids, written = await self._keep(solutions)
        await self._embed(written)
        return ids

    async def keep(self, solutions: Sequence[Solution]) -> list[str]:
        """Store solutions as :meth:`add` does, but without embedding them: they are found after :meth:`embed`."""
        ids, _ = await self._keep(solutions)
        return ids

    async def _keep(self, solutions: Sequence[Solution]) -> tuple[list[str], list[Solution]]:
        """Store solutions, merged with existing ones; return their ids and what was written."""
        made = [await self._made(one, one.owner or self._owner) for one in solutions]
        new: dict[str, list[Solution]] = {}
        for one in made:
            new.setdefault(one.id, []).append(one)

        def change(solution: str, kept: Solution | None) -> Solution | None:
            for one in new[solution]:
                kept = merged(kept, one) if kept else one
            return kept

        written = await self._store.change(list(new), change)
        return [one.id for one in made], list(written.values())

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        """Return solutions by id, those of this owner and shared ones."""
        return {one: kept for one, kept in (await self._store.get(ids)).items() if self._sees(kept)}

    async def all(self) -> AsyncIterator[Solution]:
        """Yield the solutions of this owner and the shared ones, ordered by id."""
        async for one in self._store.all():
            if self._sees(one):
                yield one

    async def judge(self, solution: str, *, good: bool, run: str = "", wrong: str = "", right: str = "") -> None:
        """Record the result of a run that took a solution, once per run; a later verdict replaces an earlier one.

        ``wrong`` is the request if a user marked its answer as wrong; ``right`` if a user marked it as right, which
        removes such a mark. If an owner marks an answer of a shared solution, only the owner's copy is affected;
        the shared one merely loses the count of that run. A shared solution is suspended once several owners have
        marked answers of it. A success of an owner's copy counts for the shared one, too.
        """
        kept = (await self.get([solution])).get(solution)
        if kept is None:
            return
        mine = owned_by(program_of(solution), self._owner)

        def change(one: str, there: Solution | None) -> Solution | None:
            if one == mine and (wrong or right or one == solution):
                there = there or (own_copy(kept, mine, self._owner) if wrong else None)
                return marked(counted(there, run_key(run), good=good), wrong, right) if there is not None else None
            if one == mine or there is None:
                return None
            return without(there, run_key(run)) if wrong else counted(there, run_key(run), good=good)

        touched = list(dict.fromkeys((solution, program_of(solution), mine)))
        written = await self._store.change(touched, change)
        if mine in written and mine != solution:
            await self._embed([written[mine]])
            if wrong:
                await self._doubt(solution)
        if good and mine == solution and self._shares_alone:
            await self._share_if_due(solution)

    async def share(self, solution: str) -> str:
        """Share an owner's solution with all users, without its owner's private parts, and return its new id.

        See :mod:`agent.solutions.sharing`. The owner's solution is kept if its owner has marked answers of it as
        wrong. Sharing a solution that is already shared approves it: it then stays when the owners that it came
        from are removed.

        Raises:
            ConflictError: it cannot be shared; the message says why.
        """
        kept = (await self.get([solution])).get(solution)
        if kept is None:
            return solution
        docs = await self._documents.get_tools(tools_of(kept))
        if not kept.owner:
            refuse_unfit(kept, docs)
            await self._store.change([solution], lambda _, there: there and there.model_copy(update={"promoted": True}))
            return solution
        shared = await self._put_shared(shareable(kept, docs))
        if not kept.wrong:
            await self.forget([solution])
        return shared

    async def _share_if_due(self, solution: str) -> None:
        """Share a program that enough owners have come to independently."""
        fellows = await self._store.of_program(program_of(solution))
        if not self._owner or any(not one.owner for one in fellows):
            return
        docs = await self._documents.get_tools({tool for one in fellows for tool in tools_of(one)})
        if (common := common_to(fellows, docs)) is not None:
            await self._put_shared(common)

    async def _put_shared(self, shared: Solution) -> str:
        """Store a shared solution, merged with an existing one, and return its id."""
        whole = await self._made(shared, "")

        def change(_: str, there: Solution | None) -> Solution | None:
            return merged(there, whole) if there is not None else whole

        await self._embed(list((await self._store.change([whole.id], change)).values()))
        return whole.id

    async def take_up(self, solution: str) -> None:
        """Reinstate a solution that was checked again: its tools' current signatures apply, and its record starts anew."""
        kept = (await self.get([solution])).get(solution)
        if kept is None:
            return
        prints = fingerprints(kept.plan.program, await self._documents.get_tools(kept.path))
        anew = {"suspended": "", "fingerprints": prints, "good": 0, "bad": 0, "verdicts": {}}
        await self._store.change([solution], lambda _, there: there and there.model_copy(update=anew))

    async def withdraw(self, owner: str) -> None:
        """Remove what was shared automatically from this owner's solutions, with the copies that others have of it."""
        key = owner_key(owner)
        gone = [one.id async for one in self._store.all() if key in one.sharers and not (one.promoted or one.planned)]
        await self._store.remove(gone)
        await self._index.remove(gone)

    async def _doubt(self, shared: str) -> None:
        """Suspend a shared solution if enough owners have marked answers of it as wrong."""
        copies = await self._store.of_program(program_of(shared))
        doubting = sum(bool(one.owner and one.wrong) for one in copies)
        if doubting >= DOUBTED:
            await self.suspend(shared, f"{doubting} users have said that an answer of it was wrong")

    async def suspend(self, solution: str, why: str) -> None:
        """Exclude a solution until it is checked again."""

        def change(_: str, there: Solution | None) -> Solution | None:
            return there.model_copy(update={"suspended": why}) if there is not None else None

        await self._store.change([solution], change)

    async def on_path(self, tools: Iterable[ToolId]) -> list[Solution]:
        """Return the solutions of this owner and the shared ones that call one of these tools."""
        return [one for one in await self._store.on_path(tools) if self._sees(one)]

    async def forget(self, ids: Iterable[str]) -> None:
        """Remove solutions permanently: an owner's own, or any for whoever maintains the shared ones."""
        there = await self._store.get(ids)
        gone = [one for one, kept in there.items() if kept.owner == self._owner or not self._owner]
        if gone:
            await self._store.remove(gone)
            await self._index.remove(gone)

    async def embed(self, progress: Callable[[int], None] | None = None) -> int:
        """Embed the patterns that this encoder has not seen, of all owners, and return the number of solutions.

        An interrupted call can be repeated; it continues where it stopped.
        """
        done = 0
        async for page in self._pages():
            done += await self._embed(page)
            if progress:
                progress(done)
        return done

    async def unseen(self) -> tuple[int, list[str]]:
        """Return the number of solutions of all owners, and the ids of those with patterns new to this encoder."""
        count, found = 0, list[str]()
        async for page in self._pages():
            count += len(page)
            found += [one.id for one in await self._new(page)]
        return count, found

    async def _pages(self) -> AsyncIterator[list[Solution]]:
        page: list[Solution] = []
        async for one in self._store.all():
            page.append(one)
            if len(page) == _EMBEDDED:
                yield page
                page = []
        if page:
            yield page

    def _sees(self, solution: Solution) -> bool:
        return solution.owner in ("", self._owner) and self._hidden.isdisjoint(solution.path)

    async def _known(self, ids: Iterable[str]) -> dict[str, Solution]:
        """Return these solutions and the owner's copies of the shared ones."""
        wanted = set(ids)
        own = {owned_by(program_of(one), self._owner) for one in wanted}
        return await self._store.get(sorted(wanted | own))

    async def _wrong(
        self, asked: str, vector: Sequence[float], near: Sequence[Solution], known: Mapping[str, Solution]
    ) -> dict[str, float]:
        """Return the likeness of a request to the wrongly answered requests of each program, by program."""
        marked: dict[str, list[str]] = {}
        for one in near:
            own = known.get(owned_by(program_of(one.id), self._owner))
            said = (*one.wrong, *(own.wrong if own else ()))
            if said:
                marked[program_of(one.id)] = [pattern(text) for text in said]
        texts = list(dict.fromkeys(text for said in marked.values() for text in said))
        if not texts:
            return {}
        scale = (await self._embedder.scale()).requests
        found = (await self._embedder.embed(texts, "query") @ vector).tolist()
        cosines = {text: scale.map(cosine) for text, cosine in zip(texts, found, strict=True)}
        return {program: max(likeness(cosines[text], asked, text) for text in said) for program, said in marked.items()}

    async def _with_their_tools(self, near: Sequence[NearSolution], k: int) -> list[NearSolution]:
        """Return the first ``k`` solutions whose tools are unchanged; those whose tools have drifted are suspended."""
        ranked = sorted(near, key=_rank)
        docs = await self._documents.get_tools({tool for one in ranked for tool in one.solution.path})
        kept: list[NearSolution] = []
        for one in ranked:
            if len(kept) == k:
                break
            if not all(tool in docs for tool in one.solution.path):
                continue
            if self._owner and not one.solution.owner and not answer_rests_on_calls(one.solution.plan.program):
                continue  # earlier versions shared programs whose answer does not depend on their calls
            changed = drifted(one.solution, docs)
            if changed:
                await self.suspend(one.solution.id, f"changed since it was checked: {', '.join(changed)}")
            else:
                kept.append(one)
        return kept

    async def _made(self, given: Solution, owner: str) -> Solution:
        """Return a solution in the form in which it is stored for an owner."""
        program = given.plan.program.model_copy(update={"stubs": ""})
        plan = given.plan.model_copy(update={"program": program, "values": {}})
        prints = given.fingerprints or fingerprints(program, await self._documents.get_tools(given.path))
        patterns = tuple(dict.fromkeys(given.patterns))[:PATTERNS]
        own: dict[str, object] = {"plan": plan, "fingerprints": prints, "patterns": patterns}
        if not owner and not given.sharers:  # added by whoever maintains the shared ones, so it is approved
            own["promoted"] = True
        return given.model_copy(update={**own, "id": solution_id(owner, plan), "owner": owner})

    async def _embed(self, solutions: Sequence[Solution]) -> int:
        """Embed the solutions with patterns that this encoder has not seen, and return their number."""
        identity, new = self._embedder.identity, await self._new(solutions)
        if not new:
            return 0
        texts = [as_asked(text, one.plan.inputs) for one in new for text in one.patterns]
        vectors = iter((await self._embedder.embed(texts, "query")).tolist() if texts else [])
        for one in new:
            await self._index.put(identity, one.owner, one.id, [next(vectors) for _ in one.patterns])
        there = await self._store.get([one.id for one in new])
        if gone := [
            one.id for one in new if one.id not in there
        ]:  # removed meanwhile: its vectors must not stay in the index
            await self._index.remove(gone)
        return len(new)

    async def _new(self, solutions: Sequence[Solution]) -> list[Solution]:
        """Return the solutions with patterns that this encoder has not seen."""
        seen = await self._index.known([one.id for one in solutions], self._embedder.identity)
        return [one for one in solutions if seen.get(one.id, 0) != len(one.patterns)]


def _best_of_each(
    found: Iterable[NearPattern], known: Mapping[str, Solution], request: str, scale: LinearMap
) -> list[NearSolution]:
    """Return each program that may be taken, with its nearest pattern; an owner's copy comes before the shared one."""
    best: dict[str, NearSolution] = {}
    for one in found:
        kept = known.get(one.solution)
        if kept is None or one.number >= len(kept.patterns) or kept.suspended:
            continue
        text = kept.patterns[one.number]
        asked = worded(text, request, kept.plan.inputs)
        near = NearSolution(kept, text, likeness(scale.map(one.similarity), asked, as_asked(text, kept.plan.inputs)))
        other = best.get(program_of(one.solution))
        if other is None or (near.likeness, kept.owner) > (other.likeness, other.solution.owner):
            best[program_of(one.solution)] = near
    return list(best.values())


def _refused(own: Solution | None) -> bool:
    """Return True if the owner's copy of a program is suspended: then the shared one is not taken, either."""
    return own is not None and bool(own.suspended)


def _rank(near: NearSolution) -> tuple[float, int, str]:
    """Return the sort key of a solution: likeness weighted by its record."""
    return (-near.likeness * standing(near.solution), -near.solution.good, near.solution.id)
