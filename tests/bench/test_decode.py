"""The measurement of cached decoding, made tiny."""

import pytest

from reweigh.bench import decode, translation
from reweigh.models.transformer import PRESETS


def test_both_ways_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    tiny = {"width": 8, "inner": 8, "heads": 2, "layers": (1, 1)}
    monkeypatch.setitem(PRESETS, "transformer-small", tiny)
    monkeypatch.setattr(translation, "VOCABULARY", 50)
    rows = list(decode.measure(["transformer-small"], [4, 6], rounds=1))
    assert [row["words"] for row in rows] == [4, 6]
    assert all(row["times_uncached"] > 0 for row in rows)
    assert decode.table(rows).row_count == 2
