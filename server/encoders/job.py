"""The job that makes vectors with another encoder beside those in use, and compares both."""

from domain.model import JsonObject
from server.encoders.choices import chosen_encoder
from server.encoders.services import Whole
from server.jobs.kinds import JobInHand, JobKind
from server.storage.model_services import ModelServices
from wiring.encoder_change import EncoderChange
from wiring.encoder_trial import compare_on_store
from wiring.links import link_fully
from wiring.settings import Settings

PREPARE, LINKS = "encoder", "encoder_links"


def encoder_jobs(settings: Settings, services: ModelServices, whole: Whole, slot: str) -> list[JobKind]:
    """Preparing, with the comparison; and, after a switch, the links that vectors tell of."""

    async def prepare(hand: JobInHand) -> JsonObject:
        container, wanted = await whole(), str(hand.job.wanted.get("encoder", ""))
        told: JsonObject = {}
        if wanted:  # else what is beside is compared again
            choice = await chosen_encoder(settings, services, wanted)
            brought = await EncoderChange(container).prepare(
                choice, lambda done, total: hand.progress("vectors", done, total)
            )
            hand.say(f"{brought.embedded:,} of {brought.tools:,} tools embedded; the others had their vectors")
            told = {"tools": brought.tools, "embedded": brought.embedded}
        found = await compare_on_store(container, lambda done, total: hand.progress("comparison", done, total))
        hand.say(f"compared on {found.requests:,} requests: {found.gained:,} gain, {found.lost:,} lose")
        return {**told, "requests": found.requests, "gained": found.gained, "lost": found.lost}

    async def links(hand: JobInHand) -> JsonObject:
        hand.progress("links", 0, None)
        await link_fully(await whole())
        return {}

    return [JobKind(PREPARE, prepare, slot), JobKind(LINKS, links, slot)]
