"""Writes minilm.json: all-MiniLM-L6-v2 over texts.txt, by NumPy and the `tokenizers` package. Run by hand, see README.md.

  python3 make_minilm.py FOLDER_OF_THE_MODEL texts.txt > minilm.json      (--full: all dimensions)
"""
import json
import math
import struct
import sys

import numpy
from tokenizers import Tokenizer

LAYERS, HEADS, WIDTH, ROWS_MAX = 6, 12, 384, 256
DIMENSIONS = [0, 1, 2, 37, 64, 101, 128, 200, 255, 256, 300, 333, 382, 383]


def read_weights(path):
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        head = json.loads(file.read(size))
        data = file.read()
    arrays = {}
    for name, entry in head.items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            arrays[name] = numpy.frombuffer(data[begin:end], "<f4").reshape(entry["shape"]).astype(numpy.float64)
    return arrays


def norm(rows, arrays, name):
    mean = rows.mean(-1, keepdims=True)
    variance = ((rows - mean) ** 2).mean(-1, keepdims=True)
    return (rows - mean) / numpy.sqrt(variance + 1e-12) * arrays[name + ".LayerNorm.weight"] + arrays[name + ".LayerNorm.bias"]


def dense(rows, arrays, name):
    return rows @ arrays[name + ".weight"].T + arrays[name + ".bias"]


def encode(tokens, arrays):
    rows = arrays["embeddings.word_embeddings.weight"][tokens]
    rows = rows + arrays["embeddings.position_embeddings.weight"][: len(tokens)] + arrays["embeddings.token_type_embeddings.weight"][0]
    rows = norm(rows, arrays, "embeddings")
    for layer in range(LAYERS):
        name = f"encoder.layer.{layer}."
        query, key, value = (dense(rows, arrays, name + "attention.self." + part).reshape(len(tokens), HEADS, -1).transpose(1, 0, 2)
                             for part in ("query", "key", "value"))
        scores = query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH / HEADS)
        weights = numpy.exp(scores - scores.max(-1, keepdims=True))
        weights /= weights.sum(-1, keepdims=True)
        taken = (weights @ value).transpose(1, 0, 2).reshape(len(tokens), WIDTH)
        rows = norm(rows + dense(taken, arrays, name + "attention.output.dense"), arrays, name + "attention.output")
        wide = dense(rows, arrays, name + "intermediate.dense")
        wide = wide * 0.5 * (1 + numpy.vectorize(math.erf)(wide / math.sqrt(2)))
        rows = norm(rows + dense(wide, arrays, name + "output.dense"), arrays, name + "output")
    vector = rows.mean(0)
    return vector / numpy.sqrt((vector**2).sum())


def main():
    folder, texts = sys.argv[1:3]
    full = "--full" in sys.argv
    arrays = read_weights(folder + "/model.safetensors")
    tokenizer = Tokenizer.from_file(folder + "/tokenizer.json")
    tokenizer.no_truncation()
    tokenizer.no_padding()
    rows = []
    for text in open(texts, encoding="utf-8").read().split("\n"):
        if text:
            tokens = tokenizer.encode(text).ids
            vector = encode(tokens[: ROWS_MAX - 1] + tokens[-1:] if len(tokens) > ROWS_MAX else tokens, arrays)
            values = [round(float(vector[i]), 7) for i in (range(WIDTH) if full else DIMENSIONS)]
            rows.append(json.dumps({"text": text, "tokens": tokens[1:-1], "values": values}, ensure_ascii=False))
    dimensions = json.dumps("all" if full else DIMENSIONS)
    print('{"dimensions": ' + dimensions + ', "texts": [\n' + ",\n".join(rows) + "\n]}")


main()
