"""A run in one line, and what it took."""

from domain.event import RunFinished
from domain.taken import in_words
from domain.usage import Usage
from ui.run_state import RunState

OUTCOMES: dict[str, str] = {
    "answered": "Answered",
    "partly": "Answered in part",
    "gave_up": "Found no way to answer",
    "budget": "Stopped at its limits",
    "cancelled": "Stopped",
    "failed": "Failed",
}


def summary(story: RunState, end: RunFinished) -> str:
    """How it ended and how long it took, then what it did: ``Answered in 3.2 s: 5 calls, 1 repair, 1,950 tokens``."""
    usage = end.usage
    repairs = sum(one.mends for one in story.programs.texts)
    looks = sum(len(one.looks) for one in story.programs.texts)
    parts = [_several(len(story.calls), "call")]
    parts += [_several(repairs, "repair")] if repairs else []
    parts += [_several(looks, "look")] if looks else []
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts += [_several(tokens, "token")] if tokens else []
    return f"{outcome_told(story, end)} in {usage.total_seconds:.1f} s: {', '.join(parts)}"


def outcome_told(story: RunState, end: RunFinished) -> str:
    """How it ended; a run that its user kept from its end has not failed to find one."""
    if end.outcome == "gave_up" and any(call.not_made for call in story.calls):
        return "Not done, as you did not allow it,"
    if end.outcome == "gave_up" and not story.calls and any(one.asks == "plan" for one in story.asked):
        return "Not done, as its plan was not allowed,"
    return OUTCOMES[end.outcome]


def from_library(story: RunState) -> str:
    """That an answer is what the library has for such requests, and how to say that it is not right; empty where another program was written."""
    if story.taken is None or len(story.programs.texts) != 1 or not story.answer:
        return ""
    return f"{in_words(story.taken)}. Not right? Say Wrong, and it is not taken for such a request again."


def under_way(story: RunState, *, waits: bool = False) -> str:
    """A run that goes on. ``waits``: for an answer of its user."""
    if not story.seq:
        return "Waiting for its turn …"
    if waits:
        return "Waits for you: see below."
    running = sum(call.result is None for call in story.calls)
    told = f"Under way: {_several(len(story.calls), 'call')}" if story.calls else "Under way"
    if running:
        return f"{told}, {running} not answered yet …"
    texts = story.programs.texts
    writes = (
        story.planner in ("program", "solution")
        and all(one.over for one in texts)
        and not any(one.ended for one in texts[-1:])
    )
    return f"{told}{',' if story.calls else ':'} a program is being written …" if writes else f"{told} …"


def took(usage: Usage) -> str:
    """Where its time and its tokens went."""
    parts = {"planning": usage.plan_seconds}
    if usage.write_seconds or usage.check_seconds:
        found = usage.plan_seconds - usage.write_seconds - usage.check_seconds
        parts = {"finding tools": found, "writing": usage.write_seconds, "checking": usage.check_seconds}
    parts["running"] = usage.execute_seconds
    told = f"Time: {', '.join(f'{what} {seconds_told(seconds)}' for what, seconds in parts.items())}."
    if usage.model_calls:
        told += f" {_several(usage.model_calls, 'model call')}: {usage.prompt_tokens:,} tokens in, {usage.completion_tokens:,} out."
    if usage.considered:
        told += f" {_several(usage.considered, 'tool')} considered, {_several(usage.decisions, 'decision')}."
    return told


def seconds_told(seconds: float) -> str:
    """``28 ms``, ``3.2 s``."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def _several(number: int, thing: str) -> str:
    return f"{number:,} {thing}" if number == 1 else f"{number:,} {thing}s" if number else f"no {thing}s"
