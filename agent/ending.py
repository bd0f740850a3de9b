"""What a run came to, judged by what it called: whatever its policy says at the end."""

from collections.abc import Iterator, Sequence

from agent.answer import Steps
from agent.changes_made import told, unmet
from agent.evidence import Evidence
from agent.progress import Progress
from agent.tool_text import clean


def unreplaced(progress: Progress, evidence: Evidence) -> bool:
    """Whether a run ends with no more than what came before a step that failed, and that step was more to the point."""
    kept = [evidence.relevance(result.tool) for result in progress.done.values()]
    return any(
        value > max((other[at] for other in kept), default=0.0)
        for tool in progress.unreplaced
        for at, value in enumerate(evidence.relevance(tool))
    )


def undone(progress: Progress, evidence: Evidence, clauses: Sequence[str]) -> tuple[str, ...]:
    """The changes that a request orders and that were not made, as far as a tool at hand makes such."""
    made = {result.tool for result in progress.called if result.status in ("ok", "unknown")}
    judged = {doc.id: (doc, evidence.relevance(doc.id)) for doc in evidence.all}
    return unmet(clauses, tuple(judged.values()), [judged[tool] for tool in made])


def changed(progress: Progress, evidence: Evidence, clauses: Sequence[str], steps: Steps) -> Iterator[str]:
    """What a run changed and failed to change, a line each."""
    lines = list(told(steps, [(evidence.doc(result.tool), result) for result in progress.called]))
    yield from lines
    if not lines:
        for clause in undone(progress, evidence, clauses):
            yield f'Not done: "{clean(clause, 200)}". No call made this change.\n'
