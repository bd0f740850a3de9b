from datetime import date

import pytest

from evaluation.dates import states_date

DAY = date(2026, 4, 7)


@pytest.mark.parametrize(
    "text",
    [
        "on 2026-04-07", "2026-04-07T10:00:00", "am 7. April 2026", "le 7 avril 2026", "el 7 de abril de 2026", "7 kwietnia 2026",
        "2026年4月7日", "April 7th, 2026", "7.4.2026", "07/04/2026", "04/07/2026", "on Apr 7", "٧ أبريل ٢٠٢٦",
    ],
)  # fmt: skip
def test_a_day_in_any_form(text: str) -> None:
    assert states_date(text, DAY)


@pytest.mark.parametrize(
    "text", ["2026-04-08", "April 7, 2025", "17 April 2026", "7 May 2026", "in 2026", "12026-04-07"]
)
def test_another_day(text: str) -> None:
    assert not states_date(text, DAY)
