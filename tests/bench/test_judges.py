"""How well documents are judged: by rules, and by the language model of the settings, where one is set. Three questions to it."""

import time
from collections.abc import Sequence

import pytest

from admission.model_judge import ModelJudge
from admission.quality import BATCH, QualityJudge, RulesJudge
from tests.support.admission_samples import Judged, judged_documents
from wiring.models import create_chat_model
from wiring.settings import read_settings

pytestmark = pytest.mark.bench
# Read here: no test sees FOOTPATH_ variables.
SETTINGS = read_settings()


async def dropped_by(judge: QualityJudge, documents: Sequence[Judged]) -> dict[str, str]:
    """By its name why a document is dropped."""
    found: dict[str, str] = {}
    for start in range(0, len(documents), BATCH):
        tools = [one.tool for one in documents[start : start + BATCH]]
        for tool, judgement in zip(tools, await judge.judge(tools), strict=True):
            if not judgement.keep:
                found[tool.api] = "; ".join(judgement.reasons)
    return found


def told(judge: QualityJudge, dropped: dict[str, str], documents: Sequence[Judged], seconds: float) -> str:
    """The figures in a line, and in further ones what was judged otherwise than it should be."""
    bad = {one.tool.api: one.wrong for one in documents if one.wrong}
    right = len(bad.keys() & dropped.keys())
    lines = [
        f"\n{judge.name}: {len(dropped)} dropped, {right} of them rightly, of {len(bad)} bad ones in {len(documents)}; {seconds:.0f} s"
    ]
    lines += [f"  kept, though {why}: {api}" for api, why in bad.items() if api not in dropped]
    lines += [f"  dropped: {api} ({bad.get(api, 'good')}): {why}" for api, why in dropped.items()]
    return "\n".join(lines)


async def test_rules_and_a_model_as_judges(capsys: pytest.CaptureFixture[str]) -> None:
    documents = judged_documents()
    judges: list[QualityJudge] = [RulesJudge([one.tool for one in documents])]
    if SETTINGS.model_url:
        judges.append(ModelJudge(create_chat_model(SETTINGS), SETTINGS.model_timeout))
    for judge in judges:
        began = time.perf_counter()
        dropped = await dropped_by(judge, documents)
        with capsys.disabled():
            print(told(judge, dropped, documents, time.perf_counter() - began))
        assert sum(not one.wrong for one in documents if one.tool.api in dropped) <= 2
