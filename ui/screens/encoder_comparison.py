"""Two encoders beside one another, for a decision: what they offer, what they take, and which requests gain and lose."""

from collections.abc import Sequence

import streamlit as st

from domain.encoder_comparison import EncoderComparison, EncoderFigures, Example
from ui.language import listing, say, say_count
from ui.screens.tables import table

_TELLING = 0.01
"""A difference of shares that is worth a word."""


def figures(found: EncoderComparison) -> None:
    """The one that matters most as a sentence; then all of them, old and new."""
    _verdict(found)
    st.caption(_requests(found))
    table(_rows(found.old, found.new))


def changes(found: EncoderComparison) -> None:
    """What else is to be known, and which requests gain and lose."""
    st.caption(say("Of the first 16 tools, both offer {share:.0f} of 100 alike.", share=100 * found.overlap))
    if found.old.reranked and not found.new.reranked:
        st.info(say("The order of tools was learnt with the encoder in use; with the other one it is left out, which the figures count in. It can be taught anew (scripts/train_reranker.py)."))  # fmt: skip
    _examples(say_count("1 request gains", "{count} requests gain", found.gained), found.gained, found.gains)
    _examples(say_count("1 request loses", "{count} requests lose", found.lost), found.lost, found.losses)
    if found.unshown:
        st.caption(
            say_count(
                "1 of them is a user's own, and its words are not shown.",
                "{count} of them are users' own, and their words are not shown.",
                found.unshown,
            )
        )


def _verdict(found: EncoderComparison) -> None:
    old, new = found.old.recall16, found.new.recall16
    shares = {"old": 100 * old, "new": 100 * new}
    if new > old + _TELLING:
        st.success(say("The new encoder offers more of what requests need: {new:.0f} instead of {old:.0f} of 100 tools are among the first 16.", **shares))  # fmt: skip
    elif new < old - _TELLING:
        st.warning(say("The new encoder offers less of what requests need: {new:.0f} instead of {old:.0f} of 100 tools are among the first 16.", **shares))  # fmt: skip
    else:
        st.info(say("Both offer about as much of what requests need: {old:.0f} and {new:.0f} of 100 tools are among the first 16.", **shares))  # fmt: skip


def _requests(found: EncoderComparison) -> str:
    words = {
        "memory": say("served before"),
        "solution": say("of solutions"),
        "made": say("made from tools' descriptions"),
        "given": say("given"),
    }
    parts = [f"{count:,} {words.get(origin, origin)}" for origin, count in found.origins.items()]
    return say_count("On 1 request: {parts}", "On {count} requests: {parts}", found.requests, parts=listing(parts))


def _rows(old: EncoderFigures, new: EncoderFigures) -> list[dict[str, str]]:
    def share(value: float) -> str:
        return say("{share:.1f} %", share=100 * value)

    rows = {
        say("Needed tools among the first 8"): (share(old.recall8), share(new.recall8)),
        say("Needed tools among the first 16"): (share(old.recall16), share(new.recall16)),
        say("Requests with all tools among the first 8"): (share(old.complete8), share(new.complete8)),
        say("Requests with all tools among the first 16"): (share(old.complete16), share(new.complete16)),
        say("Half of all requests within"): (_milliseconds(old.seconds), _milliseconds(new.seconds)),
        say("95 of 100 requests within"): (_milliseconds(old.seconds95), _milliseconds(new.seconds95)),
        say("Dimension"): (f"{old.dimension:,}", f"{new.dimension:,}"),
        say("Size of all vectors"): (_megabytes(old.bytes), _megabytes(new.bytes)),
    }
    if old.cost is not None or new.cost is not None:
        rows[say("Cost of a thousand requests")] = (_cost(old.cost), _cost(new.cost))
    return [{"": name, say("In use"): before, say("Prepared"): after} for name, (before, after) in rows.items()]


def _milliseconds(seconds: float) -> str:
    return say("{count:,} ms", count=round(1000 * seconds))


def _megabytes(size: int) -> str:
    return say("{size:.1f} MB", size=size / 1e6)


def _cost(cost: float | None) -> str:
    return say("nothing") if cost is None else f"{1000 * cost:.4g}"


def _examples(title: str, count: int, examples: Sequence[Example]) -> None:
    if not count:
        return
    with st.expander(title):
        if examples:
            table([_example(one) for one in examples])
        else:
            st.caption(say("None of them may be shown."))


def _example(one: Example) -> dict[str, str]:
    places = [
        say("{tool}: {old} → {new}", tool=tool.rpartition("/")[2], old=_place(old), new=_place(new))
        for tool, old, new in zip(one.needed, one.old, one.new, strict=True)
    ]
    return {say("Request"): one.request, say("Place of each needed tool"): listing(places)}


def _place(place: int | None) -> str:
    return say("not offered") if place is None else str(place)
