import numpy as np
from tests.audit.made_up import audited

from reweigh.report import suspects as module
from reweigh.report.suspects import in_turns, suspects


def test_as_many_pictures_are_shown_as_there_is_room_for(monkeypatch) -> None:
    audit = audited()
    found = suspects(audit)
    assert [one["id"] for one in found] == audit.samples.ids[in_turns(audit)].tolist()
    sizes = np.cumsum([len(one["evidence"].picture) for one in found])
    monkeypatch.setattr(module, "ROOM", int(sizes[9]))
    assert suspects(audit) == found[:10]
    monkeypatch.setattr(module, "MOST", 4)
    assert suspects(audit) == found[:4]
