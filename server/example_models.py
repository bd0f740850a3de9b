"""Examples of model services, for the API's document."""

from server.example_plans import AT, Example

_TRIED: Example = {
    "works": True,
    "seconds": 0.42,
    "first_seconds": 0.21,
    "streams": True,
    "counts_tokens": True,
    "listed": True,
    "forms": {"json_schema": True, "json_object": True},
    "decisions": {
        "choose": {"valid": True, "right": True, "prompt_tokens": 912, "completion_tokens": 38, "seconds": 0.6}
    },
    "programs": {"code": {"right": 5, "samples": 5}},
    "program_form": "code",
    "run_tokens": 6_300,
    "decision_cost": 0.0002,
    "run_cost": 0.0012,
}
_SERVICE_BODY: Example = {
    "kind": "chat",
    "name": "Large model",
    "provider": "other",
    "address": "https://models.example.com/v1",
    "own_network": False,
    "model": "large-1",
    "key": "sk-…",
    "parameters": {"temperature": 0.0, "max_tokens": 1024},
    "price_prompt": 0.15,
    "price_completion": 0.6,
    "online": True,
}
_SERVICE: Example = {
    **{name: value for name, value in _SERVICE_BODY.items() if name != "key"},
    "id": "01980f6e-e7f6-7b09-8d04-5a9b1f2c0d09",
    "has_key": True,
    "tested": _TRIED,
    "tested_at": AT,
    "version": 1,
    "created_at": AT,
    "created_by": "boss",
    "changed_at": AT,
    "changed_by": "boss",
    "purposes": ["programs"],
}

MODELS: dict[str, Example] = {
    "ServiceBody": _SERVICE_BODY,
    "TrialBody": _SERVICE_BODY | {"service_id": None},
    "ChangeBody": _SERVICE_BODY | {"version": 1, "key": None},
    "OnlineBody": {"online": False},
    "PurposeBody": {"service_id": _SERVICE["id"]},
    "ServiceTest": _TRIED,
    "ShownService": _SERVICE,
    "ModelsShown": {
        "services": [_SERVICE],
        "purposes": [
            {
                "purpose": "programs",
                "about": "writing the programs that serve requests",
                "service_id": _SERVICE["id"],
                "used": "Large model",
            }
        ],
        "settings": None,
        "presets": [
            {
                "provider": "openai",
                "name": "OpenAI",
                "address": "https://api.openai.com/v1",
                "needs_key": True,
                "own_network": False,
            }
        ],
    },
}
