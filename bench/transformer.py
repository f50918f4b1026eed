"""Transformers against their own matrix products, and against PyTorch and onnxruntime.

    transformer.py BENCH [PYTHON]

BENCH is the program transformer_bench; PYTHON has the peers (venv-torch beside BENCH's folder, if it is
there). Forward and backward passes are held against the products alone at the same shapes in the same
run; a MiniLM of random weights against PyTorch in training, in bfloat16, and against onnxruntime in
prediction.
"""

import os
import pathlib
import sys

from peers import record, run

WANTED = {"forward": 0.55, "training": 0.5}
ROUNDS = 7


def products(result, threads):
    for case in result["cases"]:
        for what, wanted in WANTED.items():
            print(f"{threads:>7}  {case['name']:<32}{what:<10}"
                  f"{case[f'{what} tokens a second']:>9.0f} tokens/s"
                  f"{case[f'{what} ratio']:>6.2f} of its products' rate", file=sys.stderr)
            record(f"{case['name']}, {what}, against its products", wanted=wanted,
                   ratio=case[f"{what} ratio"], threads=threads,
                   tokens_per_second=case[f"{what} tokens a second"])
    for case in result["single"]:
        print(f"{threads:>7}  {case['name']}: p50 {case['p50 ms']:.2f} ms, p99 {case['p99 ms']:.2f} ms",
              file=sys.stderr)


def same_size(cases, own):
    return next(case for case in cases if case["texts"] == own["texts"] and case["tokens"] == own["tokens"])


def compare(result, peers, threads):
    ours = {(64, 128): "MiniLM, 64 x 128 tokens", (512, 20): "MiniLM, 512 x 20 tokens"}
    for peer in peers["training"]:
        name = ours[peer["texts"], peer["tokens"]]
        own = next(case for case in result["cases"] if case["name"] == name)
        ratio = own["training tokens a second"] / peer["tokens a second"]
        print(f"{threads:>7}  {name}: training {ratio:.2f} times PyTorch with dropout {peer['dropout']}",
              file=sys.stderr)
        record(f"{name}, training, against PyTorch {peers['torch']}, dropout {peer['dropout']}",
               wanted=1, ratio=ratio, threads=threads)
    for own in result["inference"]:
        peer = same_size(peers["inference"], own)
        ratio = peer["onnxruntime ms"] / own["ms"]
        name = f"MiniLM, {own['texts']} x {own['tokens']} tokens, {own['precision']}"
        print(f"{threads:>7}  {name}: {own['ms']:.2f} ms, {ratio:.2f} times onnxruntime, "
              f"{peer['PyTorch ms'] / own['ms']:.2f} times PyTorch", file=sys.stderr)
        record(f"{name}, against onnxruntime {peers['onnxruntime']}", wanted=1.2, ratio=ratio,
               threads=threads, milliseconds=own["ms"])


def main():
    bench = pathlib.Path(sys.argv[1])
    python = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else
                          bench.parent.parent / "venv-torch/bin/python")
    threads = os.cpu_count()
    result = run([str(bench), str(threads), str(ROUNDS)])
    products(result, threads)
    if not python.exists():
        print("transformer.py: no environment with PyTorch: peers are left out", file=sys.stderr)
        return
    script = pathlib.Path(__file__).parent / "transformer_peers.py"
    environment = {name: str(threads) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    compare(result, run([str(python), str(script), str(threads), str(ROUNDS)], environment), threads)


if __name__ == "__main__":
    main()
