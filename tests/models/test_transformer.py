"""The Transformer: its order of time, its padding, its kernels, its places to look at."""

import pytest
import torch
from torch import Tensor
from torch.profiler import profile

from reweigh.errors import UsageError
from reweigh.models.transformer import PRESETS, Pool, Transformer, sinusoids
from reweigh.teachers.features import InternalState

Batch = dict[str, Tensor]


def small(dropout: float = 0.0, **options: float) -> Transformer:
    torch.manual_seed(0)
    sizes = {"width": 16, "inner": 24, "heads": 2, "layers": (2, 2)}
    return Transformer(30, **sizes, dropout=dropout, **options).double()  # pyright: ignore[reportArgumentType] (sizes differ in type)


def pairs(n: int = 4) -> Batch:
    torch.manual_seed(1)
    source, target = torch.randint(3, 30, (n, 6)), torch.randint(3, 30, (n, 5))
    source[1, 3:], target[2, 2:] = 0, 0
    return {"source": source, "target_in": target}


def test_the_paper_s_size() -> None:
    with torch.device("meta"):
        model = Transformer(10_000, **PRESETS["transformer-iwslt"])
    encoder, decoder = 6 * 2_102_784, 6 * 3_154_432  # 4d² + 2·2d², and 4d² more; biases and norms
    assert sum(p.numel() for p in model.parameters()) == 5_120_000 + encoder + decoder


def test_one_matrix_serves_words_and_projection() -> None:
    assert [n for n in small().state_dict() if "embedding" in n] == ["embedding.weight"]


def test_a_word_depends_on_those_before_it_only() -> None:
    model, batch = small(), pairs()
    before = model(batch)
    changed = batch | {"target_in": batch["target_in"].clone()}
    changed["target_in"][:, 3] = 29
    moved = (model(changed) - before).abs().amax((0, 2))  # (t,)
    assert moved[:3].max() < 1e-12
    assert moved[3:].min() > 1e-6


def test_padding_changes_nothing() -> None:
    model, batch = small(), pairs()
    padded = {name: torch.nn.functional.pad(words, (0, 3)) for name, words in batch.items()}
    assert torch.allclose(model(padded)[:, :5], model(batch), rtol=0, atol=1e-12)


def test_every_source_word_is_seen() -> None:
    model, batch = small(), pairs()
    changed = batch | {"source": batch["source"].clone()}
    changed["source"][0, 5] = 29
    assert (model(changed) - model(batch))[0].abs().amax(1).min() > 1e-6


def test_training_steps_run_the_fused_kernel_in_spite_of_padding() -> None:
    model = small(dropout=0.3).float()
    with profile() as seen:
        model(pairs()).sum().backward()
    ran = {event.key for event in seen.key_averages()}
    assert any("flash_attention" in name and "backward" in name for name in ran)
    assert not any("attention_math" in name for name in ran)


@pytest.mark.parametrize("layer", ["encoder_pool", "decoder_pool", "target_pool"])
def test_a_teacher_finds_pooled_states(layer: str) -> None:
    model, batch, found = small(), pairs(), {}
    assert InternalState(model, layer, side="output").size == 16
    for name in (layer, "decoder_out", "encoder_out"):
        module = model.get_submodule(name)
        module.register_forward_hook(lambda _m, _a, out, name=name: found.update({name: out}))
    model(batch)
    assert found[layer].shape == (4, 16)
    if layer == "decoder_pool":
        assert torch.allclose(found[layer][2], found["decoder_out"][2, :2].mean(0))
    if layer == "encoder_pool":
        assert torch.allclose(found[layer][1], found["encoder_out"][1, :3].mean(0))


def test_pooling_leaves_padding_out() -> None:
    states = torch.tensor([[[1.0], [3.0], [100.0]], [[5.0], [6.0], [7.0]]])
    real = torch.tensor([[True, True, False], [False, False, False]])
    assert Pool(1)(states, real).tolist() == [[2.0], [0.0]]


def test_positions_are_waves() -> None:
    waves = sinusoids(torch.arange(3, 7), 8)
    assert waves[1, 0].item() == pytest.approx(torch.tensor(4.0).sin().item())
    assert waves[1, 7].item() == pytest.approx(torch.tensor(4e-4).cos().item())


def test_a_width_that_does_not_split_is_refused() -> None:
    with pytest.raises(UsageError, match="multiple of 3 heads"):
        Transformer(30, width=16, heads=3)
