"""Lessons of programs: transitions along their data, and scores by what a call was used for.

They are read off the text; no model is asked.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from agent.learning.step_scores import is_scored, scores
from agent.program_trace import ProgramTrace
from agent.programs.analysis.flow import Site
from agent.transcript import SubtaskTranscript
from domain.plan import StepResult
from domain.tool import FINISH, ToolId
from graph.facts import LiveOutcome

MOST_CALLS = 5
"""Weight of the outcomes of one tool in one run, in calls: a program may call it hundreds of times."""


def program_transitions(subtask: SubtaskTranscript, *, served: bool) -> Counter[tuple[ToolId, ToolId]]:
    """Count the transitions between a program's call sites, one per pair of which one uses the other's result.

    It does not matter how often they were called. If the request was ``served``, the sites whose results the answer
    uses lead to ``Finish``. A program without a result teaches only what failed in it.
    """
    found: Counter[tuple[ToolId, ToolId]] = Counter()
    failed: set[tuple[ToolId, ToolId]] = set()
    for trace in subtask.programs.written:
        said, good, bad = trace.feeds(), *_by_site(trace)
        failed |= {(good[one], bad[other]) for one, other in said.pairs if one in good and other in bad}
        if trace.useful:
            found.update((good[one], good[other]) for one, other in said.pairs if one in good and other in good)
            ends = {good[one] for one in said.ends if one in good} if served and trace is subtask.programs.last else ()
            found.update((tool, FINISH) for tool in sorted(ends))
    found.update(sorted(failed))
    return found


def program_scores(subtask: SubtaskTranscript, *, served: bool) -> Iterator[tuple[StepResult, float]]:
    """Yield the best score of each call site, by the rules for steps.

    A call served if another call, or the answer of a request that was ``served``, used its result.
    """
    for trace in subtask.programs.written:
        said, (good, _) = trace.feeds(), _by_site(trace)
        used: set[Site] = set()
        if trace.useful:
            used = {one for one, other in said.pairs if other in good} | (set(said.ends) if served else set())
        best: dict[Site, tuple[StepResult, float]] = {}
        for site, result in trace.by_site:
            alone = result.model_copy(
                update={"provenance": ()}
            )  # whose numbers are those of all of its program's calls
            score = scores((alone,), (), answered=site in used)[0]
            if site not in best or score > best[site][1]:
                best[site] = (result, score)
        yield from best.values()


def distinct_calls(results: Iterable[StepResult]) -> list[StepResult]:
    """Return each distinct call that was made, a tool with its arguments, by its last result."""
    return list(
        {(one.tool, json.dumps(one.arguments, sort_keys=True)): one for one in results if one.attempts}.values()
    )


def capped(outcomes: Sequence[tuple[ToolId, LiveOutcome]]) -> Iterator[tuple[ToolId, LiveOutcome]]:
    """Yield at most a few outcomes of each tool, in the same proportion."""
    for tool in dict.fromkeys(tool for tool, _ in outcomes):
        counts: Counter[LiveOutcome] = Counter(outcome for one, outcome in outcomes if one == tool)
        share = min(1.0, MOST_CALLS / counts.total())
        for outcome, count in counts.items():
            for _ in range(round(share * count)):
                yield tool, outcome


def _by_site(trace: ProgramTrace) -> tuple[dict[Site, ToolId], dict[Site, ToolId]]:
    """Return the tools of sites with a successful call, and of those that only failed by the tool's fault."""
    calls = trace.by_site
    good = {site: result.tool for site, result in calls if result.status == "ok"}
    bad = {site: result.tool for site, result in calls if site not in good and is_scored(result)}
    return good, bad
