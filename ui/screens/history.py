"""All runs of a conversation, side by side; and one of them in full."""

import streamlit as st

from ui.answer_parts import Table
from ui.answer_view import table_html
from ui.client import Client
from ui.following import follower
from ui.language import listing, message, say, say_count
from ui.replies import PLANNERS, Run
from ui.run_state import RunState
from ui.run_summary import OUTCOMES
from ui.run_view import draw
from ui.screens.around_run import around
from ui.texts import unmarked
from ui.walk_graph import tool_name

_PAST = 5.0
_SHOWN = 160
"""Characters of a question in the table."""


def history(client: Client, conversation: str) -> None:
    """A table of what each run took, then the walk, plan and calls of the one that is chosen."""
    st.title(say("History"))
    runs = client.runs(conversation) if conversation else []
    if not runs:
        st.caption(say("Nothing was asked here yet."))
        return
    st.html(table_html(_table(runs), say("The runs of this conversation")))
    st.caption(_total(runs))
    chosen = st.selectbox(
        say("Look at"),
        range(len(runs)),
        index=len(runs) - 1,
        format_func=[_name(*one) for one in enumerate(runs)].__getitem__,
    )
    run = runs[chosen]
    following = follower(client, run.id)
    following.wait(_PAST)
    story = following.look()
    st.text(run.request)
    _plan(story)
    st.fragment(lambda: draw(story, around(client, run.id, story), unfolded=True), key=f"history-{run.id}")()


_HEADS = (
    message("Question"),
    message("End"),
    message("Asked (UTC)"),
    message("Seconds"),
    message("Tokens"),
    message("Considered"),
    message("Decisions"),
    message("Planner"),
)


def _table(runs: list[Run]) -> Table:
    """A row each; what a narrow screen shows first is what was asked and how it ended."""
    return Table(tuple(_row(run) for run in runs), tuple(say(one) for one in _HEADS))


def _row(run: Run) -> tuple[str, ...]:
    usage = run.usage
    used = (
        (f"{usage.total_seconds:.1f}", str(usage.tokens), str(usage.considered), str(usage.decisions))
        if usage
        else ("",) * 4
    )
    asked = f"{run.created_at:%Y-%m-%d %H:%M}" if run.created_at else ""
    end = say(OUTCOMES.get(run.outcome, run.outcome) if run.outcome else run.status.capitalize())
    return run.request[:_SHOWN], end, asked, *used, say(PLANNERS.get(run.planner, run.planner))


def _total(runs: list[Run]) -> str:
    used = [run.usage for run in runs if run.usage]
    seconds, tokens = sum(one.total_seconds for one in used), sum(one.tokens for one in used)
    return listing(
        [
            say_count("1 run", "{count:,} runs", len(runs)),
            say("{seconds:.1f} s", seconds=seconds),
            say_count("1 token", "{count:,} tokens", tokens),
        ]
    )


def _name(number: int, run: Run) -> str:
    return f"{number + 1}. {run.request[:80]}"


def _plan(story: RunState) -> None:
    """What the walk settled on, subtask by subtask."""
    for subtask, path in sorted(story.plans.items()):
        steps = " → ".join(unmarked(tool_name(tool)) for tool in path)
        st.caption(
            say("Plan {subtask}: {steps}", subtask=subtask, steps=steps)
            if len(story.plans) > 1
            else say("Plan: {steps}", steps=steps)
        )
