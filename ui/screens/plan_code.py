"""A plan as code: its text with what is wrong with it, its inputs, what may be put in, and what it calls as a picture."""

from collections.abc import Mapping
from functools import partial

import streamlit as st
from pydantic import JsonValue

from ui.call_graph import DrawnCall, DrawnFeed, call_dot, told_calls
from ui.code_editor import EditedText, Word, code_field
from ui.language import say, say_count
from ui.plans import DryRun, OpenPlan, PlanFunction
from ui.screens.draft import Draft
from ui.screens.fields import field
from ui.texts import labelled, unmarked
from ui.walk_graph import tool_name

_NOTE = 90
"""Characters beside a line."""
_SUGGESTED = 6
_ROWS = 24


def code(draft: Draft) -> None:
    """The text to be edited, with all that belongs to it."""
    _inputs(draft)
    plain = st.session_state.get(f"plain-{draft.run}", False)
    (_plain_text if plain else _text)(draft)
    st.toggle(
        say("Plain text field"),
        key=f"plain-{draft.run}",
        help=say("Without colours, marks and proposals, where the field above does not suit you or does not work."),
    )
    _suggestions(draft)
    _declarations(draft)


def whole_problems(shown: OpenPlan) -> None:
    """What is wrong with the whole of a list of steps."""
    for one in shown.problems:
        if one.step is None:
            st.error(unmarked(one.message))


def diagram(shown: OpenPlan) -> None:
    """Its calls and which feeds which."""
    program = shown.program
    if not program.calls:
        return
    calls = [DrawnCall(str(one.place), one.tool, line=one.line, changes=one.changes) for one in program.calls]
    feeds = [DrawnFeed(str(one.source), str(one.target)) for one in program.feeds]
    with st.expander(say("What it calls, and what feeds what"), icon=":material/account_tree:"):
        drawn = call_dot(calls, feeds, [str(place) for place in program.answer])
        st.graphviz_chart(drawn, width="content", alt=told_calls(calls, feeds)[:2_000])  # pyright: ignore[reportUnknownMemberType]


def beside(dry: DryRun | None) -> Mapping[int, str]:
    """What a dry run came to, line by line, short enough to stand beside the code."""
    if dry is None:
        return {}
    made = {line: sum(one.line == line for one in dry.calls) for line in {one.line for one in dry.calls}}
    told: dict[int, str] = {}
    for one in dry.lines:
        parts = [f"×{one.times}"] if one.times > 1 else []
        parts += [say_count("1 call", "{count:,} calls", made[one.line])] if one.line in made else []
        parts += [f"{name} = {value}" for name, value in one.values.items()]
        text = " · ".join(parts) or "✓"
        told[one.line] = text if len(text) <= _NOTE else f"{text[: _NOTE - 1]}…"
    if dry.stopped_line:
        told[dry.stopped_line] = say("■ stops here: {why}", why=dry.stopped)[:_NOTE]
    return told


def _text(draft: Draft) -> None:
    program = draft.program
    words = [Word(name=one.name, insert=one.call, about=_signature(one)) for one in draft.plan.program.functions]
    shown = EditedText(
        program.text,
        draft.turn,
        program.complaints,
        words,
        draft.insertion,
        beside(draft.tried),
        draft.tried.text if draft.tried else "",
    )
    code_field(say("The plan's program"), shown, f"code-{draft.run}", lambda text: draft.write(text=text))


def _plain_text(draft: Draft) -> None:
    """A text area as Streamlit has it."""
    key = f"text-{draft.run}-{draft.turn}-{draft.insertion.number}"
    text = draft.program.text
    st.text_area(
        say("The plan's program"),
        text,
        key=key,
        height=min(_ROWS, text.count("\n") + 4) * 24,
        on_change=lambda: draft.write(text=st.session_state[key]),
    )
    for one in draft.program.complaints:
        st.error(
            unmarked(say("Line {line}: {message}", line=one.line, message=one.message) if one.line else one.message)
        )


def _inputs(draft: Draft) -> None:
    """A field for each input, by its JSON Schema. Only a field that somebody changes changes its value."""
    program = draft.program
    if not program.inputs:
        return
    with st.container(border=True):
        st.markdown(say("**Its inputs**"))
        for name, schema in program.inputs.items():
            key = f"input-{draft.run}-{draft.turn}-{name}"
            before = program.values.get(name, schema.get("default"))
            if name in program.values and before in ("", None):
                st.caption(
                    say("{name} is null.", name=labelled(name))
                    if before is None
                    else say("{name} is an empty text.", name=labelled(name))
                )
            field(name, schema, key, before, required="default" not in schema, changed=partial(_value, draft, name))


def _value(draft: Draft, name: str, value: JsonValue) -> None:
    """Another value of an input; None: it was emptied, so that it has none, or its default."""
    others = {other: one for other, one in draft.program.values.items() if other != name}
    draft.write(values=others if value is None else others | {name: value})


def _suggestions(draft: Draft) -> None:
    shown = list({one.tool: one for one in reversed(draft.plan.suggestions) if one.code}.values())[::-1]
    if not shown:
        return
    with st.expander(say("Add a line"), icon=":material/add:"):
        for one in shown[:_SUGGESTED]:
            st.button(
                unmarked(f"{tool_name(one.tool)}: {one.reason}"[:160]),
                key=f"line-{draft.run}-{one.tool}",
                width="stretch",
                help=unmarked(one.code),
                on_click=partial(_add_line, draft, one.code),
            )


def _add_line(draft: Draft, line: str) -> None:
    """The plain field has no cursor that the page knows: there it goes above the last line."""
    if st.session_state.get(f"plain-{draft.run}"):
        lines = draft.program.text.rstrip().split("\n")
        draft.write(text="\n".join([*lines[:-1], line, lines[-1]]))
        draft.turn += 1
    else:
        draft.insert(line, line=True)


def _declarations(draft: Draft) -> None:
    program = draft.plan.program
    with st.expander(say("What it may call"), icon=":material/function:"):
        st.code("\n".join(one.declaration for one in program.functions), language="python", wrap_lines=True)
        st.caption(
            say(
                "Calls are awaited and take their values by name. A value that is left open is fill(), the item of a list that the request names is named(items)."
            )
        )


def _signature(one: PlanFunction) -> str:
    """Its declaration's own line."""
    line = one.declaration.rpartition("\n")[2].removeprefix("async def ")
    return line[:120] or labelled(one.name)
