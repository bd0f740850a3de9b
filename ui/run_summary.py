"""A run in one line, and what it took."""

from domain.event import RunFinished
from domain.usage import Usage
from ui.language import listing, message, say, say_count, sentences
from ui.run_state import Refused, RunState
from ui.taken_words import taken_told

OUTCOMES: dict[str, str] = {
    "answered": message("Answered"),
    "partly": message("Answered in part"),
    "gave_up": message("Found no way to answer"),
    "budget": message("Stopped at its limits"),
    "cancelled": message("Stopped"),
    "failed": message("Failed"),
}

_REFUSED: dict[Refused, str] = {
    "call": message("Not done, as you did not allow it"),
    "plan": message("Not done, as its plan was not allowed"),
}


def summary(story: RunState, end: RunFinished) -> str:
    """How it ended and how long it took, then what it did: ``Answered in 3.2 s: 5 calls, 1 repair, 1,950 tokens``."""
    usage = end.usage
    repairs = sum(one.mends for one in story.programs.texts)
    looks = sum(len(one.looks) for one in story.programs.texts)
    parts = [calls_told(story.made.count)]
    parts += [say_count("1 repair", "{count:,} repairs", repairs)] if repairs else []
    parts += [say_count("1 look", "{count:,} looks", looks)] if looks else []
    tokens = usage.prompt_tokens + usage.completion_tokens
    parts += [say_count("1 token", "{count:,} tokens", tokens)] if tokens else []
    outcome = outcome_told(end.outcome, story.refused)
    if story.refused:
        return say(
            "{outcome}, in {seconds:.1f} s: {parts}", outcome=outcome, seconds=usage.total_seconds, parts=listing(parts)
        )
    return say(
        "{outcome} in {seconds:.1f} s: {parts}", outcome=outcome, seconds=usage.total_seconds, parts=listing(parts)
    )


def outcome_told(outcome: str, refused: Refused | None) -> str:
    """How a run ended; one that its user kept from its end has not failed to find one."""
    return say(_REFUSED[refused]) if outcome == "gave_up" and refused else say(OUTCOMES.get(outcome, outcome))


def from_library(story: RunState) -> str:
    """That an answer is what the library has for such requests, and how to say that it is not right; empty where another program was written."""
    if story.taken is None or len(story.programs.texts) != 1 or not story.answer:
        return ""
    return say(
        "{taken}. Not right? Say Wrong, and it is not taken for such a request again.", taken=taken_told(story.taken)
    )


def under_way(story: RunState, *, waits: bool = False) -> str:
    """A run that goes on. ``waits``: for an answer of its user."""
    if not story.seq:
        return say("Waiting for its turn …")
    if waits:
        return say("Waits for you: see below.")
    running = sum(call.result is None for call in story.calls)
    calls = calls_told(story.made.count + running)
    if running:
        return say("Under way: {calls}, {running} not answered yet …", calls=calls, running=running)
    texts = story.programs.texts
    writes = (
        story.planner in ("program", "solution")
        and all(one.over for one in texts)
        and not any(one.ended for one in texts[-1:])
    )
    if writes:
        return (
            say("Under way: {calls}, a program is being written …", calls=calls)
            if story.calls
            else say("Under way: a program is being written …")
        )
    return say("Under way: {calls} …", calls=calls) if story.calls else say("Under way …")


def took(usage: Usage) -> str:
    """Where its time and its tokens went."""
    parts = [say("planning {time}", time=seconds_told(usage.plan_seconds))]
    if usage.write_seconds or usage.check_seconds:
        found = usage.plan_seconds - usage.write_seconds - usage.check_seconds
        parts = [
            say("finding tools {time}", time=seconds_told(found)),
            say("writing {time}", time=seconds_told(usage.write_seconds)),
            say("checking {time}", time=seconds_told(usage.check_seconds)),
        ]
    parts.append(say("running {time}", time=seconds_told(usage.execute_seconds)))
    told = [say("Time: {parts}.", parts=listing(parts))]
    if usage.model_calls:
        calls = say_count("1 model call", "{count:,} model calls", usage.model_calls)
        into, out = usage.prompt_tokens, usage.completion_tokens
        told.append(say("{calls}: {into:,} tokens in, {out:,} out.", calls=calls, into=into, out=out))
    if usage.considered:
        tools = say_count("1 tool", "{count:,} tools", usage.considered)
        decisions = say_count("1 decision", "{count:,} decisions", usage.decisions)
        told.append(say("{tools} considered, {decisions}.", tools=tools, decisions=decisions))
    return sentences(told)


def seconds_told(seconds: float) -> str:
    """``28 ms``, ``3.2 s``."""
    return say("{ms:.0f} ms", ms=seconds * 1000) if seconds < 1 else say("{seconds:.1f} s", seconds=seconds)


def calls_told(number: int) -> str:
    """How many there were."""
    return say_count("1 call", "{count:,} calls", number) if number else say("no calls")
