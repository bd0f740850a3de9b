"""The page that people see when they come back from an authorization server: a few words, and nothing that runs."""

from html import escape

from fastapi.responses import HTMLResponse

_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
}


def page(told: str, account: str, status: int) -> HTMLResponse:
    """``account``: whose key it is, so that who did not mean to give theirs away sees it."""
    whose = (
        f"<p>This was for the Footpath account <b>{escape(account)}</b>. If that is not yours, withdraw the consent at the service.</p>"
        if account
        else ""
    )
    text = (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>Footpath</title></head>'
        f"<body><p>{escape(told)}</p>{whose}</body></html>\n"
    )
    return HTMLResponse(text, status, _HEADERS)
