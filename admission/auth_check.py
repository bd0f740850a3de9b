"""Fourth check: whether the keys that a tool's calls send exist, for the host that they would go to."""

from urllib.parse import urlsplit

from admission.findings import report_failure, report_pass, report_skip, report_warning
from agent.execution.secret_store import SecretStore
from agent.execution.supplied_values import describe_missing_secrets
from domain.errors import SecretError
from domain.tool import STDIO, Credential, ToolDoc
from domain.tool_source import Finding, KeyOwner


async def check_auth(tool: ToolDoc, secrets: SecretStore, keys_of: KeyOwner) -> list[Finding]:
    """Check the keys of a tool. ``keys_of`` says whose keys its calls send.

    In either case the live call uses the key of the person who requests the check.
    """
    advice = await describe_missing_secrets(tool, secrets)
    secret_warnings = [
        report_warning("auth", "a value that each call needs stands in no request", one) for one in advice
    ]
    if not tool.credentials:
        return secret_warnings or [report_pass("auth", "its document asks for no key")]
    if tool.url.startswith(STDIO):
        return [
            report_skip("auth", f"its keys go to {tool.host}, which says by itself whether they are the right ones")
        ]
    try:
        parts = urlsplit(tool.url)
        encrypted = parts.scheme == "https"
        host, port = parts.hostname or "", parts.port or (443 if encrypted else 80)
    except ValueError:
        return [report_skip("auth", "its address cannot be read, so that no key can be looked for")]
    findings: list[Finding] = secret_warnings
    for credential in tool.credentials:
        try:
            value = await secrets.get_value(credential.secret, host, port, encrypted=encrypted)
        except SecretError as error:
            message = f"its key {credential.secret} may not be sent there: {error}"
            findings.append(
                report_failure("auth", message, "allow it for this host, if it belongs there", secret=credential.secret)
            )
            continue
        if value is None:
            findings.append(
                _report_missing_key(credential, secrets.build_advice(credential.secret, host, port), keys_of)
            )
    names = ", ".join(one.secret for one in tool.credentials)
    return findings or [report_pass("auth", f"its keys are there, and may be sent to {tool.host}: {names}")]


def _report_missing_key(credential: Credential, advice: str, keys_of: KeyOwner) -> Finding:
    message = f"there is no key {credential.secret}"
    if not credential.required:
        return report_warning("auth", f"{message}; it can be called without", advice, secret=credential.secret)
    if keys_of == "source":
        return report_failure(
            "auth", f"{message}, which its calls send for everybody", advice, secret=credential.secret
        )
    return report_warning(
        "auth",
        f"{message}: who uses it gives their own, and without yours it is not called here",
        advice,
        secret=credential.secret,
        needed=True,
    )
