"""Fourth check: whether the keys that a tool's calls send exist, for the host that they would go to."""

from urllib.parse import urlsplit

from admission.findings import failed, passed, skipped, warned
from agent.execution.caller_supplied import advise_on_secrets
from agent.execution.secrets import Secrets
from domain.errors import SecretError
from domain.source import Finding, KeysOf
from domain.tool import STDIO, Credential, ToolDoc


async def check_auth(tool: ToolDoc, secrets: Secrets, keys_of: KeysOf) -> list[Finding]:
    """Check the keys of a tool. ``keys_of`` says whose keys its calls send.

    In either case the live call uses the key of the person who requests the check.
    """
    advice = await advise_on_secrets(tool, secrets)
    given = [warned("auth", "a value that each call needs stands in no request", one) for one in advice]
    if not tool.credentials:
        return given or [passed("auth", "its document asks for no key")]
    if tool.url.startswith(STDIO):
        return [skipped("auth", f"its keys go to {tool.host}, which says by itself whether they are the right ones")]
    try:
        parts = urlsplit(tool.url)
        encrypted = parts.scheme == "https"
        host, port = parts.hostname or "", parts.port or (443 if encrypted else 80)
    except ValueError:
        return [skipped("auth", "its address cannot be read, so that no key can be looked for")]
    found: list[Finding] = given
    for credential in tool.credentials:
        try:
            value = await secrets.value(credential.secret, host, port, encrypted=encrypted)
        except SecretError as error:
            told = f"its key {credential.secret} may not be sent there: {error}"
            found.append(failed("auth", told, "allow it for this host, if it belongs there", secret=credential.secret))
            continue
        if value is None:
            found.append(_missing(credential, secrets.advice(credential.secret, host, port), keys_of))
    names = ", ".join(one.secret for one in tool.credentials)
    return found or [passed("auth", f"its keys are there, and may be sent to {tool.host}: {names}")]


def _missing(credential: Credential, advice: str, keys_of: KeysOf) -> Finding:
    told = f"there is no key {credential.secret}"
    if not credential.required:
        return warned("auth", f"{told}; it can be called without", advice, secret=credential.secret)
    if keys_of == "source":
        return failed("auth", f"{told}, which its calls send for everybody", advice, secret=credential.secret)
    return warned(
        "auth",
        f"{told}: who uses it gives their own, and without yours it is not called here",
        advice,
        secret=credential.secret,
        needed=True,
    )
