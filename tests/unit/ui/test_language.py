"""The page in its languages: all that it says has a translation, and nothing is drawn that goes past the catalogues."""

import ast
import logging
import re
from datetime import UTC, date, datetime
from pathlib import Path

import httpx
import pytest
from babel.messages.pofile import read_po
from streamlit.testing.v1 import AppTest

from agent.execution.undo_candidates import NO_UNDO
from agent.planners.registry import PLANNER_DESCRIPTIONS
from domain.side_effect import READING_METHODS, determine_side_effect
from server.routes.choices import POLICIES
from tests.unit.ui.page_words import PAGE, Said, bare, modules, placeholders, said
from tests.unit.ui.test_login_links import opened, rule
from ui import language
from ui.language import LANGUAGES, day, listing, moment, number, say, say_count
from ui.people import value_told
from ui.problems import ServerError, refused
from ui.run_summary import seconds_told
from ui.server_words import SENTENCES

OTHERS = [code for code in LANGUAGES if code != "en"]
ENGLISH = {
    "examples.py": "requests to the playground, which are asked as they stand",
    "answer_parts.py": "how lines of the server begin",
    "answer_view.py: No call was made for: ": "how a line of the server begins",
    "answer_view.py: Based on ": "how a line of the server begins",
    "screens/login.py: Footpath": "a name",
    "screens/sidebar.py: Footpath": "a name",
    "screens/tool_corrections.py: ships[].name = ship": "an example of what is written",
    "screens/typed_tools.py: find_berth": "an example of what is written",
    "screens/typed_tools.py: harbour": "an example of what is written",
    "screens/typed_tools.py: “Bearer ”": "an example of what is written",
    "own_account.py: Mac OS X": "a name",
    "client.py: Footpath page": "the same",
    "client.py: Footpath page, ": "the name that the server lists sessions by",
}
"""Texts that are no words of the page, and why; a whole file, or one text of it."""


@pytest.fixture
def chinese(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(language, "language", lambda: "zh")
    monkeypatch.setattr("ui.problems.language", lambda: "zh")


def catalogue(code: str) -> dict[str, tuple[str, str]]:
    """The form for several and the translation, by the English text."""
    with (PAGE / "locales" / f"{code}.po").open("rb") as file:
        read = read_po(file, locale=code, abort_invalid=True)
    found: dict[str, tuple[str, str]] = {}
    for one in read:
        ids, texts = ([one.id] if isinstance(one.id, str) else [*one.id]), one.string or ""
        if ids[0]:
            found[ids[0]] = (ids[1] if len(ids) > 1 else "", texts if isinstance(texts, str) else texts[0])
    return found


def all_said() -> list[Said]:
    return [one for place, tree in modules() for one in said(place, tree)]


@pytest.mark.parametrize("code", OTHERS)
def test_all_that_the_page_says_has_a_translation_with_the_same_places_for_values(code: str) -> None:
    texts = catalogue(code)
    lacking = {f"{one.place} {one.text!r}" for one in all_said() if not texts.get(one.text, ("", ""))[1]}
    assert not lacking, f"give these a translation in ui/locales/{code}.po"
    wrong = {
        f"{one.place} {one.text!r}: {translated!r}"
        for one in all_said()
        for more, translated in [texts[one.text]]
        if (more, placeholders(translated)) != (one.more, placeholders(one.more or one.text))
    }
    assert not wrong, "a translation has the same names in braces, and the same form for several"
    assert not texts.keys() - {one.text for one in all_said()}, "nothing says these any more"


def test_the_page_says_none_of_the_words_that_only_those_know_who_made_it() -> None:
    """The glossary has what the page says in their place."""
    inner = re.compile(r"\b(?:walk(?:s|ed)?|coupled|couplings?|gate)\b", re.IGNORECASE)
    assert not {one.text for one in all_said() if inner.search(re.sub(r"{.*?}", "", f"{one.text} {one.more}"))}


def test_nothing_is_drawn_that_goes_past_the_catalogues() -> None:
    found = [one for place, tree in modules() if place not in ENGLISH for one in bare(place, tree)]
    strange = [one for one in found if re.sub(r":\d+", "", one, count=1) not in ENGLISH]
    assert not strange, "say() what the page shows, message() what is said later"


@pytest.mark.parametrize(
    "source",
    [
        'st.button("Press")',
        'st.caption(f"{n} tools")',
        'st.text_input(say("Name"), help="What it is")',
        'st.error(unmarked("It is gone"))',
        'st.title("One" if few else "Many")',
        'told = "Nothing was found."',
        'rows = [{"How it ended": 1}]',
    ],
)
def test_what_goes_past_them_is_seen(source: str) -> None:
    assert list(bare("x.py", ast.parse(source)))


@pytest.mark.parametrize(
    "source",
    [
        'st.button(say("Press"), icon=":material/add:", key="press it")',
        'st.markdown(f"**{name}** · {say("told")}")',
        'st.caption(f":orange-badge[{say("new")}] {title}")',
        'def f():\n    """Does this and that."""',
        'st.text_input(say("Address"), placeholder="https://api.example.com")',
    ],
)
def test_what_goes_through_them_is_let_be(source: str) -> None:
    assert not list(bare("x.py", ast.parse(source.replace('{say("', "{say('").replace('")}', "')}"))))


def test_the_fixed_sentences_of_the_server_are_said_as_it_has_them() -> None:
    of_server = {*PLANNER_DESCRIPTIONS.values(), *filter(None, POLICIES.values()), NO_UNDO}
    of_server |= {
        determine_side_effect(method, "ships").why
        for method in (*READING_METHODS, "POST", "PUT", "PATCH", "DELETE", "MCP")
    }
    assert of_server <= {*SENTENCES}


def test_without_a_visit_it_is_english() -> None:
    assert say("Log in") == "Log in"
    assert say_count("1 tool", "{count:,} tools", 1) == "1 tool"
    assert say_count("1 tool", "{count:,} tools", 2100) == "2,100 tools"
    assert seconds_told(3.21) == "3.2 s"


@pytest.mark.usefixtures("chinese")
def test_numbers_days_and_several_things_are_written_as_the_language_writes_them() -> None:
    assert say("Log in") == "登录"
    assert [say_count("1 tool", "{count:,} tools", count) for count in (1, 2100)] == ["1 个工具", "2,100 个工具"]
    assert seconds_told(3.21) == "3.2 秒"
    assert (number(12345), listing(["a", "b"])) == ("12,345", "a、b")
    assert day(date(2026, 7, 15)) == "2026年7月15日"
    assert moment(datetime(2026, 7, 5, 9, 3, tzinfo=UTC)) == "2026年7月5日 09:03"
    assert value_told("2026-12-03") == "2026年12月3日 周四"


@pytest.mark.usefixtures("chinese")
def test_a_text_that_a_catalogue_lacks_is_english() -> None:
    assert say("Nobody translated {this}", this="it") == "Nobody translated it"
    assert say_count("1 thing", "{count} things", 3) == "3 things"


@pytest.mark.usefixtures("chinese")
def test_a_problem_of_the_server_is_said_by_its_code_with_the_servers_words_beside_it() -> None:
    assert str(ServerError("there is no such run", problem="not_found")) == (
        "找不到该对象，或其已不存在。（服务器原文：there is no such run）"
    )
    assert str(ServerError("a new one", problem="not_known_here")) == "a new one"


def test_in_english_a_problem_is_said_by_the_server() -> None:
    assert str(ServerError("there is no such run", problem="not_found")) == "there is no such run"


@pytest.mark.parametrize(
    ("wait", "said"),
    [("1", "1 second"), ("60", "60 seconds"), ("600", "10 min"), ("72840", "20 h 14 min"), ("72841", "20 h 15 min")],
)
def test_how_long_to_wait_is_told_in_hours_and_minutes(wait: str, said: str) -> None:
    answer = httpx.Response(429, headers={"Retry-After": wait}, json={"code": "over_limit", "detail": "no"})
    assert str(refused(answer)) == f"no (try again in {said})"


@pytest.mark.parametrize("content", ["msgid Name", "", None])
def test_a_broken_catalogue_leaves_the_page_in_english(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    if content is not None:
        (tmp_path / "zh.po").write_text(content)
    monkeypatch.setattr(language, "_CATALOGUES", tmp_path)
    monkeypatch.setattr(language, "language", lambda: "zh")
    language._catalogue.cache_clear()  # pyright: ignore[reportPrivateUsage]
    with caplog.at_level(logging.ERROR):
        assert say("Log in") == "Log in"
    assert bool(caplog.records) == (content != "")
    language._catalogue.cache_clear()  # pyright: ignore[reportPrivateUsage]


def test_a_language_that_is_chosen_before_logging_in_holds_for_the_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    test = opened(monkeypatch, rule("open"))
    assert labels(test) == ["Log in", "Make an account"]
    (chooser,) = test.selectbox
    assert chooser.options == [*LANGUAGES.values()]
    chooser.set_value("zh").run()
    assert labels(test) == ["登录", "创建账户"]
    assert test.selectbox[0].value == "zh"
    test.session_state["language"] = "en"
    assert labels(test.run()) == ["Log in", "Make an account"], "what the account says counts more"


def labels(test: AppTest) -> list[str]:
    return [one.label for one in test.button]
