"""Loss curves of two small models over 200 steps, from weights and batches that the tests share.

The text is a sequence of integers made by a formula (see `sequence` here and in training_test.cpp): mostly determined
by the two numbers before, so that there is something to learn.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from families.schedule import cosine
from golden_file import in_float, random_of

STEPS, BATCH, TIME, VOCAB, LENGTH = 200, 8, 16, 30, 2000


def sequence():
    s = [1, 2]
    for i in range(2, LENGTH):
        odd = (i * 2654435761) % 2**32 < 2**30  # one in four
        s.append((s[i - 2] + 5 if odd else 7 * s[i - 1] + 3) % VOCAB)
    return torch.tensor(s)


def batch(text, step):
    starts = [((step * BATCH + row) * 37) % (LENGTH - TIME - 1) for row in range(BATCH)]
    return tuple(torch.stack([text[s + shift : s + shift + TIME] for s in starts]) for shift in (0, 1))


class Gpt(nn.Module):
    """Pre-norm blocks with exact GELU and a final layer norm (Radford et al. 2019)."""

    def __init__(self, width=32, heads=4, layers=2):
        super().__init__()
        self.token_embedding = nn.Embedding(VOCAB, width)
        self.position_embedding = nn.Embedding(TIME, width)
        self.layers = nn.ModuleList(
            nn.TransformerEncoderLayer(width, heads, 4 * width, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, VOCAB)

    def forward(self, ids):
        x = self.token_embedding(ids) + self.position_embedding.weight[: ids.shape[1]]
        mask = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).triu(1)
        for layer in self.layers:
            x = layer(x, src_mask=mask)
        return self.head(self.norm(x))


class LstmModel(nn.Module):
    def __init__(self, width=16, hidden=32):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, width)
        self.rnn = nn.LSTM(width, hidden, batch_first=True)
        self.head = nn.Linear(hidden, VOCAB)

    def forward(self, ids):
        return self.head(self.rnn(self.embedding(ids))[0])


def start(model, rng):
    """Weights from N(0, 0.1), weights of norm layers around 1, exact in float32."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            gain = "norm" in name and name.endswith("weight")
            p.copy_(torch.from_numpy(in_float(rng.normal(1.0 if gain else 0.0, 0.1, p.shape))))


def clip(parameters, limit):
    norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in parameters))
    if norm > limit:
        for p in parameters:
            p.grad.mul_(limit / norm)


def curve(g, name, model, optimizer_of, rate):
    start(model, random_of(name))
    state = {key: value.clone() for key, value in model.state_dict().items()}
    optimizer, text, losses = optimizer_of(model), sequence(), []
    for step in range(STEPS):
        ids, targets = batch(text, step)
        loss = F.cross_entropy(model(ids).reshape(-1, VOCAB), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        clip(list(model.parameters()), 1.0)
        for group in optimizer.param_groups:
            group["lr"] = rate(step)
        optimizer.step()
        losses.append(loss.item())
    g.raw(name, state=state, out={"loss": np.array(losses)})


def write(g):
    def decay_groups(model):
        """Weight decay of 0.1 on parameters with two axes or more."""
        return torch.optim.AdamW([{"params": [p for p in model.parameters() if p.dim() >= 2], "weight_decay": 0.1},
                                  {"params": [p for p in model.parameters() if p.dim() < 2], "weight_decay": 0.0}])

    curve(g, "TransformerLM/200 steps", Gpt(), decay_groups, lambda step: cosine(step, 20, STEPS, 3e-3, 3e-4))
    curve(g, "CharRNN/200 steps", LstmModel(), lambda model: torch.optim.Adam(model.parameters()), lambda step: 1e-2)
