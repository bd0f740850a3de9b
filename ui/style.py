"""How the page looks beyond Streamlit's theme: room at the top, titles on the left, graphs that are scrolled and not shrunk."""

import streamlit as st

_CSS = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 2.75rem; }
[data-testid="stSidebarUserContent"] { padding-top: 0; }
[data-testid="stSidebar"] .stButton button[kind="tertiary"], [data-testid="stSidebar"] .stButton button[kind="primary"],
[data-testid="stSidebar"] [class*="st-key-view-"] button { justify-content: flex-start; text-align: left; padding-left: .75rem; }
[data-testid="stGraphVizChart"] { overflow-x: auto; }
[data-testid="stGraphVizChart"] svg { max-width: none; height: auto; }
[data-testid="stText"], [data-testid="stText"] * { white-space: pre-wrap; overflow-wrap: anywhere; }
[data-testid="stText"] { unicode-bidi: plaintext; text-align: start; }
[data-testid="stExpander"] summary p { overflow-wrap: anywhere; }
.fp-code { max-height: 30rem; overflow: auto; border: 1px solid #d5d9df; border-radius: .5rem; background: #f8f9fb; font-size: .82rem; }
.fp-code ol { list-style: none; margin: 0; padding: .4rem 0; }
.fp-code li { display: grid; grid-template-columns: 2.4rem 1.3rem minmax(0, 1fr) auto; gap: 0 .4rem; padding: .05rem .6rem; margin: 0; align-items: baseline; }
.fp-code code { background: none; color: #1c2530; padding: 0 0 0 2ch; text-indent: -2ch; display: block; font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
.fp-number { color: #5b6470; font-size: .8rem; text-align: right; user-select: none; }
.fp-note { color: #4a525d; font-size: .75rem; white-space: nowrap; }
.fp-said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.fp-code .fp-running { background: #e4ebf7; } .fp-running .fp-sign { color: #2457a6; }
.fp-code .fp-waits { background: #fdeccf; } .fp-waits .fp-sign { color: #8a5200; }
.fp-code .fp-failed { background: #fbe0dd; } .fp-failed .fp-sign { color: #a3261b; }
.fp-sign { font-size: .8rem; } .fp-done .fp-sign { color: #1f7a4d; }
.fp-code .fp-unreached code, .fp-unreached .fp-sign, .fp-not_made .fp-sign { color: #5b6470; }
.fp-keyword { color: #8a1c7c; } .fp-string { color: #1a6334; } .fp-code code .fp-number { color: #8a4b00; }
.fp-comment { color: #5b6470; font-style: italic; } .fp-call { color: #1b4f9c; font-weight: 600; } .fp-builtin { color: #5a3d99; }
.fp-gate { overflow-x: auto; border: 1px solid #d5d9df; border-radius: .5rem; font-size: .8rem; } .fp-more { display: none; color: #4a525d; font-size: .8rem; }
.fp-gate table { border-collapse: collapse; width: 100%; } .fp-gate th, .fp-gate td { padding: .25rem .35rem; text-align: center; border-bottom: 1px solid #e6e9ee; white-space: nowrap; }
.fp-gate th[scope="row"], .fp-gate thead th:first-child { text-align: left; font-weight: 600; unicode-bidi: isolate; min-width: 8rem; max-width: 13rem; white-space: normal; overflow-wrap: anywhere; }
.fp-gate th[scope="row"], .fp-gate thead th:first-child { position: sticky; left: 0; background: #fff; }
.fp-gate thead th { color: #4a525d; font-weight: 600; } .fp-gate td.fp-state { text-align: left; }
.fp-gate .fp-passed { color: #1f7a4d; } .fp-gate .fp-warned { color: #8a5200; background: #fdeccf; font-weight: 700; }
.fp-gate .fp-failed { color: #a3261b; background: #fbe0dd; font-weight: 700; } .fp-gate .fp-skipped { color: #5b6470; }
[class*="st-key-icon-"] button p { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 640px) {
  .fp-gate th[scope="row"] { max-width: 9rem; } .fp-more { display: block; }
  [data-testid="stMainBlockContainer"] { padding-left: .75rem; padding-right: .75rem; }
  [data-testid="stChatMessage"] { flex-direction: column; padding-left: .25rem; padding-right: .25rem; }
  [data-testid="stChatMessage"] > div:last-child { width: 100%; }
  .fp-code li { grid-template-columns: 1.6rem 1.1rem minmax(0, 1fr); }
  .fp-note { grid-column: 3; }
  [class*="st-key-heads-"] { display: none; }
  [class*="st-key-calls-"] [data-testid="stWidgetLabel"] { display: flex !important; }
}
</style>"""


def style() -> None:
    """Once for each drawing of the page."""
    st.html(_CSS)
