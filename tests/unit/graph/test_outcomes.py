import pytest

from domain.trajectory import RecordedOutcome
from graph.outcomes import classify_code, classify_error, classify_flag, classify_recorded

CALLERS = [
    '{"message": "You have not provided a valid API Key."}',
    '<pre>{\n  "response": "Error",\n  "message": "Invalid API Key"\n}</pre>',
    '[{"code": "EMPTY_TOKEN", "message": "The token field is required"}]',
    '{"message": "OpenAI API key should be passed in the header \'openai-api-key\'."}',
    '{"success": "false", "message": "Email or apikey is blank"}',
    "An API key is required to access this data and no key was provided",
    "ERROR: The API key is not specified!",
    "Invalid access token",
    '{"success": false, "message": "date time can`t be in past"}',
    '{"message": "arrival date must be today or after today.", "code": "500"}',
    '{"status": "fail", "type": "VALIDATION_ERROR", "message": "Uuid should be a valid UUID"}',
    '{"message": "Invalid Arguments."}',
    '{"message": "400, bad request"}',
    '{"request_info": {"success": false, "message": "\'url\' is not valid."}}',
    "Missing required input parameters: 'name'.",
    "ERROR;1;Insufficient arguments for SMS Gateway!",
    '{"statusCode": 400, "message": "Unknown measure unit"}',
    '{"message": "Error in validating the request 4 is not valid value for boolean"}',
]
KEYS = [
    "Access denied as you are not subscribed to any plan or you are not allowed to access this endpoint",
    '{"success": false, "code": 429, "message": "limit is reached"}',
    '{"message": "You have exceeded the MONTHLY quota for Requests, your API key is blocked"}',
]
TOOLS = [
    "Error",
    "503 - Service Unavailable",
    '{"message": "Internal Server Error"}',
    "File not found.\n",
    "Page not found",
    '{"detail": "Not found."}',
    '{"status": "fail", "type": "COIN_NOT_FOUND", "message": "Coin not found"}',
    '{"message": "Unexpected token \'<\', \\"<!DOCTYPE \\"... is not valid JSON", "code": 400}',
    "stream timeout",
    '{"message": "Something went wrong (e340)"}',
    "",
]


@pytest.mark.parametrize("text", CALLERS)
def test_bad_arguments_and_missing_keys_are_the_callers_fault(text: str) -> None:
    assert classify_error(text) is RecordedOutcome.CALLER_FAULT


@pytest.mark.parametrize("text", KEYS)
def test_what_one_key_may_not_says_nothing_of_the_tool(text: str) -> None:
    assert classify_error(text) is RecordedOutcome.CALLER_FAULT


@pytest.mark.parametrize("text", TOOLS)
def test_the_rest_are_failures_of_the_tool(text: str) -> None:
    assert classify_error(text) is RecordedOutcome.FAILED


def test_recorded_kinds() -> None:
    assert classify_recorded("ok", "", "Invalid API Key") is RecordedOutcome.OK
    assert classify_recorded("empty", "", "[]") is RecordedOutcome.OK
    assert classify_recorded("soft_error", "", "Error") is RecordedOutcome.FAILED
    assert classify_recorded("error", "Missing input parameters.", "") is RecordedOutcome.CALLER_FAULT


@pytest.mark.parametrize(
    ("code", "outcome"),
    [
        (0, RecordedOutcome.OK),
        (1, RecordedOutcome.CALLER_FAULT),
        (5, RecordedOutcome.FAILED),
        (7, RecordedOutcome.CALLER_FAULT),
        (10, RecordedOutcome.CALLER_FAULT),
        (12, RecordedOutcome.FAILED),
        (None, RecordedOutcome.UNKNOWN),
        ("0", RecordedOutcome.UNKNOWN),
        (99, RecordedOutcome.UNKNOWN),
    ],
)
def test_codes_of_search_trees(code: object, outcome: RecordedOutcome) -> None:
    assert classify_code(code) is outcome


def test_a_flag_is_taken_at_its_word() -> None:
    assert [classify_flag(flag) for flag in (True, False, None)] == [
        RecordedOutcome.OK,
        RecordedOutcome.FAILED,
        RecordedOutcome.UNKNOWN,
    ]
