"""What is kept of a question about a call, where it cannot be read any more."""

from datetime import UTC, datetime

import pytest

from domain.errors import UsageError
from domain.model import JsonObject
from server.runs.call_corrections import Correction, check_corrections, restore_tool
from server.storage.run_records import RunQuestion


def test_parameters_that_cannot_be_read_any_more_leave_the_question_to_be_allowed_or_denied() -> None:
    told: JsonObject = {"tool": "c/t/add", "arguments": {"name": "a"}, "parameters": [{"of": "another version"}]}
    asked = RunQuestion(run_id="r", key="k", kind="call", question=told, asked_at=datetime.now(UTC))
    assert restore_tool(asked) is None
    with pytest.raises(UsageError, match="allow the call or deny it"):
        check_corrections(asked, [Correction(arguments={"name": "b"})])
