"""Programs are found in replies whatever their form; prose that holds none is told as what was said."""

import json

import pytest

from agent.llm.client.chat import ModelReply, ModelTokenUsage
from agent.llm.program_reply import MAX_PROGRAM_CHARS, extract_program

CODE = 'found = await searchBooks(title="Dune")\n{"answered": "yes", "answer": found[0]["author"]}'
NO = {"answered": "no", "answer": "", "missing": "a function that buys books"}


def reply(text: str, called: object = None, *, cut: bool = False) -> ModelReply:
    return ModelReply(text, ModelTokenUsage(1, 1), cut=cut, tool_calls="" if called is None else json.dumps(called))


FORMS = {
    "block": f"```python\n{CODE}\n```",
    "unmarked block": f"```\n{CODE}\n```",
    "prose around": f"Sure! I would do this:\n\n```py\n{CODE}\n```\n\nIt looks the book up, then tells `author`.",
    "tildes": f"~~~python\n{CODE}\n~~~",
    "long fence": f"````python\n{CODE}\n````",
    "no end": f"Here:\n```python\n{CODE}",
    "in a list": "1. This:\n" + "\n".join(f"   {line}" for line in ["```python", *CODE.splitlines(), "```"]),
    "windows": f"```python\r\n{CODE}\r\n```\r\n".replace("\r\n", "\n"),
    "a draft before it": f"```python\nx = await other()\n```\nNo, better:\n```python\n{CODE}\n```",
    "what it gives behind it": f"```python\n{CODE}\n```\nThis gives:\n```text\nFrank Herbert\n```",
    "an output without a language": f"```python\n{CODE}\n```\n\n```\nFrank Herbert wrote it\n```",
    "what its author thinks it gives": f'```python\n{CODE}\n```\n```json\n{{"answered": "yes", "answer": "Herbert"}}\n```',
    "thoughts": f"<think>maybe ```python\nx = 1\n``` or</think>\n```python\n{CODE}\n```",
    "thoughts whose beginning is lost": f"maybe ```python\nx = 1\n```\n</think>\n```python\n{CODE}\n```",
    "plain text": f"```text\n{CODE}\n```",
    "bare": CODE,
    "structured": json.dumps({"program": CODE}),
    "structured as code": json.dumps({"reason": "so it is {done}", "code": CODE}),
    "structured in a block": f"```json\n{json.dumps({'program': CODE})}\n```",
    "structured around a block": json.dumps({"code": f"```python\n{CODE}\n```"}),
    "newlines as they are in JSON": '{"code": "' + CODE.replace('"', '\\"') + '"}',
    "tool call said": f"<tool_call>{json.dumps({'name': 'python', 'arguments': {'code': CODE}})}</tool_call>",
    "arguments as text": json.dumps({"name": "run", "arguments": json.dumps({"code": CODE})}),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_program_is_found(form: str) -> None:
    assert extract_program(reply(FORMS[form])).text == CODE


@pytest.mark.parametrize("arguments", [{"code": CODE}, {"input": CODE}, json.dumps({"python": CODE}), CODE])
def test_a_call_of_a_tool_holds_it(arguments: object) -> None:
    assert extract_program(reply("", [{"name": "python", "arguments": arguments}])).text == CODE


def test_blocks_that_build_on_each_other_are_one_program() -> None:
    text = '```python\nfound = await search()\n```\nand then\n```python\nnames = [x["name"] for x in found]\n```\n\n```python\n{"answered": "yes", "answer": names}\n```'
    assert extract_program(reply(text)).text == (
        'found = await search()\nnames = [x["name"] for x in found]\n{"answered": "yes", "answer": names}'
    )


@pytest.mark.parametrize(
    "last", ['{"answered": "yes", "answer": "Deleted."}', '{"input": "x"}', '[{"code": "await y()"}]']
)
@pytest.mark.parametrize("form", ["{}", "```python\n{}\n```", "So:\n```\n{}\n```"])
def test_what_a_program_holds_between_braces_is_its_own(last: str, form: str) -> None:
    text = f'await delete(title="Dune")\n{last}'
    assert extract_program(reply(form.replace("{}", text))).text == text


def test_an_answer_as_json_is_a_program() -> None:
    assert extract_program(reply(json.dumps(NO))).text == repr(NO)
    assert extract_program(reply(f"```json\n{json.dumps(NO)}\n```")).text == repr(NO)


@pytest.mark.parametrize("mark", ["python ", "py ", " "])
def test_a_block_of_one_line(mark: str) -> None:
    assert extract_program(reply(f"So:\n```{mark}await searchBooks() ```\nThat is all.")).text == "await searchBooks()"


def test_a_block_that_does_not_parse_is_left_to_the_checks() -> None:
    assert extract_program(reply("```python\nfor x in:\n    pass\n```")).text == "for x in:\n    pass"


@pytest.mark.parametrize(
    "text", ["I'm sorry, but I can't help with that.", "No", "42", "Maybe (later)", "", "   ", "```json\n{}\n```", "{" * 400, "[" * 400, "null"]
)  # fmt: skip
def test_prose_is_no_program(text: str) -> None:
    written = extract_program(reply(text))
    assert written.text == ""
    assert written.why


def test_what_was_said_instead_is_told_harmless_and_short() -> None:
    written = extract_program(reply("I cannot\u202e\x1b[2J do that. " * 100))
    assert written.why.startswith("I cannot[2J do that.")
    assert len(written.why) <= 300


def test_bounds() -> None:
    assert "cut off" in extract_program(reply(FORMS["block"], cut=True)).why
    long = extract_program(reply(f"```python\nx = {'1 + ' * MAX_PROGRAM_CHARS}1\n```"))
    assert (long.text, "longer than" in long.why) == ("", True)


def test_an_answer_that_a_branch_of_the_code_writes_out_is_not_the_program() -> None:
    text = (
        'found = await find(name="x")\nif not found:\n    end = {"answered": "no", "answer": "", "missing": "x"}\n'
        'else:\n    end = {"answered": "yes", "answer": found[0]["id"], "missing": ""}\nend'
    )
    for said in (f"```python\n{text}\n```", text):
        assert extract_program(reply(said)).text == text


BROKEN = [
    'gone = await delete(name="Hunger"\n{"answered": "yes", "answer": "Hunger was deleted.", "missing": ""}',
    'x = await send(body={"code": "await g()"}\nx["id"',
    'x = await list(filter={"code": "PL"})\nfor one in:\n    pass',
]


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("behind", ["", '\n```json\n{"answered": "yes", "answer": "Done."}\n```'])
@pytest.mark.parametrize("before", ["", "```python\nx = await other()\n```\n"])
def test_a_broken_program_in_a_block_goes_to_the_checks_whole(text: str, behind: str, before: str) -> None:
    assert extract_program(reply(f"{before}```python\n{text}\n```{behind}")).text == text


@pytest.mark.parametrize("text", BROKEN)
@pytest.mark.parametrize("before", ["", "Sure:\n"])
def test_nothing_stands_for_a_broken_program_without_a_block(text: str, before: str) -> None:
    assert extract_program(reply(before + text)).text == ""
