"""What README.md promises runs as it stands there."""

import re
from pathlib import Path

import torch
from torch.utils.data import DataLoader, TensorDataset

README = Path(__file__).parent.parent / "README.md"


def loader(n: int, batch_size: int) -> DataLoader:
    draw = torch.Generator().manual_seed(n)
    x, y = torch.randn(n, 20, generator=draw), torch.randint(3, (n,), generator=draw)
    return DataLoader(TensorDataset(x, y), batch_size)


def test_the_example_runs(capsys) -> None:
    (code,) = re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    names = {"loader": loader(384, 16), "trusted_loader": loader(30, 10)}
    torch.manual_seed(0)
    exec(code, names)
    outcome = names["outcome"]
    assert "tensor(" in capsys.readouterr().out
    assert outcome.weights.shape == (16,)
    torch.testing.assert_close(outcome.weights.sum(), torch.ones(()))
    assert names["reweigher"].clock.updates == 1  # 24 steps, of which the twentieth taught
    assert names["teacher"].scale != 1


def test_the_examples_of_the_page_on_loops_run(capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = (README.parent / "docs/loops.md").read_text(encoding="utf-8")
    own, _, frameworks = page.partition("## Lightning")
    names = {"loader": loader(96, 16), "trusted_loader": loader(30, 10)}
    torch.manual_seed(0)
    exec("\n".join(re.findall(r"```python\n(.*?)```", own, re.DOTALL)), names)
    steps = [names[who].clock.steps for who in ("reweigher", "mixed", "named")]
    assert steps == [12, 12, 6]
    assert "hold nan for samples" in capsys.readouterr().out
    for code in re.findall(r"```python\n(.*?)```", frameworks, re.DOTALL):
        compile(code, "docs/loops.md", "exec")


def test_the_commands_of_the_readme_exist() -> None:
    from reweigh.cli.app import app

    verbs = {c.name or c.callback.__name__ for c in app.registered_commands if c.callback}
    verbs |= {group.name for group in app.registered_groups}
    mentioned = set(re.findall(r"^reweigh (\w+)", README.read_text(encoding="utf-8"), re.MULTILINE))
    assert mentioned
    assert mentioned <= verbs
