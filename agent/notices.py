"""What a policy has to say of itself during a run, as events."""

from agent.policy import Policy
from agent.tool_text import clean
from domain.event import PolicyFellBack


def told_notices(policy: Policy) -> list[PolicyFellBack]:
    """What the policy has to say since it was asked last: taken out, told before what it decided then."""
    notices = policy.notices
    told = [PolicyFellBack(policy=n.policy, to=n.to, reason=clean(n.reason, 400)) for n in notices]
    notices.clear()
    return told
