"""Attention by itself: the kernel that 16 bits take on a CPU."""

import torch
import torch.nn.functional as F

from reweigh.models.attention import SelfAttention


def test_on_a_cpu_attention_under_bfloat16_autocast_is_that_of_float32() -> None:
    """The fused kernel's backward in bfloat16 is several times slower there."""
    torch.manual_seed(0)
    layer, x = SelfAttention(16, 2), torch.randn(3, 5, 16)
    with torch.autocast("cpu", torch.bfloat16):
        made = layer(x)
        parts = (p.unflatten(-1, (2, -1)).transpose(1, 2) for p in layer.project(x).chunk(3, -1))
        q, k, v = (part.float() for part in parts)
        with torch.autocast("cpu", enabled=False):
            wide = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        expected = layer.out(wide.bfloat16().transpose(1, 2).flatten(2))
    assert made.dtype is torch.bfloat16
    assert torch.equal(made, expected)
