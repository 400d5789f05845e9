"""The paper's small Transformer as a subject of measurements: 6 layers of 512/1024, 4 heads.

An encoder that labels whole sentences: the cost of a step is that of a translation model's layers,
and no vocabulary or corpus is needed. Without dropout, so that plain steps run with the fused
attention kernel, as they do in practice on a CPU.
"""

import torch
from torch import Tensor, nn

VOCABULARY = 10_000


class Encoder(nn.Module):
    """Tokens (n, t) → logits (n, num_classes); `fc` is the last layer."""

    def __init__(self, num_classes: int, *, width: int = 512, layers: int = 6) -> None:
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, width)
        self.position = nn.Parameter(0.02 * torch.randn(64, width))
        layer = nn.TransformerEncoderLayer(width, 4, 2 * width, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.fc = nn.Linear(width, num_classes)

    def forward(self, tokens: Tensor) -> Tensor:
        """Logits of a batch of sentences."""
        x = self.embedding(tokens) + self.position[: tokens.shape[1]]  # (n, t, d)
        return self.fc(self.layers(x).mean(1))
