"""Examples of what administrators see and set, for the API's document."""

from server.example_plans import AT, LATER, UNTIL, Example

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

_BACKUP: Example = {
    "name": "2026-03-01-120000-0c0d09",
    "at": AT,
    "rows": "sqlite",
    "tables": "0018",
    "bytes": 8_400_123,
    "files": {"rows.db": 4_096_000, "store.jsonl.gz": 4_304_123},
    "vault": {"1": "5d1f…"},
    "checked": {"at": AT, "trouble": ""},
}
_PENDING: Example = {
    "id": "01980f6f-1c2d-7b09-9d04-5a9b1f2c0d09",
    "backup": _BACKUP["name"],
    "backup_at": AT,
    "by": "boss",
    "at": LATER,
    "store": "/var/lib/footpath/store",
    "tools": 240,
    "ended": 1,
    "step": "ready",
}

ADMINISTRATION: dict[str, Example] = {
    "Statistics": {
        "at": AT,
        "seconds": 0.4,
        "tools": {
            "total": 240,
            "categories": [{"name": "places", "count": 240}],
            "sources": [{"name": "openapi:places.json", "count": 240}],
            "effects": {"reads": 200, "changes": 40},
            "callable": 240,
        },
        "edges": {
            "total": 900,
            "imported": 700,
            "live": 150,
            "both": 50,
            "finish": 120,
            "marks": {"pin": 2},
            "feeds": 310,
            "substitutes": 44,
            "pending": 0,
        },
        "availability": {"tenths": [2, 0, 0, 1, 0, 3, 4, 10, 20, 100], "untested": 100},
        "kept": {"users": 12, "runs": 420, "recorded_calls": 1200, "memories": 90, "solutions": 14, "templates": 3},
        "database": {"kind": "sqlite", "bytes": 4_096_000, "note": "", "count": None},
        "graph": {"kind": "sqlite", "bytes": 9_100_000, "note": "", "count": None},
        "vectors": {"kind": "embedded", "bytes": 2_000_000, "note": "bundled", "count": 240},
        "missing": {},
    },
    "NewImport": {"files": [{"upload": _JOB["id"], "holds": ""}], "server": ""},
    "MergeBody": {"replace": False, "unchecked": False, "backup": True, "reason": ""},
    "VerifyBody": {"mend": False},
    "Upload": {"id": _JOB["id"], "name": "tools.jsonl", "bytes": 120_000, "digest": "9f2c…"},
    "Backup": _BACKUP,
    "UploadedBackup": {"upload": _JOB["id"]},
    "RestoreBody": {"backup": _BACKUP["name"], "confirm": "store"},
    "RestoreState": {
        "refused": "",
        "confirm": "store",
        "pending": _PENDING,
        "set_aside": ["/var/lib/footpath/store/before-01980f6f-1c2d-7b09-9d04-5a9b1f2c0d09"],
    },
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
