"""Examples of what administrators see and set, for the API's document."""

from server.example_plans import AT, UNTIL, Example

_BOSS = "01980f6e-5f43-7c11-9d4e-2f1f6a1b0c01"
_AUDITED: Example = {
    "id": "01980f6e-d6e5-7a08-8c03-4f8a0e1b0c08",
    "at": AT,
    "user_id": _BOSS,
    "name": "boss",
    "role": "admin",
    "via": "session",
    "label": "",
    "operation": "change_user",
    "about": "Give a role, disable or enable",
    "path": f"PATCH /api/v1/users/{_BOSS}",
    "said": {"role": "author", "account": "ada"},
    "status": 200,
}
_USED: Example = {
    "day": None,
    "user_id": _BOSS,
    "name": "ada",
    "runs": 12,
    "model_calls": 31,
    "prompt_tokens": 40_110,
    "completion_tokens": 8_100,
    "cost": None,
}
_LIMITS: Example = {"runs": 200, "tokens": 1_000_000, "cost": None}
_FIGURE: Example = {"name": "program (llm)", "count": 120, "failed": 3, "median": 2.4, "p95": 9.1}
_JOB: Example = {
    "id": "01980f6f-1c2d-7b09-9d04-5a9b1f2c0d09",
    "kind": "import",
    "state": "running",
    "wanted": {"files": ["tools.jsonl"]},
    "what": "tools",
    "done": 1200,
    "total": 4500,
    "lines": ["4,500 tools to import"],
    "result": None,
    "trouble": "",
    "by": "boss",
    "created_at": AT,
    "started_at": AT,
    "finished_at": None,
    "cancel_at": None,
    "tries": 1,
}

ADMINISTRATION: dict[str, Example] = {
    "ResetBody": {"secret": "fpw_4bXwK…", "password": "correct horse battery"},
    "PasswordLink": {"secret": "fpw_4bXwK…", "expires_at": UNTIL},
    "UsageShown": {"days": [_USED | {"day": "2026-03-01", "user_id": "", "name": ""}], "users": [_USED]},
    "LimitsBody": _LIMITS,
    "LimitsShown": {"own": _LIMITS, "counts": _LIMITS | {"cost": 0.0}},
    "PerformanceShown": {
        "planners": [_FIGURE],
        "tools": [_FIGURE | {"name": "places/search/country_code"}],
        "most": 5000,
    },
    "Job": _JOB,
    "JobPage": {"jobs": [_JOB], "next": None},
    "AuditEntry": _AUDITED,
    "AuditPage": {"entries": [_AUDITED], "next": None},
    "AuditOperation": {"operation": "change_user", "about": "Give a role, disable or enable"},
}
