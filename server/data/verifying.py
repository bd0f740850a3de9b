"""The store verified, and mended, as a job."""

from domain.model import JsonObject
from server.jobs.kinds import JobInHand
from server.runs.agent_runtime import AgentRuntime
from wiring.store_verification import to_json, verify_container

VERIFY = "verify"


async def verify_store(agents: AgentRuntime, hand: JobInHand) -> JsonObject:
    """Every document must be indexed, as it is now and by the encoder in use, and nothing else. ``mend`` of what is wanted: the indexes are made equal."""
    hand.say("The documents of the graph are compared with the vectors, the words and the patterns of solutions.")
    hand.progress("compare", 0, None)
    found = await verify_container(
        await agents.get_full_container(), hand.progress, repair=bool(hand.job.wanted.get("mend"))
    )
    if found.embedded is not None:
        hand.say(f"{found.embedded:,} tools were indexed anew.")
    hand.say("No difference." if found.equal else "The indexes differ from the graph.")
    return to_json(found)
