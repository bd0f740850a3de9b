"""Usage, for administrators: what was used by day and by user, what each may use, how many runs and calls failed and how long they took."""

from collections.abc import Sequence
from typing import Any

import streamlit as st

from ui.accounts import PAGE, accounts, accounts_named
from ui.client import Client
from ui.language import listing, message, number, say, say_count, short_day
from ui.screens.tables import table
from ui.screens.telling import told
from ui.texts import unmarked
from ui.usage import Figure, Limits, Line, limits_of, performance, set_limits, usage

_DAYS = {1: message("today"), 7: message("7 days"), 31: message("31 days")}
_LIMITS = {"runs": message("runs"), "tokens": message("tokens"), "cost": message("cost")}
_PLOTTED = 12
_SAVED = "limits-saved"
_ZERO = message("0 means no limit, not nothing. Who is to use nothing is locked out under *Accounts*.")
_SHARE, _SECONDS = message("failed, per cent"), message("seconds within which 95 of 100 ended")


def all_usage(client: Client) -> None:
    """Sums first, then who, then how well it went."""
    st.title(say("Usage"))
    days = (
        st.segmented_control(
            say("Of the last"), list(_DAYS), default=7, format_func=lambda one: say(_DAYS[one]), key="usage-days"
        )
        or 7
    )
    found = usage(client, days)
    _sums(found.days)
    _plots(found.days)
    st.subheader(say("By user"))
    name = st.text_input(say("Search by the beginning of a name"), max_chars=64, key="usage-name").strip()
    users = usage(client, days, name).users if name else found.users
    _users(users)
    with st.expander(say("Limits of one user"), expanded=_SAVED in st.session_state):
        _of_one(client)
    seen = performance(client, days)
    st.subheader(say("Failures and latency"))
    st.caption(say("Of the newest {most:,} runs that ended, and of their newest {most:,} calls.", most=seen.most))
    for title, figures in ((say("Runs by planner"), seen.planners), (say("Calls by tool"), seen.tools)):
        _figures(title, figures)


def _sums(days: Sequence[Line]) -> None:
    tokens = sum(one.tokens for one in days)
    sums = {
        say("Runs"): sum(one.runs for one in days),
        say("Model calls"): sum(one.model_calls for one in days),
        say("Tokens"): tokens,
    }
    costs = [one.cost for one in days if one.cost is not None]
    with st.container(horizontal=True):
        for label, count in sums.items():
            st.metric(label, number(count))
        if costs:
            st.metric(say("Cost"), f"{sum(costs):,.2f}")
    if not costs and tokens:
        st.caption(
            say("No costs are told: the server has no prices of tokens (FOOTPATH_MODEL_PRICE_PROMPT and …_COMPLETION).")
        )


def _plots(days: Sequence[Line]) -> None:
    if len(days) < 2:
        if not days:
            st.info(say("Nothing was used in this time."))
        return
    at = [short_day(one.day) for one in days if one.day]
    for label, numbers in ((say("runs"), [one.runs for one in days]), (say("tokens"), [one.tokens for one in days])):
        points = {(axis := say("day")): at, label: numbers}
        st.bar_chart(points, x=axis, y=label, sort=False, height=180, alt=say("How many {label} each day", label=label))  # pyright: ignore[reportUnknownMemberType]


def _users(users: Sequence[Line]) -> None:
    if not users:
        st.caption(say("Nobody of whom that is true has used anything."))
        return
    rows = [
        {
            say("User"): one.name,
            say("Runs"): number(one.runs),
            say("Model calls"): number(one.model_calls),
            say("Tokens"): number(one.tokens),
        }
        | ({} if one.cost is None else {say("Cost"): f"{one.cost:,.2f}"})
        for one in users
    ]
    table(rows)


def _of_one(client: Client) -> None:
    """Anybody who has an account: who has used nothing yet may be given limits, too."""
    prefix = st.text_input(say("Search by the beginning of a name"), max_chars=64, key="limits-name").strip()
    found = accounts_named(client, prefix) if prefix else accounts(client)
    names = {one.id: one.name for one in found}
    if not names:
        st.caption(say("Nobody who may log in has a name that begins so."))
        return
    if len(found) == PAGE:
        st.caption(say("These are {count} of them; search for others by name.", count=len(found)))
    user = st.selectbox(say("Of whom"), list(names), format_func=lambda one: unmarked(names[one]), key="limits-of")
    _limits(client, user)


def _limits(client: Client, user: str) -> None:
    """Empty is as for everybody; what is saved counts from the next run on."""
    now = limits_of(client, user)
    if st.session_state.pop(_SAVED, ""):
        st.success(say("Saved; it counts from the next run on."))
        if 0 in now.own.model_dump().values():
            st.warning(
                say(
                    "Where 0 stands, there is no limit for this user. Who is to use nothing at all is locked out under *Accounts*."
                )
            )
    st.caption(
        say(
            "In a day (UTC). Empty: as for everybody; 0: no limit at all. Now: {limits}",
            limits=listing(
                [
                    say(
                        "{limit} {value}",
                        limit=say(_LIMITS[name]),
                        value=number(value) if value else say("without limit"),
                    )
                    for name, value in now.counts
                ]
            ),
        )
    )
    with st.form(f"limits-{user}", border=False):
        left, middle, right = st.columns(3)
        usual: dict[str, Any] = {"placeholder": say("as for everybody"), "help": say(_ZERO)}
        runs = left.number_input(say("Runs"), 0, 1_000_000, now.own.runs, step=1, key=f"limit-runs-{user}", **usual)
        tokens = middle.number_input(
            say("Tokens"), 0, 10**12, now.own.tokens, step=1000, key=f"limit-tokens-{user}", **usual
        )
        cost = right.number_input(say("Cost"), 0.0, 1e9, now.own.cost, key=f"limit-cost-{user}", **usual)
        pressed = st.form_submit_button(say("Save"))
    if pressed and told(lambda: set_limits(client, user, Limits(runs=runs, tokens=tokens, cost=cost))):
        st.session_state[_SAVED] = user
        st.rerun()


def _figures(title: str, figures: Sequence[Figure]) -> None:
    st.markdown(f"**{title}**")
    if not figures:
        st.caption(say("There were none in this time."))
        return
    shown = figures[:_PLOTTED]
    short = [one.name.rpartition("/")[2] for one in shown]
    names = [one.name if short.count(end) > 1 else end for one, end in zip(shown, short, strict=True)]
    plots = {say(_SHARE): [100 * one.failed / one.count for one in shown], say(_SECONDS): [one.p95 for one in shown]}
    for place, (label, numbers) in zip(st.columns(2), plots.items(), strict=True):
        points = {(of := say("of what")): names, label: numbers}
        with place:
            st.bar_chart(points, x=of, y=label, x_label="", horizontal=True, height=110 + 30 * len(shown), alt=f"{title}: {label}")  # pyright: ignore[reportUnknownMemberType]  # fmt: skip
    with st.expander(
        say("{title} in figures: {kinds}", title=title, kinds=say_count("1 kind", "{count:,} kinds", len(figures)))
    ):
        table(
            [
                {
                    "": one.name,
                    say("How many"): number(one.count),
                    say("Failed"): number(one.failed),
                    say("Half within"): say("{seconds:.2f} s", seconds=one.median),
                    say("95 of 100 within"): say("{seconds:.2f} s", seconds=one.p95),
                }
                for one in figures
            ]
        )
