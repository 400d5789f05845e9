from pathlib import Path

import reweigh


def test_training_knows_nothing_of_comparisons() -> None:
    """A run is the same whether it is alone or one of many."""
    files = list((Path(reweigh.__file__).parent / "training").rglob("*.py"))
    assert files
    assert not [file.name for file in files if "reweigh.comparing" in file.read_text("utf-8")]
