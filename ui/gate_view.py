"""The gate's checks as a table in HTML: a row for each tool, a column for each check. Names are strangers' texts, and escaped."""

from collections.abc import Sequence
from html import escape

from ui.language import say
from ui.source_words import CHECKS, STATE_SIGNS, VERDICTS, state_told, states_of
from ui.sources import SourceTool
from ui.texts import visible

MOST = 100
"""Rows that are drawn; of more, the others are counted."""


def gate_html(tools: Sequence[SourceTool]) -> str:
    """What each check said of each tool; empty where it has not been made."""
    heads = "".join(
        f'<th scope="col" title="{escape(say(asks))}">{escape(say(name))}</th>' for name, asks in CHECKS.values()
    )
    rows = "".join(map(_row, tools[:MOST]))
    more = len(tools) - MOST
    more_told = escape(say("… {count} tools more", count=more))
    told = f'<tr><th scope="row" colspan="{len(CHECKS) + 3}">{more_told}</th></tr>' if more > 0 else ""
    first = "".join(f'<th scope="col">{escape(one)}</th>' for one in (say("Tool"), say("State"), say("Method")))
    return (
        f'<p class="fp-more">{escape(say("The table goes on to the right: scroll it sideways."))}</p>'
        f'<div class="fp-gate" tabindex="0" role="group" aria-label="{escape(say("What the admission check found out"))}"><table>'
        f"<thead><tr>{first}{heads}</tr></thead>"
        f"<tbody>{rows}{told}</tbody></table></div>"
    )


def _row(one: SourceTool) -> str:
    made = states_of(one)
    cells = "".join(_cell(say(name), made.get(check, "")) for check, (name, _) in CHECKS.items())
    sign, state = STATE_SIGNS.get(one.state, "?"), state_told(one)
    method = escape(visible(one.document.method))
    name = f'<th scope="row" dir="ltr">{escape(visible(one.name))}</th>'
    stands = f'<td class="fp-state"><span aria-hidden="true">{escape(sign)} </span>{escape(visible(state))}</td>'
    return f"<tr>{name}{stands}<td>{method}</td>{cells}</tr>"


def _cell(name: str, verdict: str) -> str:
    if not verdict:
        return "<td></td>"
    sign, said = VERDICTS.get(verdict, ("?", verdict))
    said = escape(say("{what}: {text}", what=name, text=visible(say(said))))
    kind = verdict if verdict in VERDICTS else "skipped"
    return f'<td class="fp-{kind}" title="{said}"><span aria-hidden="true">{sign}</span><span class="fp-said">{said}</span></td>'
