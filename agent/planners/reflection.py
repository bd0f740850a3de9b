"""Self-reflection (thesis 4.3.2.3): the policy judges a path, and the search resumes where it went wrong."""

from dataclasses import dataclass

from agent.memory.short_term import render_move_history
from agent.offer.node_expansion import NodeExpander
from agent.offer.tool_evidence import ToolEvidence
from agent.policy.protocol import Policy, Reflection, ReflectionQuestion
from agent.search.state import Path, SearchState
from domain.event import PathEnded, ReflectionMade
from domain.tool import ToolDoc

MAX_MOVES = 24
"""Moves after which a search that has not ended is reflected on, because the policy is going back and forth."""
_MIN_RELEVANCE_SHARE = 0.6
"""Share of the best relevance of any tool for a clause that a path must reach to count as serving the clause."""


@dataclass(frozen=True, slots=True)
class ScoredPath:
    """A path with its score."""

    end: PathEnded
    """The event with the path."""
    state: SearchState
    """State in which the search ended with the path."""
    value: float
    """How much of the request the path serves; higher is better."""


class Reflector:
    """Judges the paths that were found for one subtask."""

    def __init__(
        self,
        request: str,
        prior_tools: tuple[ToolDoc, ...],
        evidence: ToolEvidence,
        expand: NodeExpander,
        policy: Policy,
    ) -> None:
        self._request = request
        self._prior_tools = prior_tools
        self._evidence = evidence
        self._expand_node = expand
        self._policy = policy

    async def score_path(self, ended: PathEnded, state: SearchState) -> ScoredPath:
        """Return the path with its score."""
        return ScoredPath(ended, state, await self._compute_path_value(ended.path))

    async def is_doubtful(self, ended: PathEnded, state: SearchState) -> bool:
        """Return whether facts speak against a path, so that a reflection is worth its cost.

        It is doubtful if it did not finish, leaves something unserved, was found by backtracking, has an input
        without a source, or if another tool fits a part of the request far better than any tool of the path.
        """
        if ended.how != "finished" or ended.unserved or state.dead:
            return True
        await self._evidence.read(ended.path)
        path = self._evidence.docs(ended.path)
        reader, prior_tools = self._evidence.reader, self._prior_tools
        if any(
            reader.check_inputs(tool, self._request, (*prior_tools, *path[:at])).missing for at, tool in enumerate(path)
        ):
            return True
        served = [self._evidence.relevance(tool.id) for tool in (*prior_tools, *path) if self._evidence.has(tool.id)]
        relevances = [self._evidence.relevance(tool.id) for tool in self._evidence.all_docs]
        best = [max(values) for values in zip(*relevances, strict=True)]
        return any(max(values) < _MIN_RELEVANCE_SHARE * best[at] for at, values in enumerate(zip(*served, strict=True)))

    async def reflect(self, ended: PathEnded, state: SearchState) -> tuple[Path, Reflection]:
        """Have the policy judge the path that was found, or the best path seen if there is none.

        Returns:
            That path and the judgement.
        """
        path = ended.path or state.best
        await self._evidence.read(path)
        start = await self._expand_node(SearchState(banned=state.banned))
        question = ReflectionQuestion(
            request=self._request,
            clauses=self._evidence.clauses,
            earlier_tools=self._prior_tools,
            path=self._evidence.docs(path),
            relevance=tuple(self._evidence.relevance(tool) for tool in path),
            starts=start.candidates,
            ending="budget" if ended.how == "open" else ended.how,
            reason=ended.reason,
            memory=render_move_history(state.trail),
        )
        return path, await self._policy.decide(question)

    async def _compute_path_value(self, path: Path) -> float:
        return (await self._expand_node(SearchState(path=path, offered=((),) * (len(path) + 1)))).value if path else 0.0


def apply_reflection(state: SearchState, path: Path, ended: PathEnded, reflection: Reflection) -> SearchState | None:
    """Return the state from which the search goes on after a judgement; None if it need not or cannot.

    If a finished path is totally wrong, its first tool is excluded as a start, besides the tools that the policy
    calls noisy.
    """
    match reflection.verdict:
        case "success":
            return None
        case "partial":
            wrong = reflection.first_wrong
            if wrong is None or not path or not 1 <= wrong <= len(path) + 1:
                return None
            return state.resume(path, wrong - 1, reflection.reason)
        case "total":
            first_tools = ended.path[:1] if ended.how == "finished" else ()
            noisy = [tool for tool in dict.fromkeys((*reflection.noisy, *first_tools)) if not state.is_dead((tool,))]
            return state.restart(noisy, reflection.reason) if noisy else None


def select_better(last: PathEnded, value: float, verdict: str, best: ScoredPath | None) -> ScoredPath | None:
    """Return the best earlier path if the last search found none or a worse one; else None.

    ``value`` is the score of the last path. A path that the policy judged a success is kept whatever its score.
    """
    if best is None or verdict == "success":
        return None
    return best if last.how != "finished" or not last.path or value < best.value else None


def build_reflection_event(path: Path, reflection: Reflection, *, resumed: bool) -> ReflectionMade:
    """Build the event of a judgement; ``resumed`` tells whether the search goes on."""
    return ReflectionMade(
        path=path,
        verdict=reflection.verdict,
        first_wrong=reflection.first_wrong,
        noisy=reflection.noisy,
        reason=reflection.reason,
        resumed=resumed,
    )
