import torch

from reweigh.bench.transformer import VOCABULARY, Encoder


def test_sentences_get_logits_and_their_order_matters() -> None:
    torch.manual_seed(0)
    model = Encoder(3, width=16, layers=1)
    tokens = torch.randint(VOCABULARY, (2, 5))
    logits = model(tokens)
    assert logits.shape == (2, 3)
    assert not torch.allclose(logits, model(tokens.flip(1)), atol=1e-6)
