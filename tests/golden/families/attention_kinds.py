"""Every kind of attention and the models built with them; kinds that PyTorch 1.13 lacks are in quadratic form."""

import math

import numpy as np
import torch
from torch import nn

from families.attention import joined, padding


def hidden_pairs(queries, keys, causal, lengths=None):
    """Mask [1 or B, 1, T, S], true means masked. The causal mask is aligned at the last key."""
    mask = torch.zeros(1, 1, queries, keys, dtype=torch.bool)
    if causal:
        mask = mask | torch.ones(queries, keys, dtype=torch.bool).triu(1 + keys - queries)
    return mask if lengths is None else mask | padding(lengths, keys)


def repeated(x, heads):
    return x.repeat_interleave(heads // x.shape[1], 1)


def normalized(weights, hidden):
    weights = weights.masked_fill(hidden, 0.0)
    total = weights.sum(-1, keepdim=True)
    return weights / total.masked_fill(total == 0, 1.0)  # zeros if all weights are zero


def linear_attention(q, k, v, hidden, gain=None):
    k, v = repeated(k, q.shape[1]), repeated(v, q.shape[1])
    weights = q @ k.mT
    if gain is not None:
        weights = weights * repeated(gain, q.shape[1]).exp()[:, :, None]
    return normalized(weights, hidden) @ v


def separable_attention(a, k, v, hidden):
    """sum_f a_if sum_j p_jf v_j, where p_jf is the softmax of k_jf over the unmasked keys j."""
    k, v = repeated(k, a.shape[1]), repeated(v, a.shape[1])
    logits = k[:, :, None].expand(-1, -1, a.shape[2], -1, -1).masked_fill(hidden[..., None], -1e300)
    return torch.einsum("bhtf,bhtsf,bhsv->bhtv", a, torch.softmax(logits, 3), v)


def from_scores(scores, v, hidden):
    weights = torch.softmax(scores.masked_fill(hidden, -1e300), -1).masked_fill(hidden, 0.0)
    return weights @ repeated(v, scores.shape[1])


def hard_attention(q, k, v, hidden):
    scores = (q @ repeated(k, q.shape[1]).mT).masked_fill(hidden, -1e300)
    weights = nn.functional.one_hot(scores.argmax(-1), k.shape[2]).to(v.dtype)
    return weights @ repeated(v, q.shape[1])


def additive_scores(q, k, w):
    return torch.einsum("bhtsd,hd->bhts", torch.tanh(q[:, :, :, None] + repeated(k, q.shape[1])[:, :, None]), w)


def quadratic_features(x):
    d = x.shape[-1]
    columns = [torch.ones_like(x[..., :1]), math.sqrt(2) * x]
    for i in range(d):
        columns += [x[..., i:i + 1] ** 2, math.sqrt(2) * x[..., i:i + 1] * x[..., i + 1:]]
    return torch.cat(columns, -1)


def rotary(x, first=0, base=10000.0):
    d = x.shape[-1]
    angles = (torch.arange(x.shape[2]) + first)[:, None] * base ** (-torch.arange(0, d, 2) / d)
    z = torch.view_as_complex(x.reshape(*x.shape[:-1], d // 2, 2).contiguous()) * torch.polar(torch.ones_like(angles), angles)
    return torch.view_as_real(z).reshape(x.shape)


def alibi(heads, queries, keys):
    alibi_slopes = torch.tensor([2.0 ** (-8 * (h + 1) / heads) for h in range(heads)])
    distance = torch.arange(queries)[:, None] + keys - queries - torch.arange(keys)[None, :]
    return -alibi_slopes[:, None, None] * distance


def mix(kind, q, k, v, hidden, score_weight=None, features=None):
    scale = q.shape[-1] ** -0.5
    root = math.sqrt(scale)
    if kind in ("softmax", "mqa", "gqa"):
        return from_scores(q @ repeated(k, q.shape[1]).mT * scale, v, hidden)
    if kind == "alibi":
        bias = alibi(q.shape[1], q.shape[2], k.shape[2])
        return from_scores(q @ repeated(k, q.shape[1]).mT * scale + bias, v, hidden)
    if kind == "rotary":
        return mix("softmax", rotary(q, k.shape[2] - q.shape[2]), rotary(k), v, hidden)
    if kind == "additive":
        return from_scores(additive_scores(q, k, score_weight), v, hidden)
    if kind == "argmax":
        return hard_attention(q, k, v, hidden)
    if kind == "separable":
        return separable_attention(torch.softmax(q, -1), k, v, hidden)
    if kind == "quadratic":
        return linear_attention(quadratic_features(q * root), quadratic_features(k * root), v, hidden)
    if kind == "elu":
        return linear_attention(nn.functional.elu(q) + 1, nn.functional.elu(k) + 1, v, hidden)
    if kind == "relu":
        return linear_attention(torch.relu(q), torch.relu(k), v, hidden)
    if kind == "prf":
        def phi(x):
            return (x @ features.T - (x * x).sum(-1, keepdim=True) / 2).exp()
        return linear_attention(phi(q * root), phi(k * root), v, hidden)
    assert kind == "rff"

    def waves(x):
        return torch.cat([(x @ features.T).sin(), (x @ features.T).cos()], -1) * ((x * x).sum(-1, keepdim=True) / 2).exp()
    return linear_attention(waves(q * root), waves(k * root), v, hidden)


def by_heads(x, heads):
    return x.reshape(x.shape[0], x.shape[1], heads, -1).permute(0, 2, 1, 3)


class Attention(nn.Module):
    """The counterpart of xtape's MultiHeadAttention."""

    def __init__(self, kind, width=8, heads=4, key_heads=None, head_width=None, value_width=None, features=0):
        super().__init__()
        self.kind, self.heads, self.key_heads = kind, heads, key_heads or heads
        d = head_width or width // heads
        v = value_width or d
        self.sizes = [heads * d, self.key_heads * d, self.key_heads * v]
        self.in_proj_weight = nn.Parameter(torch.empty(sum(self.sizes), width))
        self.in_proj_bias = nn.Parameter(torch.empty(sum(self.sizes)))
        self.out_proj = nn.Linear(heads * v, width)
        if kind == "additive":
            self.score_weight = nn.Parameter(torch.empty(heads, d))
        if features:
            self.register_buffer("features", torch.from_numpy(
                np.random.RandomState(5).normal(size=(features, d)).astype(np.float32).astype(np.float64)))

    def forward(self, x, memory, hidden):
        weights, biases = self.in_proj_weight.split(self.sizes), self.in_proj_bias.split(self.sizes)
        q, k, v = (source @ w.T + b for source, w, b in zip((x, memory, memory), weights, biases))
        y = mix(self.kind, by_heads(q, self.heads), by_heads(k, self.key_heads), by_heads(v, self.key_heads), hidden,
                getattr(self, "score_weight", None), getattr(self, "features", None))
        return self.out_proj(joined(y))


def ops(g):
    lengths = {"lengths": np.array([5, 3])}
    shapes = dict(q=(2, 4, 3, 2), k=(2, 2, 5, 2), v=(2, 2, 5, 3))
    from golden_file import positive

    positive_shapes = dict(q=positive(2, 4, 3, 2), k=positive(2, 2, 5, 2), v=(2, 2, 5, 3))
    for title, causal, ints in [("plain", False, None), ("causal", True, None), ("key padding", False, lengths),
                                ("causal and key padding", True, lengths)]:
        def seen(*lengths_of, causal=causal):
            return hidden_pairs(3, 5, causal, *lengths_of)

        g.op(f"linear_attention/{title}", lambda q, k, v, *l: linear_attention(q, k, v, seen(*l)), ints=ints,
             **positive_shapes)
        g.op(f"linear_attention/{title}, gains", lambda q, k, v, gain, *l: linear_attention(q, k, v, seen(*l), gain),
             ints=ints, **positive_shapes, gain=(2, 2, 5))
        g.op(f"separable_attention/{title}", lambda q, k, v, *l: separable_attention(q, k, v, seen(*l)), ints=ints,
             **shapes)
        g.op(f"attention_from_scores/{title}", lambda scores, v, *l: from_scores(scores, v, seen(*l)), ints=ints,
             scores=(2, 4, 3, 5), v=(2, 2, 5, 3))
        g.op(f"hard_attention/{title}", lambda q, k, v, *l: hard_attention(q, k, v, seen(*l)) + 0 * (q.sum() + k.sum()),
             ints=ints, **shapes)
    g.op("additive_scores/grouped heads", additive_scores, q=(2, 4, 3, 2), k=(2, 2, 5, 2), w=(4, 2))
    g.op("quadratic_features/rows", quadratic_features, x=(2, 3, 4))
    g.op("split_heads/inner columns", lambda x: by_heads(x[..., 2:8], 3), x=(2, 3, 10))
    g.op("join_heads/heads", joined, x=(2, 3, 4, 2))
    g.op("rotary/from a start", lambda x: rotary(x, 3), x=(2, 3, 4, 6))


def layers(g):
    lengths = {"lengths": np.array([4, 2])}

    def seen(m, x, lengths_of):
        return m(x, x, hidden_pairs(x.shape[1], x.shape[1], True, lengths_of))

    for kind in ["mqa", "gqa", "additive", "separable", "quadratic", "elu", "relu", "rff", "prf", "argmax", "rotary",
                 "alibi"]:
        module = Attention(kind, key_heads={"mqa": 1, "gqa": 2}.get(kind), features=4 if kind in ("rff", "prf") else 0)
        g.layer(f"MultiHeadAttention/{kind}", module, seen, x=(2, 4, 8), ints=lengths)
    g.layer("MultiHeadAttention/wide heads", Attention("softmax", head_width=3, value_width=5), seen, x=(2, 4, 8),
            ints=lengths)

    def cross(m, x, memory, lengths_of):
        return m(x, memory, memory, key_padding_mask=padding(lengths_of, memory.shape[1])[:, 0, 0], need_weights=False)[0]

    g.layer("MultiHeadAttention/memory", nn.MultiheadAttention(6, 2, batch_first=True), cross, x=(2, 3, 6),
            memory=(2, 4, 6), ints=lengths)

    def decoder(m, x, memory, lengths_of):
        return m(x, memory, tgt_mask=hidden_pairs(x.shape[1], x.shape[1], True)[0, 0],
                 memory_key_padding_mask=padding(lengths_of, memory.shape[1])[:, 0, 0])

    g.layer("DecoderBlock/causal and memory padding",
            nn.TransformerDecoderLayer(6, 2, 10, 0.0, "gelu", batch_first=True, norm_first=True), decoder, x=(2, 3, 6),
            memory=(2, 4, 6), ints=lengths)


def sinusoids(length, width):
    j = torch.arange(width)
    angles = torch.arange(length)[:, None] * 10000.0 ** (-2 * (j // 2) / width)
    return torch.where(j % 2 == 0, angles.sin(), angles.cos())


class Stack(nn.Module):
    """Blocks with the parameter names layers.N.* and norm.*"""

    def __init__(self, kind, count):
        super().__init__()
        self.layers = nn.ModuleList([kind(6, 2, 10, 0.0, "gelu", batch_first=True, norm_first=True)
                                     for _ in range(count)])
        self.norm = nn.LayerNorm(6)

    def forward(self, x, *memory, **masks):
        for layer in self.layers:
            x = layer(x, *memory, **masks)
        return self.norm(x)


class Classifier(nn.Module):
    def __init__(self, first):
        super().__init__()
        self.embedding = nn.Embedding(7, 6)
        stack = Stack(nn.TransformerEncoderLayer, 2)
        self.layers, self.norm = stack.layers, stack.norm
        self.head = nn.Linear(6, 3)
        self.first = first

    def forward(self, ids, lengths):
        hidden = padding(lengths, ids.shape[1])[:, 0, 0]
        x = self.embedding(ids) * math.sqrt(6) + sinusoids(ids.shape[1], 6)
        for layer in self.layers:
            x = layer(x, src_key_padding_mask=hidden)
        x = self.norm(x)
        pooled = x[:, 0] if self.first else x.masked_fill(hidden[..., None], 0.0).sum(1) / lengths[:, None]
        return self.head(pooled)


class Seq2SeqTransformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.source_embedding, self.target_embedding = nn.Embedding(7, 6), nn.Embedding(5, 6)
        self.encoder, self.decoder = Stack(nn.TransformerEncoderLayer, 1), Stack(nn.TransformerDecoderLayer, 2)
        self.head = nn.Linear(6, 5)

    def forward(self, source, lengths, target):
        hidden = padding(lengths, source.shape[1])[:, 0, 0]
        memory = self.encoder(self.source_embedding(source) * math.sqrt(6) + sinusoids(source.shape[1], 6),
                              src_key_padding_mask=hidden)
        x = self.target_embedding(target) * math.sqrt(6) + sinusoids(target.shape[1], 6)
        return self.head(self.decoder(x, memory, tgt_mask=hidden_pairs(x.shape[1], x.shape[1], True)[0, 0],
                                      memory_key_padding_mask=hidden))


class Seq2SeqRNN(nn.Module):
    """Sources are packed, so that the reverse direction starts at the last token of each."""

    def __init__(self):
        super().__init__()
        self.source_embedding, self.target_embedding = nn.Embedding(7, 3), nn.Embedding(5, 3)
        self.encoder = nn.GRU(3, 4, batch_first=True, bidirectional=True)
        self.bridge, self.query_proj, self.key_proj = nn.Linear(4, 4), nn.Linear(4, 4, False), nn.Linear(8, 4, False)
        self.score_weight = nn.Parameter(torch.empty(1, 4))
        self.decoder = nn.GRUCell(11, 4)
        self.head = nn.Linear(15, 5)

    def forward(self, source, lengths, target):
        packed = nn.utils.rnn.pack_padded_sequence(self.source_embedding(source), lengths, batch_first=True,
                                                   enforce_sorted=False)
        memory, h = self.encoder(packed)
        memory = nn.utils.rnn.pad_packed_sequence(memory, batch_first=True, total_length=source.shape[1])[0]
        keys, hidden = self.key_proj(memory), padding(lengths, source.shape[1])[:, 0, 0]
        state, outputs = torch.tanh(self.bridge(h[1])), []
        for y in self.target_embedding(target).unbind(1):
            scores = torch.tanh(self.query_proj(state)[:, None] + keys) @ self.score_weight[0]
            context = torch.einsum("bs,bsc->bc", torch.softmax(scores.masked_fill(hidden, -1e300), -1), memory)
            state = self.decoder(torch.cat([y, context], 1), state)
            outputs.append(torch.cat([state, context, y], 1))
        return self.head(torch.stack(outputs, 1))


class AttentionRNN(nn.Module):
    def __init__(self, score, gated):
        super().__init__()
        self.cell = nn.GRUCell(3, 4) if gated else nn.RNNCell(3, 4)
        self.score = score
        if score == "additive":
            self.query_proj, self.key_proj = nn.Linear(4, 4, False), nn.Linear(4, 4, False)
            self.score_weight = nn.Parameter(torch.empty(1, 4))

    def forward(self, x):
        states = []
        for row in x.unbind(1):
            h = self.cell(row, states[-1] if states else None)
            if states:
                past = torch.stack(states, 1)
                if self.score == "additive":
                    scores = torch.tanh(self.query_proj(h)[:, None] + self.key_proj(past)) @ self.score_weight[0]
                else:
                    scores = torch.einsum("bh,bth->bt", h, past) * (0.5 if self.score == "scaled_dot" else 1.0)
                h = h + torch.einsum("bt,bth->bh", torch.softmax(scores, -1), past)
            states.append(h)
        return torch.stack(states, 1)


def models(g):
    source = {"source": np.array([[1, 2, 6, 3], [4, 5, 0, 0]]), "lengths": np.array([4, 2])}
    target = {"target": np.array([[1, 3, 4], [1, 2, 0]])}
    ids = {"ids": source["source"], "lengths": source["lengths"]}
    g.layer("TransformerClassifier/mean", Classifier(False), ints=ids)
    g.layer("TransformerClassifier/first position", Classifier(True), ints=ids)
    g.layer("Seq2SeqTransformer/padded source", Seq2SeqTransformer(), ints={**source, **target})
    g.layer("Seq2SeqRNN/padded source", Seq2SeqRNN(), ints={**source, **target})
    g.layer("AttentionRNN/dot", AttentionRNN("dot", False), x=(2, 5, 3))
    g.layer("AttentionRNN/scaled dot, gated", AttentionRNN("scaled_dot", True), x=(2, 5, 3))
    g.layer("AttentionRNN/additive", AttentionRNN("additive", False), x=(2, 5, 3))


def write(g):
    ops(g)
    layers(g)
    models(g)
