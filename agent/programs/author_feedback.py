"""Feedback for the author of a program that failed: complaints of the checks, or where and why it raised an error."""

import re
from collections.abc import Iterator, Sequence
from types import NoneType

from pydantic.types import JsonValue

from agent.execution.error_bodies import extract_error_text
from agent.programs.program_types import ProgramAttempt, ProgramError
from agent.programs.type_annotations import render_inline
from agent.programs.value_previews import AuthorText
from agent.text import clean_text
from domain.event import ProgramEnded
from domain.plan import StepResult
from graph.answer_shapes import collect_scalars, infer_answer_shape
from graph.lenient_json import read_value

CallOutcomes = Sequence[tuple[str, StepResult]]
"""Names of called functions with their results, in the order in which the calls ended."""

# Limits of what one feedback shows: numbers of entries, and characters of one entry.
_MAX_COMPLAINTS = 10
_MAX_COMPLAINT_LENGTH = 300
_MAX_CHANGES = 30
_MAX_MESSAGE_LENGTH = 240
_MAX_LINE_LENGTH = 160
_MAX_BODY_LENGTH = 200
_MAX_STRUCTURE_LENGTH = 420
_MAX_FUNCTIONS = 6
_VALUE_ERRORS = frozenset({"KeyError", "TypeError", "IndexError", "AttributeError", "ValueError", "StopIteration"})
"""Errors that a value of an unexpected type or structure causes; the feedback then shows structures of responses."""
_CALL_ERRORS = frozenset({"ToolError", "RuntimeError"})
"""Names under which the sandbox raises the error of a failed call."""
_QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
_TYPE_NAMES = frozenset({"NoneType", "str", "int", "float", "bool", "list", "dict", "tuple", "set"})
_RAISE_KEYWORD = re.compile(r"\b(?:raise|assert)\b")


def describe_complaints(complaints: Sequence[str]) -> str:
    """Return the complaints of the checks as a list."""
    lines = [f"- {clean_text(complaint, _MAX_COMPLAINT_LENGTH)}" for complaint in complaints[:_MAX_COMPLAINTS]]
    hidden_count = len(complaints) - len(lines)
    return "\n".join(
        ("Nothing was called. The checks say:", *lines, *([f"and {hidden_count} more"] if hidden_count > 0 else []))
    )


def describe_failure(error: ProgramError, text: str, calls: CallOutcomes) -> AuthorText:
    """Describe the error of a program: its line, and the call that failed or the structures that calls returned.

    The text counts as foreign if it quotes an API's error or note, or if the program itself may have composed the
    message, possibly from responses.
    """
    failed_call = _find_failed_call(error, calls)
    error_text = "" if failed_call is None else extract_error_text(failed_call[1].response)
    # A program that raises errors itself may have put words of a response into the message.
    is_raised_by_text = failed_call is None and _RAISE_KEYWORD.search(text) is not None
    message = (
        clean_text(error.message, _MAX_MESSAGE_LENGTH)
        if is_raised_by_text
        else _remove_foreign_words(error.message, text)
    )
    lines = [f"{error.kind}{f': {message}' if message and failed_call is None else ''}{_describe_line(error, text)}"]
    if failed_call is not None:
        lines.append(_describe_call(*failed_call))
        if error_text:
            lines.append(f"it said: {clean_text(error_text, _MAX_BODY_LENGTH)}")
    if error.kind in _VALUE_ERRORS:
        lines += _describe_results(calls)
    quotes_response = (
        failed_call is not None and failed_call[1].attempts > 0 and bool(error_text or failed_call[1].note)
    )
    return AuthorText("\n".join(lines), quotes_response or (is_raised_by_text and bool(message)))


def describe_changes(changes: CallOutcomes, text: str) -> AuthorText:
    """Describe the changes that a text made before its error, each with the structure of its response.

    The description counts as foreign if arguments contain words that are not in the text, so may be those of a
    response.
    """
    lines = [
        f"- {function}({_render_arguments(result)}) gave {_describe_structure(result)}"
        for function, result in changes[:_MAX_CHANGES]
    ]
    hidden_count = len(changes) - len(lines)
    values = [value for _, result in changes for value in result.arguments.values()]
    foreign = any(
        not isinstance(value, (int, float, NoneType)) and not (isinstance(value, str) and value in text)
        for value in values
    )
    return AuthorText(
        "\n".join(("Changes that were made:", *lines, *([f"and {hidden_count} more"] if hidden_count > 0 else []))),
        foreign,
    )


def build_dropped_attempt(text: str, reason: str, changed_calls: CallOutcomes, *, foreign: bool) -> ProgramAttempt:
    """Return an attempt that counts as not run, except for the changes that it made.

    ``reason``: feedback that says why the attempt was dropped. ``changed_calls``: its calls that changed something; the
    next text must not repeat them.
    """
    if not changed_calls:
        return ProgramAttempt(text, reason, foreign)
    changes = describe_changes(changed_calls, text)
    return ProgramAttempt(text, f"{reason}\n{changes.text}", foreign or changes.foreign, made_changes=True)


def describe_contradiction(end: ProgramEnded) -> str:
    """Return a sentence on how a program's claim contradicts what is known of its calls."""
    return f"It says that the request is answered ({end.answered}), but {end.veto}."


def _render_arguments(result: StepResult) -> str:
    """Render the arguments of a call."""
    return ", ".join(f"{name}={clean_text(repr(value), _MAX_LINE_LENGTH)}" for name, value in result.arguments.items())


def _find_failed_call(error: ProgramError, calls: CallOutcomes) -> tuple[str, StepResult] | None:
    """Return the call that a program could not handle: the last failed one, if the error is that of a call."""
    if error.kind not in _CALL_ERRORS:
        return None
    return next((call for call in reversed(calls) if call[1].status != "ok"), None)


def _describe_call(function: str, result: StepResult) -> str:
    """Describe a failed call."""
    status = f" with HTTP {result.http_status}" if result.http_status else ""
    note = f": {clean_text(result.note, _MAX_MESSAGE_LENGTH)}" if result.note else ""
    return f"the call of {function} failed ({result.status}{status}){note}"


def _describe_line(error: ProgramError, text: str) -> str:
    """Return the line of the error, if it is known."""
    lines = text.splitlines()
    if not 1 <= error.line <= len(lines):
        return ""
    return f"\nin line {error.line}: {clean_text(lines[error.line - 1], _MAX_LINE_LENGTH)}"


def _remove_foreign_words(message: str, text: str) -> str:
    """Mask quoted words of an error's message that are neither names of Python types nor part of the program's text.

    They may come from a response, and the feedback would carry them into the next prompt as if they were ours.
    """

    def keep_own_words(match: re.Match[str]) -> str:
        quoted_text = match[0][1:-1]
        return match[0] if quoted_text in _TYPE_NAMES or quoted_text in text else "'…'"

    # After an unclosed quote, it is not known where foreign words end: keep only the part before it.
    filtered = _QUOTED.sub(keep_own_words, message)
    unquoted = _QUOTED.sub("", filtered)
    return clean_text(
        filtered if not re.search("['\"]", unquoted) else re.split("['\"]", filtered)[0], _MAX_MESSAGE_LENGTH
    )


def _describe_results(calls: CallOutcomes) -> Iterator[str]:
    """Yield the structure of the last successful response of each function, for the functions called last."""
    latest = {function: result for function, result in calls if result.status == "ok"}
    for function, result in list(latest.items())[-_MAX_FUNCTIONS:]:
        yield f"{function} gave {_describe_structure(result)}"


def _describe_structure(result: StepResult) -> str:
    """Describe the structure of a response, and which of its known fields are empty."""
    shape = infer_answer_shape(result.response, collect_scalars(result.arguments.values()))
    value = read_value(result.response)
    if shape is None:
        return f"an empty {type(value).__name__}" if value in ([], {}) else type(value).__name__
    field_names = [
        name for name in _find_empty_fields(value) if name in shape.fields
    ]  # in a mapping with arbitrary keys, the keys are words of the response
    empty_names = ", ".join([clean_text(name, 40) for name in field_names][:8])
    return render_inline(shape, _MAX_STRUCTURE_LENGTH) + (f"; empty or None: {empty_names}" if empty_names else "")


def _find_empty_fields(value: JsonValue) -> Iterator[str]:
    """Yield the fields of an object that are empty or None."""
    if isinstance(value, dict):
        yield from (name for name, item in value.items() if item is None or item in ([], {}, ""))
