"""Usage, for administrators: what was used by day and by user, what each may use, how many runs and calls failed and how long they took."""

from collections.abc import Sequence

import streamlit as st

from ui.client import Client
from ui.screens.tables import table
from ui.screens.telling import told
from ui.source_words import counted
from ui.texts import unmarked
from ui.usage import Figure, Limits, Line, limits_of, performance, set_limits, usage

_DAYS = {1: "today", 7: "7 days", 31: "31 days"}
_PLOTTED = 12
_SAVED = "limits-saved"
_SHARE, _SECONDS = "failed, per cent", "seconds within which 95 of 100 ended"


def all_usage(client: Client) -> None:
    """Sums first, then who, then how well it went."""
    st.title("Usage")
    days = (
        st.segmented_control("Of the last", list(_DAYS), default=7, format_func=_DAYS.__getitem__, key="usage-days")
        or 7
    )
    found = usage(client, days)
    _sums(found.days)
    _plots(found.days)
    st.subheader("By user")
    name = st.text_input("Search by the beginning of a name", max_chars=64, key="usage-name").strip()
    users = usage(client, days, name).users if name else found.users
    _users(client, users)
    seen = performance(client, days)
    st.subheader("Failures and latency")
    st.caption(f"Of the newest {seen.most:,} runs that ended, and of their newest {seen.most:,} calls.")
    for title, figures in (("Runs by planner", seen.planners), ("Calls by tool", seen.tools)):
        _figures(title, figures)


def _sums(days: Sequence[Line]) -> None:
    sums = {"Runs": sum(one.runs for one in days), "Model calls": sum(one.model_calls for one in days)}
    sums["Tokens"] = sum(one.tokens for one in days)
    costs = [one.cost for one in days if one.cost is not None]
    with st.container(horizontal=True):
        for label, number in sums.items():
            st.metric(label, f"{number:,}")
        if costs:
            st.metric("Cost", f"{sum(costs):,.2f}")
    if not costs and sums["Tokens"]:
        st.caption(
            "No costs are told: the server has no prices of tokens (FOOTPATH_MODEL_PRICE_PROMPT and …_COMPLETION)."
        )


def _plots(days: Sequence[Line]) -> None:
    if len(days) < 2:
        if not days:
            st.info("Nothing was used in this time.")
        return
    at = [f"{one.day:%m-%d}" for one in days if one.day]
    for label, numbers in (("runs", [one.runs for one in days]), ("tokens", [one.tokens for one in days])):
        points = {"day": at, label: numbers}
        st.bar_chart(points, x="day", y=label, height=180, alt=f"How many {label} each day")  # pyright: ignore[reportUnknownMemberType]


def _users(client: Client, users: Sequence[Line]) -> None:
    if not users:
        st.caption("Nobody of whom that is true has used anything.")
        return
    rows = [
        {
            "User": one.name,
            "Runs": f"{one.runs:,}",
            "Model calls": f"{one.model_calls:,}",
            "Tokens": f"{one.tokens:,}",
        }
        | ({} if one.cost is None else {"Cost": f"{one.cost:,.2f}"})
        for one in users
    ]
    table(rows)
    names = {one.user_id: one.name for one in users}
    with st.expander("Limits of one user", expanded=_SAVED in st.session_state):
        user = st.selectbox("Of whom", list(names), format_func=lambda one: unmarked(names[one]), key="limits-of")
        _limits(client, user)


def _limits(client: Client, user: str) -> None:
    """Empty is as for everybody; what is saved counts from the next run on."""
    if st.session_state.pop(_SAVED, ""):
        st.success("Saved; it counts from the next run on.")
    now = limits_of(client, user)
    st.caption(
        "In a day (UTC). Empty: as for everybody; 0: no limit. Now: "
        + ", ".join(f"{name} {f'{value:,}' if value else 'without limit'}" for name, value in now.counts)
    )
    with st.form(f"limits-{user}", border=False):
        left, middle, right = st.columns(3)
        runs = left.number_input("Runs", 0, 1_000_000, now.own.runs, step=1, key=f"limit-runs-{user}")
        tokens = middle.number_input("Tokens", 0, 10**12, now.own.tokens, step=1000, key=f"limit-tokens-{user}")
        cost = right.number_input("Cost", 0.0, 1e9, now.own.cost, key=f"limit-cost-{user}")
        pressed = st.form_submit_button("Save")
    if pressed and told(lambda: set_limits(client, user, Limits(runs=runs, tokens=tokens, cost=cost))):
        st.session_state[_SAVED] = user
        st.rerun()


def _figures(title: str, figures: Sequence[Figure]) -> None:
    st.markdown(f"**{title}**")
    if not figures:
        st.caption("There were none in this time.")
        return
    shown = figures[:_PLOTTED]
    short = [one.name.rpartition("/")[2] for one in shown]
    names = [one.name if short.count(end) > 1 else end for one, end in zip(shown, short, strict=True)]
    plots = {_SHARE: [100 * one.failed / one.count for one in shown], _SECONDS: [one.p95 for one in shown]}
    for place, (label, numbers) in zip(st.columns(2), plots.items(), strict=True):
        points = {"of": names, label: numbers}
        with place:
            st.bar_chart(points, x="of", y=label, x_label="", horizontal=True, height=110 + 30 * len(shown), alt=f"{title}: {label}")  # pyright: ignore[reportUnknownMemberType]  # fmt: skip
    with st.expander(f"{title} in figures: {counted(len(figures), 'kind')}"):
        table(
            [
                {
                    "": one.name,
                    "How many": f"{one.count:,}",
                    "Failed": f"{one.failed:,}",
                    "Half within": f"{one.median:.2f} s",
                    "95 of 100 within": f"{one.p95:.2f} s",
                }
                for one in figures
            ]
        )
