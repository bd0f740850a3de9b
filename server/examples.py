"""Examples of what is sent and answered, for the API's document: by the name of the schema that they are of."""

from typing import Any

from server.example_administration import ADMINISTRATION
from server.example_embeddings import EMBEDDINGS
from server.example_files import FILES, KEPT_FILE
from server.example_keys import KEYS
from server.example_models import MODELS
from server.example_plans import (
    AT,
    LATER,
    PLAN,
    PROGRAM,
    RUN,
    SOLUTION,
    TEMPLATE,
    TEXT,
    UNTIL,
    VERSION,
    VERSION_BODY,
    WHOLE_SOLUTION,
    Example,
)
from server.example_sources import SOURCES
from server.example_tools import LIBRARY

_ADA = "01980f6e-5f43-7c11-9d4e-2f1f6a1b0c01"
_TALK = "01980f6e-8a10-7f02-8b1d-5a7c9e3d0c02"
_PASSWORD = "correct horse battery"  # noqa: S105  # an example
_ASKED = "Which public holidays does Caldera have in 2026?"
_ANSWER = "Caldera has 9 public holidays in 2026."

_PROGRAM: Example = {
    "text": TEXT,
    "inputs": {},
    "values": {},
    "functions": [
        {
            "name": "country_code",
            "tool": "places/search/country_code",
            "declaration": "async def country_code(country: str) -> {'code': str}: ...",
            "call": "await country_code(country=fill())",
            "used": True,
        }
    ],
    "complaints": [],
    "speaks": False,
    "calls": [
        {"place": 28, "line": 1, "function": "country_code", "tool": "places/search/country_code", "changes": False}
    ],
    "feeds": [],
    "answer": [],
}
_USER: Example = {"id": _ADA, "name": "ada", "role": "user", "created_at": AT, "disabled_at": None, "language": "zh"}
_TOKENS: Example = {
    "access_token": "fpa_3kTMd…",
    "refresh_token": "fpr_9sQvX…",
    "token_type": "bearer",
    "access_expires_at": "2026-03-01T12:15:00Z",
    "session_expires_at": UNTIL,
}
_CONVERSATION: Example = {"id": _TALK, "title": "Holidays", "created_at": AT, "updated_at": LATER, "waits": False}
_SHOWN_RUN: Example = {
    "id": RUN,
    "conversation_id": _TALK,
    "request": _ASKED,
    "planner": "dfs",
    "policy": "offline",
    "model": "",
    "rerun_of": None,
    "template_id": None,
    "template_version": None,
    "status": "finished",
    "outcome": "answered",
    "usage": {"decisions": 4, "backtracks": 0, "model_calls": 0, "total_seconds": 0.42},
    "created_at": AT,
    "started_at": AT,
    "finished_at": LATER,
    "cancel_at": None,
    "verdict": None,
    "verdict_note": "",
    "last_event": 12,
}
_PAST_RUN: Example = {
    **{name: value for name, value in _SHOWN_RUN.items() if name != "last_event"},
    "conversation_title": "Holidays",
    "calls": 2,
}
_MESSAGE: Example = {
    "id": "01980f6e-9c01-7d04-b1c0-6f2e8a9d0c04",
    "speaker": "assistant",
    "text": _ANSWER,
    "run_id": RUN,
    "created_at": LATER,
}
_INVITATION: Example = {
    "id": "01980f6e-a3b2-7e05-9f00-1c5d7b8e0c05",
    "role": "user",
    "note": "for Ada",
    "created_by": _ADA,
    "created_at": AT,
    "expires_at": UNTIL,
    "used_at": None,
    "used_by": None,
}
_EVENT: Example = {
    "run": RUN,
    "seq": 11,
    "at": LATER,
    "subtask": 0,
    "event": {"kind": "answer.delta", "text": _ANSWER},
}
_SESSION: Example = {
    "id": "01980f6e-b4c3-7f06-8a01-2d6e8c9f0c06",
    "label": "Firefox on Linux",
    "created_at": AT,
    "renewed_at": LATER,
    "program": False,
    "expires_at": UNTIL,
}
_SHARED: Example = {
    "id": "01980f6e-c5d4-7f06-8a01-2d6e8c9f0c07",
    "run_id": RUN,
    "request": _ASKED,
    "with_calls": False,
    "created_at": AT,
    "expires_at": UNTIL,
}
_TOOL: Example = {
    "id": "places/search/country_code",
    "api": "country_code",
    "description": "The code of a country.",
    "changes": False,
    "why": "it is called by GET",
    "host": "api.example.com",
    "parameters": {"type": "object", "properties": {"country": {"type": "string"}}, "required": ["country"]},
}

EXAMPLES: dict[str, Example] = {
    "RegisterBody": {"name": "ada", "password": _PASSWORD},
    "LoginBody": {"name": "ada", "password": _PASSWORD},
    "RefreshBody": {"refresh_token": "fpr_9sQvX…"},
    "PasswordBody": {"old": _PASSWORD, "new": "incorrect donkey generator"},
    "ProgramTokenBody": {"label": "my editor", "days": 30},
    "ProgramToken": {"token": "fpa_3kTzW…", "expires_at": UNTIL},
    "ShareBody": {"days": 7, "with_calls": False},
    "SharedAnswer": _SHARED,
    "NewSharedAnswer": _SHARED | {"secret": "fps_7hQxR…"},
    "SharedCall": {"tool": "places/search/country_code", "status": "ok", "arguments": None, "response": None},
    "ReadAnswer": {
        "owner": "ada",
        "request": _ASKED,
        "outcome": "answered",
        "finished_at": LATER,
        "expires_at": UNTIL,
        "answer": _ANSWER,
        "programs": ["days = await list_holidays(country=country)\ndays"],
        "calls": [{"tool": "places/search/country_code", "status": "ok", "arguments": None, "response": None}],
        "withheld": 0,
    },
    "PreferencesBody": {"language": "zh"},
    "ConfirmBody": {"password": _PASSWORD},
    "UserChange": {"role": "author"},
    "InvitationBody": {"role": "user", "note": "for Ada", "days": 3},
    "ConversationBody": {"title": "Holidays"},
    "TitleBody": {"title": "Holidays in Caldera"},
    "RunBody": {"request": _ASKED, "planner": "dfs", "policy": "offline"},
    "DecisionBody": {"decision": "allow", "always": False},
    "Live": {"status": "ok"},
    "UsedToday": {
        "until": "2026-07-22T00:00:00Z",
        "runs": {"used": 12, "most": 2000, "left": 1988},
        "tokens": {"used": 48_210, "most": 5_000_000, "left": 4_951_790},
        "cost": None,
        "open_runs": {"used": 1, "most": 10, "left": 9},
        "requests": {"used": 3, "most": 1200, "left": 1197},
    },
    "Share": {"used": 12, "most": 2000, "left": 1988},
    "Ready": {
        "status": "ready",
        "checks": {"database": "ok", "disk": "ok", "graph": "ok", "store": "ok", "vectors": "ok"},
    },
    "RegistrationRule": {"registration": "open"},
    "User": _USER,
    "Tokens": _TOKENS,
    "LoggedIn": _TOKENS | {"user": _USER},
    "Session": _SESSION,
    "OwnSession": _SESSION | {"current": True},
    **KEYS,
    **ADMINISTRATION,
    **EMBEDDINGS,
    **MODELS,
    "Invitation": _INVITATION,
    "NewInvitation": _INVITATION | {"secret": "fpi_7hYcR…"},
    "Conversation": _CONVERSATION,
    "Message": _MESSAGE,
    "ShownRun": _SHOWN_RUN,
    "PastRun": _PAST_RUN,
    "RunPage": {"runs": [_PAST_RUN], "next": None},
    "ToolUse": {"tool": "places/search/country_code", "runs": 7},
    "AnsweredRun": _SHOWN_RUN | {"answer": _ANSWER},
    "ListedTool": {
        "tool": "tasks/lists/add_task",
        "address": "https://api.example.com",
        "method": "POST",
        "source": "openapi:tasks.json",
        "origins": ["said", "document"],
        "created_at": AT,
        "holds": True,
    },
    "HostTransfer": {"source": "api.example.com", "target": "other.example.com", "allowed": True, "decided_at": AT},
    "ShownInput": {
        "id": "b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184",
        "asks": "call",
        "tool": "tasks/lists/add_task",
        "arguments": {"title": "Water the lemon tree"},
        "reason": "May add_task be called? It changes something: it is called by POST.",
        "host": "api.example.com",
        "origins": [
            {"parameter": "title", "kind": "said", "words": "you said it", "tool": "", "host": "", "place": ""}
        ],
        "asked_at": AT,
        "decision": None,
        "answered_at": None,
    },
    "EventRecord": _EVENT,
    "Choices": {
        "planners": [
            {"name": "dfs", "about": "Searches the tool graph step by step, and goes back where a way leads nowhere."}
        ],
        "policies": [{"name": "offline", "about": "Rules decide: no language model is asked."}],
        "models": [],
        "default_model": "",
    },
    "ShownDocument": {
        "program": PROGRAM | {"values": {"country": "Caldera"}},
        "document": PLAN,
        "why_no_steps": "",
        "parameters": [
            {
                "name": "country",
                "input": "country",
                "step": None,
                "parameter": None,
                "value": "Caldera",
                "schema": {"type": "string"},
            }
        ],
    },
    "RerunBody": {"values": {"country": "Rioverde"}},
    "ShownPlan": {
        "version": 1,
        "input": "plan-1",
        "program": _PROGRAM,
        "document": PLAN,
        "why_no_steps": "",
        "given": [],
        "tools": [_TOOL],
        "problems": [{"step": 2, "parameter": "year", "message": "year must be of type integer."}],
        "suggestions": [
            {
                "after": 1,
                "tool": "calendars/holidays/list_holidays",
                "api": "list_holidays",
                "reason": "often called after country_code",
                "weight": 2.5,
                "fills": {"country_code": {"step": 1, "field": "code"}},
                "code": "list_holidays_answer_2 = await list_holidays(country_code=fill(), year=fill())",
            }
        ],
    },
    "RunCalls": {
        "tools": [
            {
                "id": "places/search/country_code",
                "host": "127.0.0.1:8765",
                "changes": False,
                "why": "it is called by GET",
            }
        ],
        "programs": [
            {
                "subtask": 1,
                "cells": [1],
                "feeds": [{"source": {"cell": 1, "place": 14}, "target": {"cell": 1, "place": 57}}],
                "answer": [{"cell": 1, "place": 57}],
            }
        ],
    },
    "PlanBody": {"version": 0, "program": {"text": TEXT, "inputs": {}, "values": {}}},
    "SentProgram": {"text": TEXT, "inputs": {}, "values": {}},
    "CheckedText": {
        "complaints": [{"message": "There is no function `list_holiday`.", "line": 2, "column": 31, "input": ""}],
        "document": None,
        "why_no_steps": "",
        "speaks": False,
    },
    "DryRun": {
        "text": TEXT,
        "lines": [{"line": 1, "times": 1, "values": {"country_code_answer": "{'code': 'CA'}"}}],
        "says": None,
        "stopped": "",
        "stopped_line": 0,
        "calls": [
            {
                "step": 1,
                "line": 1,
                "column": 29,
                "function": "country_code",
                "held": "country_code_answer",
                "found": [],
                "example": False,
                "tool": "places/search/country_code",
                "arguments": {"country": "Caldera"},
                "missing": [],
                "changes": False,
                "status": "answered",
                "response": '{"code": "CA"}',
                "note": "",
            }
        ],
        "changes": [],
        "model_calls": 0,
        "tokens": 0,
        "cost": None,
        "note": "Nothing was called.",
    },
    "ShownTemplate": TEMPLATE,
    "WholeTemplate": TEMPLATE | {"content": VERSION},
    "ShownVersion": VERSION,
    "TemplateBody": VERSION_BODY | {"name": "Public holidays", "description": "Those of a country in 2026."},
    "VersionBody": VERSION_BODY,
    "TakeBody": {"version": 2},
    "Differences": {
        "before": 1,
        "after": 2,
        "changes": [
            {
                "step": 2,
                "said": "Step 2 (list_holidays): year is 2027 instead of 2026.",
                "before": {"value": 2026},
                "after": {"value": 2027},
            }
        ],
    },
    "TemplateChange": {"name": "Holidays of a country", "shared": True},
    "TemplateUse": {"runs": 4, "answered": 3, "last_used_at": LATER},
    "TemplateRunBody": {"conversation_id": _TALK, "parameters": {"country": "Rioverde"}},
    "VerdictBody": {"verdict": "wrong", "note": "It counted the regional ones, too."},
    "AccountRemoval": {
        "removed": ["templates", "memories and solutions, with their vectors"],
        "stays": ["entries of the audit log, with the account's name"],
    },
    "ShownSolution": SOLUTION,
    "WholeSolution": SOLUTION | WHOLE_SOLUTION,
    "SolutionBody": {"run_id": RUN, "parameters": {"country": {"input": "country"}}},
    "SolutionRunBody": {"conversation_id": _TALK, "values": {"country": "Rioverde"}},
    **SOURCES,
    **LIBRARY,
    **FILES,
    "ExportedFileBody": {
        "file": "who_are_the_coauthors_of_name.py",
        "text": '"""Who are the coauthors of {name}?"""\n',
    },
    "Export": {
        "conversation": _CONVERSATION,
        "files": [KEPT_FILE],
        "messages": [_MESSAGE],
        "runs": [_SHOWN_RUN | {"events": [_EVENT]}],
    },
}


def add_examples(schemas: dict[str, Any]) -> None:
    """Put them into the document's schemas, where those have none of their own."""
    for name, example in EXAMPLES.items():
        if name in schemas and not {"example", "examples"} & schemas[name].keys():
            schemas[name]["examples"] = [example]
