"""The library of solutions (SoAy, Wang et al. 2024, section 4.1), searched by the wording of requests.

It keeps a record of each solution: the outcomes of the runs that used it, and the verdicts of users on its answers.
"""

from collections.abc import AsyncIterator, Callable, Collection, Iterable, Mapping, Sequence
from typing import Protocol

from agent.memory.request_patterns import (
    MIN_PATTERN_WORDS,
    build_pattern,
    compute_pattern_similarity,
    split_pattern_words,
)
from agent.programs.analysis.slices import is_answer_from_calls
from agent.solutions.drift import compute_fingerprints, find_drifted_tools
from agent.solutions.evidence import (
    MAX_PATTERNS,
    build_owned_id,
    compute_solution_id,
    copy_for_owner,
    count_outcome,
    estimate_trust,
    hash_owner,
    hash_run,
    merge_solutions,
    remove_outcome,
    update_wrong_requests,
)
from agent.solutions.patterns import mask_inputs, mask_request
from agent.solutions.protocol import MIN_LIKENESS, NearSolution
from agent.solutions.sharing import build_common_solution, build_shareable, collect_tools, ensure_shareable
from domain.solution import NearPattern, PatternIndex, Solution, SolutionStore, get_program_id
from domain.tool import ToolDoc, ToolId
from retriever.calibration import LinearMap
from retriever.index import Embedder

_WRONG_MARGIN = 0.02
"""Margin by which a request must be more like a pattern than like any request that was answered wrongly."""
MIN_DOUBTING_OWNERS = 3
"""Number of owners who must have marked an answer as wrong before a shared solution is suspended for all."""
_CANDIDATE_FACTOR = 12
"""Patterns that are retrieved by vector for each solution to find; they are ranked again with their words."""
_PAGE_SIZE = 256
"""Solutions that are embedded at a time."""


class ToolDocSource(Protocol):
    """Source of tool documents, as far as the library needs it."""

    async def get_tools(self, ids: Iterable[ToolId]) -> Mapping[ToolId, ToolDoc]:
        """Return the documents of these tools that exist."""
        ...


class SolutionLibrary:
    """The solutions of one owner and the shared ones.

    An empty owner stands for the shared solutions alone, and for whoever maintains them.
    """

    def __init__(
        self,
        store: SolutionStore,
        index: PatternIndex,
        embedder: Embedder,
        owner: str,
        documents: ToolDocSource,
        hidden: Collection[ToolId] = (),
        *,
        shares_by_agreement: bool = False,
    ) -> None:
        """Create the library of an owner.

        Args:
            store: keeps the solutions of all owners.
            index: finds patterns by their vectors.
            embedder: embeds requests and patterns.
            owner: owner of the library; empty for the shared solutions.
            documents: source of tool documents.
            hidden: tools that the owner may not use; solutions that call them are not found.
            shares_by_agreement: share solutions automatically once several owners came to them. It must be off where
                one person may have several accounts.
        """
        self._store = store
        self._index = index
        self._embedder = embedder
        self._owner = owner
        self._documents = documents
        self._hidden = frozenset(hidden)
        self._shares_by_agreement = shares_by_agreement

    @property
    def owner(self) -> str:
        """Owner of the library; empty for that of the shared solutions."""
        return self._owner

    async def find_near(self, request: str, k: int, least: float = MIN_LIKENESS) -> list[NearSolution]:
        """Return the best solutions for a request (see :meth:`agent.solutions.protocol.SolutionAccess.find_near`).

        Of one program, the owner's copy is preferred to the shared solution. Requests with too few words find nothing.
        """
        request_pattern = build_pattern(request)
        if len(split_pattern_words(request_pattern)) < MIN_PATTERN_WORDS or k < 1:
            return []
        vector = (await self._embedder.embed([request_pattern], "query"))[0].tolist()
        near_patterns = await self._index.find_similar(
            vector, self._embedder.identity, self._owner, _CANDIDATE_FACTOR * k
        )
        solutions = await self._load_with_own_copies({near_pattern.solution for near_pattern in near_patterns})
        own_copies = {
            solution_id: solutions.get(build_owned_id(get_program_id(solution_id), self._owner))
            for solution_id in solutions
        }
        scale = (await self._embedder.get_cosine_scale()).requests
        allowed = [
            near_pattern
            for near_pattern in near_patterns
            if not _is_copy_suspended(own_copies.get(near_pattern.solution))
        ]
        best = _select_best_per_program(allowed, solutions, request, scale)
        wrong_likeness = await self._measure_wrong_likeness(
            request_pattern, vector, [solutions[candidate.solution.id] for candidate in best], solutions
        )
        candidates = [
            candidate
            for candidate in best
            if candidate.likeness >= least
            and candidate.likeness > wrong_likeness.get(get_program_id(candidate.solution.id), -1.0) + _WRONG_MARGIN
        ]
        return await self._select_undrifted(candidates, k)

    async def add(self, solutions: Sequence[Solution]) -> list[str]:
        """Store solutions so that they can be found, and return their ids.

        Their own ids, values and stubs are ignored. What an owner adds to a shared solution is stored as the owner's
        copy.
        """
        ids, written = await self._store_solutions(solutions)
        await self._embed(written)
        return ids

    async def add_unembedded(self, solutions: Sequence[Solution]) -> list[str]:
        """Store solutions without embedding them, so that they are found only after :meth:`embed`; return their ids."""
        ids, _ = await self._store_solutions(solutions)
        return ids

    async def _store_solutions(self, solutions: Sequence[Solution]) -> tuple[list[str], list[Solution]]:
        """Store solutions, merged with existing ones; return the ids and the solutions as they were written."""
        prepared = [await self._prepare_solution(solution, solution.owner or self._owner) for solution in solutions]
        by_id: dict[str, list[Solution]] = {}
        for solution in prepared:
            by_id.setdefault(solution.id, []).append(solution)

        def change(solution_id: str, stored: Solution | None) -> Solution | None:
            for one in by_id[solution_id]:
                stored = merge_solutions(stored, one) if stored else one
            return stored

        written = await self._store.change(list(by_id), change)
        return [solution.id for solution in prepared], list(written.values())

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        """Return solutions by id, those of this owner and shared ones."""
        return {
            solution_id: solution
            for solution_id, solution in (await self._store.get(ids)).items()
            if self._can_see(solution)
        }

    async def iterate_all(self) -> AsyncIterator[Solution]:
        """Yield the solutions of this owner and the shared ones, ordered by id."""
        async for solution in self._store.stream_all():
            if self._can_see(solution):
                yield solution

    async def record_outcome(
        self, solution: str, *, good: bool, run: str = "", wrong: str = "", right: str = ""
    ) -> None:
        """Record the outcome of a run that used a solution, once per run; a later outcome replaces an earlier one.

        A success of an owner's copy counts for the shared solution, too. If an owner marks an answer of a shared
        solution as wrong, the mark goes to the owner's copy, and the shared solution only loses the outcome of that
        run; it is suspended once several owners have marked answers of it.

        Args:
            solution: id of the solution.
            good: the run was served.
            run: name of the run.
            wrong: the request, if a user marked its answer as wrong.
            right: the request, if a user marked its answer as right, which removes an earlier mark.
        """
        existing = (await self.get([solution])).get(solution)
        if existing is None:
            return
        own_id = build_owned_id(get_program_id(solution), self._owner)

        def change(solution_id: str, stored: Solution | None) -> Solution | None:
            if solution_id == own_id and (wrong or right or solution_id == solution):
                stored = stored or (copy_for_owner(existing, own_id, self._owner) if wrong else None)
                return (
                    update_wrong_requests(count_outcome(stored, hash_run(run), good=good), wrong, right)
                    if stored is not None
                    else None
                )
            if solution_id == own_id or stored is None:
                return None
            return remove_outcome(stored, hash_run(run)) if wrong else count_outcome(stored, hash_run(run), good=good)

        touched = list(dict.fromkeys((solution, get_program_id(solution), own_id)))
        written = await self._store.change(touched, change)
        if own_id in written and own_id != solution:
            await self._embed([written[own_id]])
            if wrong:
                await self._suspend_if_doubted(solution)
        if good and own_id == solution and self._shares_by_agreement:
            await self._share_if_due(solution)

    async def share(self, solution: str) -> str:
        """Share an owner's solution with all users, without private parts, and return the id of the shared one.

        What is shared, see :mod:`agent.solutions.sharing`. The owner's copy is removed unless it has answers marked as
        wrong. Sharing a solution that is shared already approves it: it then stays when the owners that it came from
        are removed.

        Raises:
            ConflictError: it cannot be shared; the message says why.
        """
        existing = (await self.get([solution])).get(solution)
        if existing is None:
            return solution
        docs = await self._documents.get_tools(collect_tools(existing))
        if not existing.owner:
            ensure_shareable(existing, docs)
            await self._store.change([solution], lambda _, there: there and there.model_copy(update={"promoted": True}))
            return solution
        shared = await self._store_shared(build_shareable(existing, docs))
        if not existing.wrong:
            await self.forget([solution])
        return shared

    async def _share_if_due(self, solution: str) -> None:
        """Share a program if enough owners have come to it independently, and it is not shared yet."""
        same_program = await self._store.list_by_program(get_program_id(solution))
        if not self._owner or any(not candidate.owner for candidate in same_program):
            return
        docs = await self._documents.get_tools(
            {tool for candidate in same_program for tool in collect_tools(candidate)}
        )
        if (common := build_common_solution(same_program, docs)) is not None:
            await self._store_shared(common)

    async def _store_shared(self, shared: Solution) -> str:
        """Store a shared solution, merged with an existing one, and return its id."""
        prepared = await self._prepare_solution(shared, "")

        def change(_: str, stored: Solution | None) -> Solution | None:
            return merge_solutions(stored, prepared) if stored is not None else prepared

        await self._embed(list((await self._store.change([prepared.id], change)).values()))
        return prepared.id

    async def reinstate(self, solution: str) -> None:
        """Reinstate a solution that was checked again, with the current signatures of its tools and an empty record."""
        existing = (await self.get([solution])).get(solution)
        if existing is None:
            return
        current_fingerprints = compute_fingerprints(
            existing.plan.program, await self._documents.get_tools(existing.path)
        )
        reset_fields = {"suspended": "", "fingerprints": current_fingerprints, "good": 0, "bad": 0, "verdicts": {}}
        await self._store.change([solution], lambda _, there: there and there.model_copy(update=reset_fields))

    async def withdraw_shared(self, owner: str) -> None:
        """Remove what was shared automatically from the solutions of an owner.

        Copies that others have of it are removed, too, unless their own runs planned the program.
        """
        key = hash_owner(owner)
        withdrawn_ids = [
            solution.id
            async for solution in self._store.stream_all()
            if key in solution.sharers and not (solution.promoted or solution.planned)
        ]
        await self._store.remove(withdrawn_ids)
        await self._index.remove(withdrawn_ids)

    async def _suspend_if_doubted(self, shared: str) -> None:
        """Suspend a shared solution if enough owners have marked answers of it as wrong."""
        copies = await self._store.list_by_program(get_program_id(shared))
        doubting = sum(bool(copy.owner and copy.wrong) for copy in copies)
        if doubting >= MIN_DOUBTING_OWNERS:
            await self.suspend(shared, f"{doubting} users have said that an answer of it was wrong")

    async def suspend(self, solution: str, why: str) -> None:
        """Exclude a solution until it is checked again."""

        def change(_: str, stored: Solution | None) -> Solution | None:
            return stored.model_copy(update={"suspended": why}) if stored is not None else None

        await self._store.change([solution], change)

    async def find_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        """Return the solutions of this owner and the shared ones that call one of these tools."""
        return [solution for solution in await self._store.list_by_tools(tools) if self._can_see(solution)]

    async def forget(self, ids: Iterable[str]) -> None:
        """Remove solutions permanently: those of this owner, or any if the owner is empty."""
        stored = await self._store.get(ids)
        removed_ids = [
            solution_id for solution_id, solution in stored.items() if solution.owner == self._owner or not self._owner
        ]
        if removed_ids:
            await self._store.remove(removed_ids)
            await self._index.remove(removed_ids)

    async def embed(self, progress: Callable[[int], None] | None = None) -> int:
        """Embed the patterns that this encoder has not seen, of all owners, and return the number of solutions.

        An interrupted call can be repeated; it continues where it stopped.
        """
        done = 0
        async for page in self._iterate_pages():
            done += await self._embed(page)
            if progress:
                progress(done)
        return done

    async def find_unembedded(self) -> tuple[int, list[str]]:
        """Return the number of solutions of all owners, and the ids of those with patterns new to this encoder."""
        count, unembedded = 0, list[str]()
        async for page in self._iterate_pages():
            count += len(page)
            unembedded += [solution.id for solution in await self._select_unembedded(page)]
        return count, unembedded

    async def _iterate_pages(self) -> AsyncIterator[list[Solution]]:
        page: list[Solution] = []
        async for solution in self._store.stream_all():
            page.append(solution)
            if len(page) == _PAGE_SIZE:
                yield page
                page = []
        if page:
            yield page

    def _can_see(self, solution: Solution) -> bool:
        return solution.owner in ("", self._owner) and self._hidden.isdisjoint(solution.path)

    async def _load_with_own_copies(self, ids: Iterable[str]) -> dict[str, Solution]:
        """Return these solutions and the owner's copies of the shared ones."""
        shared_ids = set(ids)
        own_ids = {build_owned_id(get_program_id(solution_id), self._owner) for solution_id in shared_ids}
        return await self._store.get(sorted(shared_ids | own_ids))

    async def _measure_wrong_likeness(
        self, request_pattern: str, vector: Sequence[float], near: Sequence[Solution], solutions: Mapping[str, Solution]
    ) -> dict[str, float]:
        """Return, for each program, the highest likeness of a request to one that it answered wrongly."""
        texts_by_program: dict[str, list[str]] = {}
        for solution in near:
            own_copy = solutions.get(build_owned_id(get_program_id(solution.id), self._owner))
            wrong_requests = (*solution.wrong, *(own_copy.wrong if own_copy else ()))
            if wrong_requests:
                texts_by_program[get_program_id(solution.id)] = [build_pattern(text) for text in wrong_requests]
        texts = list(dict.fromkeys(text for program_texts in texts_by_program.values() for text in program_texts))
        if not texts:
            return {}
        scale = (await self._embedder.get_cosine_scale()).requests
        similarities = (await self._embedder.embed(texts, "query") @ vector).tolist()
        cosines = {text: scale.map(cosine) for text, cosine in zip(texts, similarities, strict=True)}
        return {
            program: max(compute_pattern_similarity(cosines[text], request_pattern, text) for text in program_texts)
            for program, program_texts in texts_by_program.items()
        }

    async def _select_undrifted(self, near: Sequence[NearSolution], k: int) -> list[NearSolution]:
        """Return the best ``k`` solutions whose tools are unchanged, and suspend those whose tools have drifted."""
        ranked = sorted(near, key=_sort_key)
        docs = await self._documents.get_tools({tool for candidate in ranked for tool in candidate.solution.path})
        usable: list[NearSolution] = []
        for candidate in ranked:
            if len(usable) == k:
                break
            if not all(tool in docs for tool in candidate.solution.path):
                continue
            if (
                self._owner
                and not candidate.solution.owner
                and not is_answer_from_calls(candidate.solution.plan.program)
            ):
                continue  # earlier versions shared programs whose answer does not depend on their calls
            drifted_tools = find_drifted_tools(candidate.solution, docs)
            if drifted_tools:
                await self.suspend(candidate.solution.id, f"changed since it was checked: {', '.join(drifted_tools)}")
            else:
                usable.append(candidate)
        return usable

    async def _prepare_solution(self, solution: Solution, owner: str) -> Solution:
        """Return a solution in the form in which it is stored for an owner."""
        program = solution.plan.program.model_copy(update={"stubs": ""})
        plan = solution.plan.model_copy(update={"program": program, "values": {}})
        prints = solution.fingerprints or compute_fingerprints(program, await self._documents.get_tools(solution.path))
        patterns = tuple(dict.fromkeys(solution.patterns))[:MAX_PATTERNS]
        own_fields: dict[str, object] = {"plan": plan, "fingerprints": prints, "patterns": patterns}
        if not owner and not solution.sharers:  # added by whoever maintains the shared ones, so it is approved
            own_fields["promoted"] = True
        return solution.model_copy(update={**own_fields, "id": compute_solution_id(owner, plan), "owner": owner})

    async def _embed(self, solutions: Sequence[Solution]) -> int:
        """Embed those of the solutions that have patterns new to this encoder, and return their number."""
        identity, new = self._embedder.identity, await self._select_unembedded(solutions)
        if not new:
            return 0
        texts = [mask_inputs(text, solution.plan.inputs) for solution in new for text in solution.patterns]
        vectors = iter((await self._embedder.embed(texts, "query")).tolist() if texts else [])
        for solution in new:
            await self._index.put(identity, solution.owner, solution.id, [next(vectors) for _ in solution.patterns])
        stored = await self._store.get([solution.id for solution in new])
        if gone := [
            solution.id for solution in new if solution.id not in stored
        ]:  # removed meanwhile: its vectors must not stay in the index
            await self._index.remove(gone)
        return len(new)

    async def _select_unembedded(self, solutions: Sequence[Solution]) -> list[Solution]:
        """Return those of the solutions that have patterns new to this encoder."""
        seen = await self._index.count_patterns([solution.id for solution in solutions], self._embedder.identity)
        return [solution for solution in solutions if seen.get(solution.id, 0) != len(solution.patterns)]


def _select_best_per_program(
    near_patterns: Iterable[NearPattern], solutions: Mapping[str, Solution], request: str, scale: LinearMap
) -> list[NearSolution]:
    """Return each usable program with its nearest pattern; an owner's copy is preferred to the shared solution."""
    best: dict[str, NearSolution] = {}
    for near_pattern in near_patterns:
        solution = solutions.get(near_pattern.solution)
        if solution is None or near_pattern.number >= len(solution.patterns) or solution.suspended:
            continue
        text = solution.patterns[near_pattern.number]
        masked_request = mask_request(text, request, solution.plan.inputs)
        near = NearSolution(
            solution,
            text,
            compute_pattern_similarity(
                scale.map(near_pattern.similarity), masked_request, mask_inputs(text, solution.plan.inputs)
            ),
        )
        best_so_far = best.get(get_program_id(near_pattern.solution))
        if best_so_far is None or (near.likeness, solution.owner) > (best_so_far.likeness, best_so_far.solution.owner):
            best[get_program_id(near_pattern.solution)] = near
    return list(best.values())


def _is_copy_suspended(own_copy: Solution | None) -> bool:
    """Return whether the owner's copy of a program is suspended; then the shared solution is not used either."""
    return own_copy is not None and bool(own_copy.suspended)


def _sort_key(near: NearSolution) -> tuple[float, int, str]:
    """Return the sort key of a solution: its likeness weighted by its trust, then its successes."""
    return (-near.likeness * estimate_trust(near.solution), -near.solution.good, near.solution.id)
