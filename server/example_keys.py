"""Examples of keys and of what obtains them, for the API's document."""

from server.example_plans import AT, Example

KEYS: dict[str, Example] = {
    "ToolKeyBody": {"value": "the key", "hosts": ["api.example.com"]},
    "GrantBody": {
        "grant": "authorization_code",
        "authorize_url": "https://id.example.com/authorize",
        "token_url": "https://id.example.com/token",
        "client_id": "footpath",
        "scopes": ["read"],
        "hosts": ["api.example.com"],
    },
    "DiscoveryBody": {"address": "https://api.example.com/mcp"},
    "ToolKey": {"name": "weather", "hosts": ["api.example.com"], "updated_at": AT},
    "NeededKey": {
        "name": "harbour_oauth",
        "source_id": None,
        "hosts": ["api.example.com"],
        "tools": ["harbour/Harbour/list_ships"],
        "required": True,
        "lapsed": "",
        "flows": [
            {
                "grant": "authorization_code",
                "token_url": "https://id.example.com/token",
                "authorize_url": "https://id.example.com/authorize",
                "scopes": ["read"],
            }
        ],
    },
    "BegunGrant": {
        "authorize": "https://id.example.com/authorize?response_type=code&client_id=footpath&state=fpo_5tGw…",
        "key": None,
        "client_id": "footpath",
    },
    "Discovered": {
        "resource": "https://api.example.com/mcp",
        "issuer": "https://id.example.com",
        "issuer_told": True,
        "authorize_url": "https://id.example.com/authorize",
        "token_url": "https://id.example.com/token",
        "registration_url": "https://id.example.com/register",
        "scopes": ["read", "write"],
        "grants": ["authorization_code"],
        "client_auths": ["none", "basic"],
        "told": [],
    },
}
