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

ADMINISTRATION: dict[str, Example] = {
    "ResetBody": {"secret": "fpw_4bXwK…", "password": "correct horse battery"},
    "PasswordLink": {"secret": "fpw_4bXwK…", "expires_at": UNTIL},
    "AuditEntry": _AUDITED,
    "AuditPage": {"entries": [_AUDITED], "next": None},
    "AuditOperation": {"operation": "change_user", "about": "Give a role, disable or enable"},
}
