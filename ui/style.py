"""How the page looks beyond Streamlit's theme: room at the top, titles on the left, graphs that are scrolled and not shrunk."""

import streamlit as st

_CSS = """<style>
[data-testid="stMainBlockContainer"] { padding-top: 2.75rem; max-width: 74rem; }
[data-testid="stMetricValue"] { font-size: 1.9rem; } [data-testid="stAppDeployButton"] { display: none; }
[data-testid="stCaptionContainer"] { color: light-dark(#565e69, #a8b0bb); opacity: 1; } [data-testid="stWidgetLabel"] * { color: light-dark(#31333f, #fafafa); }
[data-testid="stMain"] button[kind^="primary"]:enabled { background: #1f7a4d; border-color: #1f7a4d; color: #fff; } [data-testid="stMain"] button[kind^="primary"]:enabled:hover { background: #18633e; }
[data-testid="stSidebarUserContent"] { padding-top: 0; }
[data-testid="stMainBlockContainer"] h1 { font-size: 1.6rem; padding: 0 0 .5rem; }
[data-testid="stMainBlockContainer"] h2 { font-size: 1.3rem; } [data-testid="stMainBlockContainer"] h3 { font-size: 1.1rem; }
[data-testid="stSidebarHeader"] { height: 2.5rem; margin-bottom: 0; } [data-testid="stSidebar"] hr { margin: .5rem 0; }
[data-testid="stSidebar"] .stButton button[kind="tertiary"], [data-testid="stSidebar"] .stButton button[kind="primary"] {
  justify-content: flex-start; text-align: left; padding: .3rem .6rem; min-height: 2.1rem; border-radius: .4rem; color: inherit; border: 0; }
[data-testid="stSidebar"] .stButton button[kind="primary"] {
  background: light-dark(#d6f0e0, #1d3a2b); font-weight: 600; box-shadow: inset 3px 0 0 light-dark(#1f7a4d, #6fcf9c); }
[data-testid="stSidebar"] .stButton button[kind="tertiary"]:hover, [data-testid="stSidebar"] .stButton button[kind="primary"]:hover { background: light-dark(#e9ecef, #262c35); color: inherit; }
[data-testid="stSidebar"] .stButton button > div { justify-content: flex-start; }
[data-testid="stSidebar"] .st-key-talk-chosen { flex-wrap: nowrap; } .st-key-icon-change button > div:last-child:not(:first-child) { display: none; }
[class*="st-key-group-"] summary { padding: .35rem .6rem; font-size: .85rem; font-weight: 600; }
[class*="st-key-group-"] summary, [class*="st-key-group-"] summary * { color: light-dark(#4a525d, #b4bcc7); opacity: 1; }
[class*="st-key-group-"] summary > span { width: 100%; justify-content: space-between; } [class*="st-key-group-"] [data-testid="stExpanderDetails"] { padding: 0; }
[data-testid="stChatMessageAvatarUser"], [data-testid="stChatMessageAvatarAssistant"] { display: none; }
[data-testid="stChatMessage"]:has(> [data-testid="stChatMessageAvatarUser"]) { margin-left: auto; width: fit-content; max-width: 85%; padding: .5rem .9rem; border-radius: .9rem; background: light-dark(#eef3f0, #1c242d); }
[data-testid="stChatMessage"]:has(> [data-testid="stChatMessageAvatarAssistant"]) { padding-left: 0; padding-right: 0; }
[data-testid="stGraphVizChart"] { overflow-x: auto; }
[data-testid="stGraphVizChart"] svg { max-width: none; height: auto; }
[data-testid="stText"], [data-testid="stText"] * { white-space: pre-wrap; overflow-wrap: anywhere; }
[data-testid="stText"] { unicode-bidi: plaintext; text-align: start; }
[data-testid="stExpander"] summary p { overflow-wrap: anywhere; }
.st-key-given-files { align-items: center; max-height: 30vh; overflow-y: auto; padding: 3px; }
.stApp button[kind="tertiary"][aria-expanded="true"] { color: light-dark(#1f7a4d, #6fcf9c); }
[class*="st-key-live-"] { max-height: 55vh; overflow-y: auto; }
.fp-table { overflow: auto; max-height: 32rem; width: fit-content; max-width: 100%; border: 1px solid light-dark(#d5d9df, #3d4450); border-radius: .5rem; font-size: .92rem; }
.fp-table table { border-collapse: collapse; margin: 0; } .fp-table th, .fp-table td { padding: .3rem .75rem; text-align: start; border-bottom: 1px solid light-dark(#e6e9ee, #2c323c); vertical-align: top; overflow-wrap: break-word; unicode-bidi: plaintext; min-width: 4.5rem; max-width: 26rem; }
.fp-table thead + tbody td:first-child { min-width: 11rem; }
.fp-table tr:last-child > * { border-bottom: 0; } .fp-table thead th { position: sticky; top: 0; background: light-dark(#f3f5f7, #1c2129); color: light-dark(#4a525d, #b4bcc7); font-weight: 600; }
.fp-table th[scope="row"] { font-weight: 500; color: light-dark(#4a525d, #b4bcc7); } .fp-table .fp-quantity { font-variant-numeric: tabular-nums; text-align: end; }
.fp-items { margin: 0; padding-inline-start: 1.2rem; } .fp-items li { overflow-wrap: anywhere; unicode-bidi: plaintext; }
.fp-code { max-height: 30rem; overflow: auto; border: 1px solid light-dark(#d5d9df, #3d4450); border-radius: .5rem; background: light-dark(#f8f9fb, #161a21); font-size: .82rem; }
.fp-code ol { list-style: none; margin: 0; padding: .4rem 0; }
.fp-code li { display: grid; grid-template-columns: 2.4rem 1.3rem minmax(0, 1fr) auto; gap: 0 .4rem; padding: .05rem .6rem; margin: 0; align-items: baseline; }
.fp-code code { background: none; color: light-dark(#1c2530, #e6e9ee); padding: 0 0 0 2ch; text-indent: -2ch; display: block; font-size: .8rem; white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: isolate; }
.fp-number { color: light-dark(#5b6470, #9aa3af); font-size: .8rem; text-align: right; user-select: none; }
.fp-note { color: light-dark(#4a525d, #b4bcc7); font-size: .75rem; white-space: nowrap; }
.fp-said { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.fp-code .fp-running { background: light-dark(#e4ebf7, #1c2b45); } .fp-running .fp-sign { color: light-dark(#2457a6, #8db4f2); }
.fp-code .fp-waits { background: light-dark(#fdeccf, #43310f); } .fp-waits .fp-sign { color: light-dark(#8a5200, #f0b860); }
.fp-code .fp-failed { background: light-dark(#fbe0dd, #4a1d1a); } .fp-failed .fp-sign { color: light-dark(#a3261b, #f4988f); }
.fp-sign { font-size: .8rem; } .fp-done .fp-sign { color: light-dark(#1f7a4d, #6fcf9c); }
.fp-code .fp-unreached code, .fp-unreached .fp-sign, .fp-not_made .fp-sign { color: light-dark(#5b6470, #9aa3af); }
.fp-keyword { color: light-dark(#8a1c7c, #e19ad6); } .fp-string { color: light-dark(#1a6334, #8fd6a8); } .fp-code code .fp-number { color: light-dark(#8a4b00, #e8b078); }
.fp-comment { color: light-dark(#5b6470, #9aa3af); font-style: italic; } .fp-call { color: light-dark(#1b4f9c, #9cc0f5); font-weight: 600; } .fp-builtin { color: light-dark(#5a3d99, #c0aaf0); }
.fp-gate { overflow-x: auto; border: 1px solid light-dark(#d5d9df, #3d4450); border-radius: .5rem; font-size: .8rem; } .fp-more { display: none; color: light-dark(#4a525d, #b4bcc7); font-size: .8rem; }
.fp-gate table { border-collapse: collapse; width: 100%; } .fp-gate th, .fp-gate td { padding: .25rem .35rem; text-align: center; border-bottom: 1px solid light-dark(#e6e9ee, #2c323c); white-space: nowrap; }
.fp-gate th[scope="row"], .fp-gate thead th:first-child { text-align: left; font-weight: 600; unicode-bidi: isolate; min-width: 8rem; max-width: 13rem; white-space: normal; overflow-wrap: anywhere; }
.fp-gate th[scope="row"], .fp-gate thead th:first-child { position: sticky; left: 0; background: light-dark(#fff, #0e1117); }
.fp-gate thead th { color: light-dark(#4a525d, #b4bcc7); font-weight: 600; } .fp-gate td.fp-state { text-align: left; }
.fp-gate .fp-passed { color: light-dark(#1f7a4d, #6fcf9c); } .fp-gate .fp-warned { color: light-dark(#8a5200, #f0b860); background: light-dark(#fdeccf, #43310f); font-weight: 700; }
.fp-gate .fp-failed { color: light-dark(#a3261b, #f4988f); background: light-dark(#fbe0dd, #4a1d1a); font-weight: 700; } .fp-gate .fp-skipped { color: light-dark(#5b6470, #9aa3af); }
.st-key-past-runs > div { border-bottom: 1px solid light-dark(#e6e9ee, #2c323c); padding: .35rem 0; }
.st-key-past-runs .stButton button { justify-content: flex-start; text-align: left; padding: 0; min-height: 1.6rem; border: 0; font-weight: 600; unicode-bidi: plaintext; }
.st-key-past-runs .stButton button > div { justify-content: flex-start; } .st-key-past-runs .stButton button p { overflow-wrap: anywhere; text-align: start; }
.st-key-compared-figures .fp-table thead + tbody td:first-child { min-width: 5rem; } .st-key-compared-figures .fp-table th, .st-key-compared-figures .fp-table td { min-width: 0; }
.fp-differences li { grid-template-columns: 1.3rem minmax(0, 1fr) !important; } .fp-differences .fp-gone { background: light-dark(#fbe0dd, #4a1d1a); } .fp-differences .fp-new { background: light-dark(#d6f0e0, #163a26); } .fp-differences .fp-skipped { color: light-dark(#5b6470, #9aa3af); }
[class*="st-key-icon-"] button p { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
@media (max-width: 640px) {
  [data-testid="stMainBlockContainer"] { padding-top: 4rem; }
  .fp-gate th[scope="row"] { max-width: 9rem; } .fp-more { display: block; }
  [data-testid="stMainBlockContainer"] { padding-left: .75rem; padding-right: .75rem; }
  [data-testid="stChatMessage"] { flex-direction: column; padding-left: .25rem; padding-right: .25rem; }
  [data-testid="stChatMessage"] > div:last-child { width: 100%; }
  .fp-code li { grid-template-columns: 1.6rem 1.1rem minmax(0, 1fr); }
  .fp-note { grid-column: 3; }
  [data-testid="stLayoutWrapper"]:has(> [class*="st-key-allow-"]) { position: sticky; bottom: 8rem; z-index: 3; padding: .4rem 0; background: light-dark(#fff, #191816); }
  [class*="st-key-heads-"] { display: none; }
  [class*="st-key-calls-"] [data-testid="stWidgetLabel"] { display: flex !important; }
}
</style>"""


def style() -> None:
    """Once for each drawing of the page. What opens above it lies outside of what Streamlit makes light or dark."""
    scheme = st.context.theme.type or "normal"
    st.html(_CSS.replace("</style>", f"#stFloatingOverlayPortal {{ color-scheme: {scheme}; }}</style>"))
