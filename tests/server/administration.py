"""The part of the matrix that is about administration: the audit log, usage, model services, data."""

from tests.server.access import Access, for_admins

ADMINISTRATION: dict[tuple[str, str], Access] = {
    ("GET", "/api/v1/audit"): for_admins(200),
    ("GET", "/api/v1/usage"): for_admins(200),
    ("GET", "/api/v1/usage/performance"): for_admins(200),
    ("GET", "/api/v1/audit/operations"): for_admins(200),
}
