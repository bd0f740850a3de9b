"""The text of a program as HTML."""

import re

import pytest

from domain.tool import ToolId
from ui.calls import SAID
from ui.code_view import code_html
from ui.program_lines import lines_of, program_lines
from ui.texts import visible


def test_each_line_has_its_number_a_sign_and_a_word_for_its_state() -> None:
    shown = code_html("a = 1\nb = 2\n", {1: "done", 2: "unreached"}, {1: "1 call, 5 ms"})
    first, second = re.findall("<li.*?</li>", shown)
    assert 'class="fp-done"' in first
    assert "✓" in first
    assert '<span class="fp-said">done</span>' in first
    assert "1 call, 5 ms" in first
    assert SAID["unreached"] in second


def test_what_stands_in_a_text_is_no_markup_and_nothing_in_it_is_unseen() -> None:
    text = 'x = "<img src=x onerror=alert(1)>" # </code><script>\u202e\x1b[2J\ny = """<b>\n<i>"""\n'
    shown = code_html(text, {}, {1: "<u>"}, name='"><script>')
    assert not re.search("<(img|script|b|i|u)[ >]", shown)
    assert "\u202e" not in shown
    assert "\\u202e" in shown
    assert "\x1b" not in shown


def test_all_of_a_text_is_shown_coloured_or_not() -> None:
    for text in ('f"{a["x"]} b" if 1 else None', "this is ( no Python '", "x = '''a\n  b'''\ny = 1", "寒い = 'مرحبا'"):
        shown = code_html(text, {}, {}, ("a",))
        plain = re.sub("<[^>]*>", "", "\n".join(re.findall("<code[^>]*>(.*?)</code>", shown)))
        unescaped = plain.replace("&quot;", '"').replace("&#x27;", "'").replace("&lt;", "<").replace("&amp;", "&")
        assert unescaped == text


def test_a_long_text_and_a_long_line_are_cut_and_say_so() -> None:
    shown = code_html("\n".join(f"x{number} = 1" for number in range(700)), {}, {})
    assert "100 lines more" in shown
    assert shown.count("<li") == 601
    assert len(code_html(f"x = '{'y' * 100_000}'", {}, {})) < 5_000


def test_what_is_written_in_other_scripts_stays_as_it_is() -> None:
    for text in ("今天　很冷", "می‌خواهم", "1\u202f950 €", "👩‍🚀\n\tend"):
        assert visible(text) == text


@pytest.mark.parametrize("sign", ["\u2028", "\x0c", "\x85", "\x1c"])
def test_signs_within_a_line_part_no_lines(sign: str) -> None:
    text = f'a = "x{sign}y"\nb = 2\n'
    assert lines_of(text) == (f'a = "x{sign}y"', "b = 2")
    shown = re.findall("<li.*?</li>", code_html(text, {2: "done"}, {}))
    assert len(shown) == 2
    assert "fp-number" in shown[0]
    assert 'class="fp-done"' in shown[1]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_call_is_on_the_line_that_python_counts(end: str) -> None:
    text = end.join(['a = "é\u2028"', "", "b = f()", "f()"])
    read = program_lines(text, {"f": ToolId("a/b/f")})
    assert [one.line for one in read.calls] == [3, 4]
    assert [read.line_of(one.place) for one in read.calls] == [3, 4]
    assert len(read.lines) == 4
