"""Self-reflection (thesis 4.3.2.3): a path that was walked is judged, and the walk resumed where it went wrong."""

from dataclasses import dataclass

from agent.memory.short_term import told
from agent.offer.expansion import Expander
from agent.offer.tool_facts import Evidence
from agent.policy.path_questions import Reflection, ReflectionQuestion
from agent.policy.protocol import Policy
from agent.search.state import Frontier, Path
from domain.event import PathEnded, ReflectionMade
from domain.tool import ToolDoc

PATIENCE = 24
"""Moves of one walk after which it is looked at, wherever it stands: a policy that goes back and forth has lost its way."""
_NEAR = 0.6
"""A path serves a clause as far as can be told where it comes so near to the tool that fits it best."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A path with the state in which the walk ended with it, and how much of the request it serves."""

    ended: PathEnded
    state: Frontier
    value: float


class Reflector:
    """Judges the walks of one subtask."""

    def __init__(
        self, request: str, given: tuple[ToolDoc, ...], evidence: Evidence, expand: Expander, policy: Policy
    ) -> None:
        self._request = request
        self._given = given
        self._evidence = evidence
        self._expand = expand
        self._policy = policy

    async def judged(self, ended: PathEnded, state: Frontier) -> Judged:
        """A path with what it is worth; the more the better."""
        return Judged(ended, state, await self._value(ended.path))

    async def in_doubt(self, ended: PathEnded, state: Frontier) -> bool:
        """Whether facts speak against a path: it has no end, leaves something undone or was found by going back; an input of it comes from
        nowhere; or another tool fits a part of the request far better than any of it.
        """
        if ended.how != "finished" or ended.unserved or state.dead:
            return True
        await self._evidence.read(ended.path)
        path = self._evidence.docs(ended.path)
        reader, before = self._evidence.reader, self._given
        if any(reader.fillable(one, self._request, (*before, *path[:at])).missing for at, one in enumerate(path)):
            return True
        served = [self._evidence.relevance(one.id) for one in (*before, *path) if self._evidence.has(one.id)]
        known = [self._evidence.relevance(one.id) for one in self._evidence.all]
        best = [max(values) for values in zip(*known, strict=True)]
        return any(max(values) < _NEAR * best[at] for at, values in enumerate(zip(*served, strict=True)))

    async def reflect(self, ended: PathEnded, state: Frontier) -> tuple[Path, Reflection]:
        """The path that was looked at, and the policy's judgement: of the path of the walk, else of the best one it has seen."""
        path = ended.path or state.best
        await self._evidence.read(path)
        start = await self._expand(Frontier(banned=state.banned))
        question = ReflectionQuestion(
            request=self._request,
            clauses=self._evidence.clauses,
            given=self._given,
            path=self._evidence.docs(path),
            relevance=tuple(self._evidence.relevance(tool) for tool in path),
            starts=start.candidates,
            how="budget" if ended.how == "open" else ended.how,
            reason=ended.reason,
            memory=told(state.trail),
        )
        return path, await self._policy.decide(question)

    async def _value(self, path: Path) -> float:
        return (await self._expand(Frontier(path=path, offered=((),) * (len(path) + 1)))).value if path else 0.0


def resumed(state: Frontier, path: Path, ended: PathEnded, reflection: Reflection) -> Frontier | None:
    """Where to walk on from after a judgement; None where there is nothing to try, or no need to.

    A finished path that is totally wrong is not begun again, whatever else was called noisy.
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
            begun = ended.path[:1] if ended.how == "finished" else ()
            noisy = [tool for tool in dict.fromkeys((*reflection.noisy, *begun)) if not state.is_dead((tool,))]
            return state.restart(noisy, reflection.reason) if noisy else None


def better(last: PathEnded, value: float, verdict: str, best: Judged | None) -> Judged | None:
    """The earlier path to go on with instead of the last one, if any: where the last walk came to nothing, or to less."""
    if best is None or verdict == "success":
        return None
    return best if last.how != "finished" or not last.path or value < best.value else None


def made(path: Path, reflection: Reflection, *, goes_on: bool) -> ReflectionMade:
    """The event of a judgement."""
    return ReflectionMade(
        path=path,
        verdict=reflection.verdict,
        first_wrong=reflection.first_wrong,
        noisy=reflection.noisy,
        reason=reflection.reason,
        resumed=goes_on,
    )
