"""A MiniLM of random weights in PyTorch and onnxruntime: transformer_peers.py THREADS ROUNDS.

Run in an environment with torch, transformers, onnx and onnxruntime. Prints one JSON object: tokens a
second in training (forward and backward), by PyTorch in bfloat16 (autocast), with dropout and without; and
the median of a forward pass over some texts, by onnxruntime in float32 and PyTorch in bfloat16.
"""

import json
import logging
import statistics
import sys
import tempfile
import time
import warnings

import onnxruntime
import torch
import transformers

TRAINING = [(64, 128), (512, 20)]
INFERENCE = [(texts, tokens) for texts in (1, 32) for tokens in (32, 128)]


def median_seconds(work, rounds):
    work()
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def minilm(dropout):
    config = transformers.BertConfig(
        hidden_size=384, num_hidden_layers=6, num_attention_heads=12, intermediate_size=1536,
        hidden_dropout_prob=dropout, attention_probs_dropout_prob=dropout)
    return transformers.BertModel(config, add_pooling_layer=False)


def batch(texts, tokens):
    return (torch.randint(1000, 30000, (texts, tokens)),
            torch.ones(texts, tokens, dtype=torch.long))


def training(rounds):
    results = []
    for dropout in (0.0, 0.1):
        model = minilm(dropout).train()
        for texts, tokens in TRAINING:
            ids, mask = batch(texts, tokens)

            def step():
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    hidden = model(input_ids=ids, attention_mask=mask).last_hidden_state
                hidden.float().sum().backward()

            seconds = median_seconds(step, rounds)
            results.append({"texts": texts, "tokens": tokens, "dropout": dropout,
                            "tokens a second": texts * tokens / seconds})
    return results


class HiddenStates(torch.nn.Module):
    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, mask):
        return self.model(input_ids=ids, attention_mask=mask).last_hidden_state


def session(model, threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    axes = {0: "texts", 1: "tokens"}
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        torch.onnx.export(HiddenStates(model), batch(2, 8), file.name, input_names=["ids", "mask"],
                          output_names=["hidden"], opset_version=17, dynamo=False,
                          dynamic_axes={"ids": axes, "mask": axes, "hidden": axes})
        return onnxruntime.InferenceSession(file.name, options,
                                            providers=["CPUExecutionProvider"])


def inference(threads, rounds):
    model = minilm(0.0).eval()
    model.set_attn_implementation("eager")  # which can be exported
    runtime = session(model, threads)
    model.set_attn_implementation("sdpa")
    results = []
    for texts, tokens in INFERENCE:
        ids, mask = batch(texts, tokens)
        feed = {"ids": ids.numpy(), "mask": mask.numpy()}

        def pytorch():
            with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
                model(input_ids=ids, attention_mask=mask)

        many = rounds if texts > 1 else 5 * rounds
        results.append({"texts": texts, "tokens": tokens,
                        "onnxruntime ms": 1e3 * median_seconds(lambda: runtime.run(None, feed), many),
                        "PyTorch ms": 1e3 * median_seconds(pytorch, many)})
    return results


def main():
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    threads, rounds = int(sys.argv[1]), int(sys.argv[2])
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    print(json.dumps({"torch": torch.__version__, "onnxruntime": onnxruntime.__version__,
                      "training": training(rounds), "inference": inference(threads, rounds)}))


if __name__ == "__main__":
    main()
