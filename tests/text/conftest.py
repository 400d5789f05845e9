import pytest


@pytest.fixture(autouse=True)
def no_data_of_this_machine(monkeypatch, tmp_path):
    """Tests see only the files they make, and their own cache."""
    monkeypatch.delenv("REWEIGH_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
