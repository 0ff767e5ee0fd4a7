#!/usr/bin/env python3
"""Exchanges weights with xtape through safetensors files (Debian: apt install python3-torch).

  /usr/bin/python3 tests/exchange/exchange.py            # writes from_torch/*, which exchange_test.cpp reads
  /usr/bin/python3 tests/exchange/exchange.py --check    # loads from_xtape/*, which exchange_test.cpp wrote, and
                                                         # from_torch/* into PyTorch and compares the outputs

Each file holds a module's state_dict under "model.", an input, and the output that the side that wrote it computed;
from_torch/char_lstm and from_torch/gpt are language models whose loss on a text stands in the .json beside them.
"""

import json
import pathlib
import struct
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8"}


def read_safetensors(path):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    tensors = {}
    for name, entry in json.loads(data[8 : 8 + length]).items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in entry["data_offsets"])
            array = np.frombuffer(data[begin:end], TYPES[entry["dtype"]]).reshape(entry["shape"])
            tensors[name] = torch.from_numpy(array.copy())
    return tensors


def write_safetensors(path, tensors):
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, tensor in tensors.items():
        array = tensor.detach().contiguous().numpy()
        kind = next(key for key, value in TYPES.items() if np.dtype(value) == array.dtype)
        header[name] = {"dtype": kind, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def modules():
    """Name, module, and the module's output for an input."""
    lstm = torch.nn.LSTM(3, 4, num_layers=2, bidirectional=True, batch_first=True)
    gru = torch.nn.GRU(3, 4, num_layers=2, batch_first=True)
    block = torch.nn.TransformerEncoderLayer(
        8, 2, dim_feedforward=12, dropout=0, activation="gelu", batch_first=True, norm_first=True
    )
    norm = torch.nn.BatchNorm1d(3)
    yield "lstm", lstm, lambda x: lstm(x)[0], torch.randn(2, 5, 3)
    yield "gru", gru, lambda x: gru(x)[0], torch.randn(2, 5, 3)
    yield "encoder_layer", block, block, torch.randn(2, 5, 8)
    yield "batch_norm", norm, norm, torch.randn(6, 3)
    embedding = torch.nn.Embedding(7, 3)
    yield "embedding", embedding, embedding, torch.tensor([[0, 6, 2], [5, 5, 1]])


class CharLSTM(torch.nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.embedding = torch.nn.Embedding(vocab, 5)
        self.lstm = torch.nn.LSTM(5, 6, num_layers=2, batch_first=True)
        self.decoder = torch.nn.Linear(6, vocab)

    def losses(self, ids):
        logits = self.decoder(self.lstm(self.embedding(ids[None, :-1]))[0])[0]
        return torch.nn.functional.cross_entropy(logits, ids[1:], reduction="none")


class GPTBlock(torch.nn.Module):
    """Attention as in nanoGPT, with queries, keys and values packed in c_attn."""

    def __init__(self, width, heads):
        super().__init__()
        self.ln_1, self.ln_2 = torch.nn.LayerNorm(width), torch.nn.LayerNorm(width)
        self.attn = torch.nn.ModuleDict(
            {"c_attn": torch.nn.Linear(width, 3 * width), "c_proj": torch.nn.Linear(width, width)}
        )
        self.mlp = torch.nn.ModuleDict(
            {"c_fc": torch.nn.Linear(width, 4 * width), "c_proj": torch.nn.Linear(4 * width, width)}
        )
        self.attn.register_buffer("bias", torch.tril(torch.ones(1, 1, 8, 8)))
        self.heads = heads

    def forward(self, x):
        length, width = x.shape
        packed = self.attn["c_attn"](self.ln_1(x)).split(width, 1)
        q, k, v = (part.view(length, self.heads, -1).transpose(0, 1) for part in packed)
        scores = q @ k.transpose(1, 2) / (width // self.heads) ** 0.5
        hidden = torch.triu(torch.ones(length, length), 1).bool()
        y = (scores.masked_fill(hidden, -torch.inf).softmax(-1) @ v).transpose(0, 1).reshape(length, width)
        x = x + self.attn["c_proj"](y)
        return x + self.mlp["c_proj"](torch.nn.functional.gelu(self.mlp["c_fc"](self.ln_2(x))))


class GPT(torch.nn.Module):
    def __init__(self, vocab):
        super().__init__()
        self.transformer = torch.nn.ModuleDict(
            {
                "wte": torch.nn.Embedding(vocab, 6),
                "wpe": torch.nn.Embedding(8, 6),
                "h": torch.nn.ModuleList([GPTBlock(6, 3) for _ in range(2)]),
                "ln_f": torch.nn.LayerNorm(6),
            }
        )
        self.lm_head = torch.nn.Linear(6, vocab, bias=False)

    def losses(self, ids):
        """Consecutive windows of the context length."""
        out = []
        for begin in range(0, len(ids) - 1, 8):
            inputs = ids[begin : min(begin + 8, len(ids) - 1)]
            x = self.transformer["wte"](inputs) + self.transformer["wpe"].weight[: len(inputs)]
            for block in self.transformer["h"]:
                x = block(x)
            logits = self.lm_head(self.transformer["ln_f"](x))
            targets = ids[begin + 1 : begin + 1 + len(inputs)]
            out.append(torch.nn.functional.cross_entropy(logits, targets, reduction="none"))
        return torch.cat(out)


def write_language_models():
    text = "the cat and the hat\n" * 10 + "and that"
    vocab = {symbol: i for i, symbol in enumerate(dict.fromkeys(text))}
    ids = torch.tensor([vocab[symbol] for symbol in text])
    for name, model in (("char_lstm", CharLSTM(len(vocab))), ("gpt", GPT(len(vocab)))):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.normal_(0, 0.5)
            write_safetensors(HERE / "from_torch" / f"{name}.safetensors", model.state_dict())
            facts = {"text": text, "vocab": vocab, "nats": model.losses(ids).mean().item()}
        (HERE / "from_torch" / f"{name}.json").write_text(json.dumps(facts, indent=1) + "\n")


def write():
    torch.manual_seed(0)
    write_language_models()
    for name, module, run, x in modules():
        with torch.no_grad():
            for parameter in module.parameters():
                parameter.normal_(0, 0.5)
            if name == "batch_norm":
                module(torch.randn(50, 3) * 2 + 1)  # so that the running statistics differ from the initial ones
                module.eval()
            tensors = {"model." + key: value for key, value in module.state_dict().items()}
            write_safetensors(HERE / "from_torch" / f"{name}.safetensors", {**tensors, "input": x, "output": run(x)})


def check():
    wrong = 0
    for side in ("from_torch", "from_xtape"):
        for name, module, run, _ in modules():
            tensors = read_safetensors(HERE / side / f"{name}.safetensors")
            x, want = tensors.pop("input"), tensors.pop("output")
            if name == "embedding":
                x = x.long()
            module.load_state_dict({key.removeprefix("model."): value for key, value in tensors.items()})
            if name == "batch_norm":
                module.eval()
            with torch.no_grad():
                got = run(x)
            difference = (got - want).abs().max().item()
            print(f"{side}/{name}: {len(tensors)} tensors, largest difference of an output {difference:.1e}")
            wrong += got.shape != want.shape or not difference < 1e-12
    return 1 if wrong else 0


if __name__ == "__main__":
    torch.set_default_dtype(torch.float64)
    sys.exit(check() if sys.argv[1:] == ["--check"] else write())
