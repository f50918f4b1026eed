"""A transformer in elias beside Hugging Face's own packages: bench/transformer_parity.py ELIAS FOLDER TEXTS.

FOLDER is a BERT or DistilBERT model as save_pretrained or sentence-transformers writes it, TEXTS has one text
a line. Compares the token ids of all texts with the package tokenizers'; the vectors of the first 500 with
those of transformers and of sentence-transformers; and the same of the encoder that `elias export` writes of
a model which `elias fit` trained from FOLDER on these 500, with what `elias embed` has of that model. Prints
a line for each; ends with code 1 where one has not what was wanted. Runs in an environment with
sentence-transformers.
"""

import argparse
import json
import logging
import pathlib
import subprocess
import sys
import tempfile

import numpy
import torch
from sentence_transformers import SentenceTransformer
from transformers import AutoModel, AutoTokenizer

LENGTH = 128  # tokens of a text
VECTORS = 500
LARGEST = 1e-4  # difference of two vectors' numbers


def elias(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], check=True, stdout=subprocess.PIPE,
                          encoding="utf-8").stdout


def differing_ids(program, folder, texts, file):
    ours = elias(program, "tokenize", "--vocab", folder / "tokenizer.json", "--format", "lines",
                 "--max-length", LENGTH, file).splitlines()
    theirs = AutoTokenizer.from_pretrained(folder)(texts, truncation=True, max_length=LENGTH)
    assert len(ours) == len(texts)
    return sum(list(map(int, one.split())) != other for one, other in zip(ours, theirs["input_ids"]))


def embedded(program, work, model, file, *options):
    elias(program, "embed", "--model", model, "--input", file, "--input-format", "lines",
          "--out", work / "vectors.npy", *options)
    return numpy.load(work / "vectors.npy")


def first_states(folder, texts):
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        states = numpy.stack([
            model(**tokenizer(text, truncation=True, max_length=LENGTH, return_tensors="pt"))
            .last_hidden_state[0, 0].numpy() for text in texts])
    return states / numpy.linalg.norm(states, axis=1, keepdims=True)


def sentence_vectors(folder, texts):
    model = SentenceTransformer(str(folder), device="cpu")
    model.max_seq_length = LENGTH
    return model.encode(texts)


def train(program, folder, texts, work):
    """A model whose labels are the lengths of texts, as good as any to move weights by."""
    with open(work / "points.jsonl", "w", encoding="utf-8") as file:
        for text in texts:
            file.write(json.dumps({"text": text, "labels": [str(len(text) % 7)]}) + "\n")
    elias(program, "fit", "--train", work / "points.jsonl", "--encoder", folder, "--out", work / "model",
          "--method", "ova", "--set", "stage1_epochs=2", "--set", "ranker=off", "--set", "bf16=false",
          "--set", f"max_length={LENGTH}")
    elias(program, "export", "--model", work / "model", "--out", work / "export")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("elias")
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("texts", type=pathlib.Path)
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    program = given.elias
    texts = given.texts.read_text(encoding="utf-8").split("\n")[:-1]
    first = texts[:VECTORS]
    wrong = 0

    def report(what, value, most):
        nonlocal wrong
        wrong += not value <= most
        print(f"{what:<58}{value:>10.3g}  wanted: at most {most:g}", flush=True)

    def largest(one, other):
        return float(numpy.abs(one - other).max())

    report(f"texts of {len(texts)} with other token ids",
           differing_ids(program, given.folder, texts, given.texts), 0)
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        file = work / "texts.txt"
        file.write_text("".join(f"{text}\n" for text in first), encoding="utf-8")
        cut = ["--max-length", LENGTH]
        report("largest difference from transformers, [CLS], unit length",
               largest(embedded(program, work, given.folder, file, "--pooling", "first", "--unit", *cut),
                       first_states(given.folder, first)), LARGEST)
        report("largest difference from sentence-transformers",
               largest(embedded(program, work, given.folder, file, *cut),
                       sentence_vectors(given.folder, first)), LARGEST)
        train(program, given.folder, first, work)
        report("the same, fine-tuned and exported",
               largest(embedded(program, work, work / "model", file),
                       sentence_vectors(work / "export", first)), LARGEST)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
