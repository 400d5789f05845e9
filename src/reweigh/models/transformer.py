"""The Transformer that translates (Vaswani et al. 2017): the paper's second student.

Layer norm after each sum, sinusoidal positions, and one matrix E for the words of both languages
and the last projection, the logits being E h. `transformer-iwslt` has the sizes of fairseq's
`transformer_iwslt_de_en`, which are those of the paper: 512/1024, 4 heads, 6 + 6 layers.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from reweigh.errors import UsageError
from reweigh.models.attention import CrossAttention, KeysValues, Past, SelfAttention

PAD = 0

PRESETS: dict[str, dict[str, Any]] = {
    "transformer-iwslt": {"width": 512, "inner": 1024, "heads": 4, "layers": (6, 6)},
    "transformer-small": {"width": 256, "inner": 512, "heads": 4, "layers": (3, 3)},
}
"""Sizes by name: the paper's, and one for a CPU (ours)."""


class Memory(NamedTuple):
    """What the decoder sees of the source sentences."""

    states: Tensor  # (n, s, d)
    real: Tensor  # (n, 1, 1, s) bool, False where padded
    projected: tuple[KeysValues, ...]  # of each decoder layer

    def select(self, rows: Tensor) -> "Memory":
        """The same of some sentences."""
        projected = tuple((k[rows], v[rows]) for k, v in self.projected)
        return Memory(self.states[rows], self.real[rows], projected)


class Transformer(nn.Module):
    """Batches `source` (n, s), `target_in` (n, t), padded with 0 → logits (n, t, V).

    A teacher finds what it looks at in the outputs of `encoder_out` and `decoder_out`, (n, t, d),
    and of `encoder_pool`, `decoder_pool`, `target_pool`, (n, d): the means over the real words of
    the encoder's states, of the decoder's before the projection, and of the target's embeddings.
    """

    def __init__(
        self,
        vocabulary_size: int,
        *,
        width: int = 512,
        inner: int = 1024,
        heads: int = 4,
        layers: tuple[int, int] = (6, 6),
        dropout: float = 0.3,
        attention_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        if width % heads or width % 2:
            raise UsageError(f"the width {width} must be even and a multiple of {heads} heads")
        sizes, drops = (width, inner, heads), (dropout, attention_dropout)
        self.embedding = nn.Embedding(vocabulary_size, width, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=width**-0.5)
        with torch.no_grad():
            self.embedding.weight[PAD] = 0
        self.dropout = nn.Dropout(dropout)
        self.encoder = nn.ModuleList(EncoderLayer(*sizes, *drops) for _ in range(layers[0]))
        self.decoder = nn.ModuleList(DecoderLayer(*sizes, *drops) for _ in range(layers[1]))
        self.encoder_out, self.decoder_out = nn.Identity(), nn.Identity()
        self.encoder_pool, self.decoder_pool, self.target_pool = (Pool(width) for _ in range(3))

    def forward(self, batch: Mapping[str, Tensor]) -> Tensor:
        """Logits of each next word, given the words before it, (n, t, V)."""
        target, memory = batch["target_in"], self.encode(batch["source"])
        states = self.decode(target, memory)
        self.encoder_pool(memory.states, memory.real[:, 0, 0])
        self.decoder_pool(states, target != PAD)
        return self.logits(states)

    def encode(self, source: Tensor) -> Memory:
        """Read the source sentences, (n, s)."""
        real = (source != PAD)[:, None, None]  # (n, 1, 1, s)
        x = self._placed(self._embedded(source))
        for layer in self.encoder:
            x = layer(x, real)
        states = self.encoder_out(x)
        projected = tuple(layer.keys_values(states) for layer in self._decoder_layers())
        return Memory(states, real, projected)

    def decode(self, target: Tensor, memory: Memory, past: list[Past] | None = None) -> Tensor:
        """States before the projection of each word of `target`, (n, t) → (n, t, d).

        With a `past` of each layer, `target` holds one word each, that comes after it. There may be
        several targets for each source, (n·k, t), those of one source together.
        """
        y = self._embedded(target)
        if past is None:
            self.target_pool(y, target != PAD)
        x = self._placed(y, start=_length(past))
        for i, layer in enumerate(self._decoder_layers()):
            x = layer(x, memory.projected[i], memory.real, past[i] if past else None)
        return self.decoder_out(x)

    def logits(self, states: Tensor) -> Tensor:
        """E h, (…, d) → (…, V)."""
        return nn.functional.linear(states, self.embedding.weight)

    def _decoder_layers(self) -> Iterator["DecoderLayer"]:
        return (layer for layer in self.decoder if isinstance(layer, DecoderLayer))

    def _embedded(self, words: Tensor) -> Tensor:
        """√d E_w, so that words weigh as much as positions, (n, t, d)."""
        return self.embedding(words) * self.embedding.embedding_dim**0.5

    def _placed(self, embedded: Tensor, start: int = 0) -> Tensor:
        places = torch.arange(start, start + embedded.shape[1], device=embedded.device)
        return self.dropout(embedded + sinusoids(places, embedded.shape[2]).to(embedded.dtype))


class EncoderLayer(nn.Module):
    """Self-attention and two linear maps, each added and normalised."""

    def __init__(
        self, width: int, inner: int, heads: int, dropout: float, attention_dropout: float
    ) -> None:
        super().__init__()
        self.attention = SelfAttention(width, heads, dropout=attention_dropout)
        self.attention_norm = nn.LayerNorm(width)
        self.maps = TwoMaps(width, inner)
        self.maps_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def forward(self, x: Tensor, real: Tensor) -> Tensor:
        """(n, s, d) → (n, s, d)."""
        x = self.attention_norm(x + self.dropout(self.attention(x, real=real)))
        return self.maps_norm(x + self.dropout(self.maps(x)))


class DecoderLayer(nn.Module):
    """Attention to the words before and to the source, and two linear maps."""

    def __init__(
        self, width: int, inner: int, heads: int, dropout: float, attention_dropout: float
    ) -> None:
        super().__init__()
        self.attention = SelfAttention(width, heads, dropout=attention_dropout)
        self.attention_norm = nn.LayerNorm(width)
        self.cross = CrossAttention(width, heads, dropout=attention_dropout)
        self.cross_norm = nn.LayerNorm(width)
        self.maps = TwoMaps(width, inner)
        self.maps_norm = nn.LayerNorm(width)
        self.dropout = nn.Dropout(dropout)

    def keys_values(self, states: Tensor) -> KeysValues:
        """What the encoder's states (n, s, d) are to this layer."""
        return self.cross.keys_values(states)

    def forward(self, x: Tensor, memory: KeysValues, real: Tensor, past: Past | None) -> Tensor:
        """(n, t, d) → (n, t, d)."""
        x = self.attention_norm(x + self.dropout(self.attention(x, past=past)))
        x = self.cross_norm(x + self.dropout(self.cross(x, memory, real)))
        return self.maps_norm(x + self.dropout(self.maps(x)))


class TwoMaps(nn.Module):
    """W₂ relu(W₁ x + b₁) + b₂ of each position."""

    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(width, inner), nn.Linear(inner, width)
        for layer in (self.first, self.second):
            nn.init.xavier_uniform_(layer.weight)
            nn.init.zeros_(layer.bias)

    def forward(self, x: Tensor) -> Tensor:
        """(n, t, d) → (n, t, d)."""
        return self.second(self.first(x).relu())


class Pool(nn.Module):
    """The mean over the real positions: a place where a teacher can look at whole sentences."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.out_features = width

    def forward(self, states: Tensor, real: Tensor) -> Tensor:
        """(n, t, d), (n, t) bool → (n, d)."""
        share = real / real.sum(1, keepdim=True).clamp_min(1)  # (n, t)
        return (share.to(states.dtype)[:, None] @ states).squeeze(1)


def sinusoids(places: Tensor, width: int) -> Tensor:
    r"""$\sin(p f_i), \cos(p f_i)$ with $f_i = 10000^{-i/(d/2-1)}$, side by side, (t,) → (t, d)."""
    half = width // 2
    steps = torch.arange(half, device=places.device) * (math.log(10_000) / max(half - 1, 1))
    angles = places[:, None] * torch.exp(-steps)  # (t, d/2)
    return torch.cat([angles.sin(), angles.cos()], 1)


def _length(past: list[Past] | None) -> int:
    """How many words were decoded."""
    return 0 if not past or past[0].held is None else past[0].held[0].shape[2]
