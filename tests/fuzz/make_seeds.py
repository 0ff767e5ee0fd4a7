#!/usr/bin/env python3
"""Writes the fuzzer's seeds: small files of every format, valid ones and some that are almost valid.

usage: make_seeds.py DIRECTORY     (makes DIRECTORY/csv, DIRECTORY/idx, ...)
"""

import gzip
import json
import pathlib
import struct
import sys
import zlib


def npy(descr, shape, data, version=1, fortran=False):
    header = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    length = struct.pack("<H" if version == 1 else "<I", len(header))
    return b"\x93NUMPY" + bytes([version, 0]) + length + header + data


def safetensors(header, data):
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def idx(kind, shape, data):
    return bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data


CHECKPOINT = {
    "format_version": 1, "version": "0.1.0", "step": 5, "seed": 3, "flavour": "f32", "masks": {"dropout": 7},
    "optimizer": "adamw", "optimizer_options": {"beta1": 0.9}, "optimizer_steps": {"w": 5}, "tensors": {"h": 1},
    "randoms": {"order": {"block": 3, "left": 2, "spare": 0.5}}, "states": {"log": "{}"}, "best_loss": 1.5,
}

STEP = {
    "format_version": 1, "step": 3, "loss": 2.5, "validation_loss": 2.25, "lr": 0.001, "grad_norm": "NaN",
    "tokens": 64, "batch": 3, "parameters": [{"name": "w", "grad_norm": 1.5, "weight_norm": 2, "update_norm": 0.1,
                                              "update_ratio": 0.05, "grad_histogram": {"low": -3, "counts": [1, 2]}}],
    "layers": [{"name": "fc", "mean": 0, "deviation": 1, "output_grad_norm": 0.5}],
    "wall": {"seconds": 1.5, "tokens_per_second": 100},
}


def seeds():
    floats = struct.pack("<4f", 1, 2, -3, float("nan"))
    yield "npy", npy("<f4", "(2, 2)", floats)
    yield "npy", npy(">f8", "(1,)", struct.pack(">d", 0.5), 2)
    yield "npy", npy("|b1", "()", b"\1", 3)
    yield "npy", npy("<f4", "(2, 2)", floats, fortran=True)
    yield "npy", npy("<f4", "(4611686018427387904, 4)", floats)

    one = {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}
    yield "safetensors", safetensors({"w": one}, floats)
    yield "safetensors", safetensors({"w": one, "__metadata__": {"key": "text"}}, floats)
    yield "safetensors", safetensors({"a": {"dtype": "BF16", "shape": [8], "data_offsets": [0, 16]}}, floats)
    yield "safetensors", safetensors({"w": {**one, "shape": [1000, 1000]}}, floats)
    yield "safetensors", safetensors({"w": one, "v": one}, floats)

    yield "idx", idx(0x08, [1, 2, 2], bytes([0, 1, 127, 255]))
    yield "idx", idx(0x0E, [1], struct.pack(">d", 0.5))
    yield "idx", gzip.compress(idx(0x08, [4], bytes([0, 1, 127, 255])), mtime=0)
    yield "idx", gzip.compress(bytes(100000), mtime=0)

    for text in ("a,b\n1,2\n3,4\n", 'a,"b ""c"""\r\n1.5e3,"x\ny"\r\n', "1;2\n\n3", "\ufeffa\n-1\n", 'a\n"1\n'):
        yield "csv", b"\1" + text.encode()
        yield "csv", b"\0" + text.encode()

    line = json.dumps(STEP).encode()
    yield "run_log", b"\0" + line + b"\n" + line.replace(b'"step": 3', b'"step": 4') + b"\n"
    yield "run_log", b"\0" + json.dumps({"format_version": 1, "step": 2, "kind": "spike", "text": "t"}).encode()
    yield "run_log", b"\1step,kind,name,t,value\n0,grad_norm_preclip,w,,1.5\n0,hidden_grad_norm,rnn,3,NaN\n"
    yield "run_log", b"\2" + json.dumps({"format_version": 1, "options": {"steps": 5}, "resumed": []}).encode()
    yield "run_log", b"\3" + json.dumps({"any_logged": True, "dumps": 1, "events": {"spike": 2}}).encode()

    record = json.dumps(CHECKPOINT)
    yield "checkpoint", b"\0" + record.encode()
    yield "checkpoint", b"\1" + safetensors({"w": one, "__metadata__": {"xtape.checkpoint": record}}, floats)

    for family in range(10):
        for op in range(8):
            yield "ops", bytes([family, op, 3, 0, 2, 4, 1, 7, 2, 5, 0, 3, 1, 1, 6, 2] * 3)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    for target, content in seeds():
        directory = pathlib.Path(sys.argv[1]) / target
        directory.mkdir(parents=True, exist_ok=True)
        (directory / f"{zlib.crc32(content):08x}").write_bytes(content)


main()
