"""Multi-head attention, of a sequence to itself and to another one.

Both are `softmax(q kᵀ / √d_h) v` per head, by PyTorch's own fused kernel: a mask of padded keys and
the causal order keep it, dropout of the attention itself does not on a CPU. Keys and values are
projected apart from the queries, so that decoding can hold on to them.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

KeysValues = tuple[Tensor, Tensor]
"""Projected keys and values, each (n, heads, t, d_h)."""


class Past:
    """Keys and values of the words decoded so far, in one layer."""

    held: KeysValues | None = None

    def extended(self, k: Tensor, v: Tensor) -> KeysValues:
        """Everything up to and with the new words."""
        if self.held is not None:
            k, v = torch.cat([self.held[0], k], 2), torch.cat([self.held[1], v], 2)
        self.held = k, v
        return self.held

    def select(self, rows: Tensor) -> None:
        """Go on with these rows, in this order."""
        if self.held is not None:
            self.held = self.held[0][rows], self.held[1][rows]


class SelfAttention(nn.Module):
    """Of a sequence to itself, (n, t, d) → (n, t, d)."""

    def __init__(self, width: int, heads: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.project = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        _start(self.project, self.out)

    def forward(self, x: Tensor, *, real: Tensor | None = None, past: Past | None = None) -> Tensor:
        """Attend to the `real` keys, (n, 1, 1, t); without them, to what came before.

        Causal order needs no mask of padding: it stands at the end, where no word looks. With a
        `past`, x is one next word, which may look at all of it.
        """
        q, k, v = (_split(part, self.heads) for part in self.project(x).chunk(3, -1))
        if past is not None:
            k, v = past.extended(k, v)
        dropout = self.dropout if self.training else 0.0
        causal = real is None and past is None
        y = _attended(q, k, v, real, dropout, causal=causal)  # (n, h, t, d_h)
        return self.out(_joined(y))


class CrossAttention(nn.Module):
    """Of a sequence to the encoder's states, (n, t, d) → (n, t, d)."""

    def __init__(self, width: int, heads: int, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query = nn.Linear(width, width)
        self.project = nn.Linear(width, 2 * width)
        self.out = nn.Linear(width, width)
        _start(self.query, self.project, self.out)

    def keys_values(self, states: Tensor) -> KeysValues:
        """What the encoder's states (n, s, d) are to this layer."""
        k, v = (_split(part, self.heads) for part in self.project(states).chunk(2, -1))
        return k, v

    def forward(self, x: Tensor, memory: KeysValues, real: Tensor) -> Tensor:
        """Attend to the `real` (n, 1, 1, s) states of the memory.

        x may hold several sequences for each memory, (n·k, t, d): all are its queries, and the
        memory is not copied.
        """
        k, v = memory
        grouped = self.query(x).reshape(len(k), -1, x.shape[-1])  # (n, k·t, d)
        dropout = self.dropout if self.training else 0.0
        q = _split(grouped, self.heads)
        y = _attended(q, k, v, real, dropout)  # (n, h, k·t, d_h)
        return self.out(_joined(y).view(x.shape))


def _attended(
    q: Tensor, k: Tensor, v: Tensor, real: Tensor | None, dropout: float, *, causal: bool = False
) -> Tensor:
    """softmax(q kᵀ / √d_h) v of each head, (n, h, t, d_h).

    On a CPU in float32 even under bfloat16 autocast: the fused kernel's backward in 16 bits takes
    four times as long on sentences (120 of 17 words: 34 ms against 8), and gains nothing on long text.
    """
    if not (q.is_cpu and q.dtype == torch.bfloat16):
        return F.scaled_dot_product_attention(q, k, v, real, dropout, causal)
    with torch.autocast("cpu", enabled=False):
        wide = F.scaled_dot_product_attention(
            q.float(), k.float(), v.float(), real, dropout, causal
        )
    return wide.to(q.dtype)


def _split(x: Tensor, heads: int) -> Tensor:
    return x.unflatten(-1, (heads, -1)).transpose(1, 2)  # (n, t, d) -> (n, h, t, d_h)


def _joined(y: Tensor) -> Tensor:
    return y.transpose(1, 2).flatten(2)  # (n, h, t, d_h) -> (n, t, d)


def _start(*layers: nn.Linear) -> None:
    """Uniform within ±√(6/4d) for queries, keys and values, ±√(6/2d) for the last; biases 0."""
    for layer in layers:
        d = layer.in_features
        bound = (6 / (2 * d if layer is layers[-1] else 4 * d)) ** 0.5
        nn.init.uniform_(layer.weight, -bound, bound)
        nn.init.zeros_(layer.bias)
