"""The operators on a GPU, against what the GPU can do.

    ops_cuda.py BENCH

BENCH is the program ops_cuda_bench of the preset cuda; Python needs PyTorch. Operators that move
memory are held to the bandwidth of a device-to-device copy, matrix products to PyTorch's product of
the same matrices, in bf16 or float32 as a whole, all measured before and after in this run. One line
of JSON a result, then a table.
"""

import argparse
import json
import statistics
import subprocess

import torch

# The sizes of the products in ops_cuda_bench.cc.
N, D, O = 32768, 768, 3072


def median_seconds(body, calls=20, runs=7):
    """Seconds of body(call), which starts work on the device."""
    for call in range(3):
        body(call)
    times = []
    for _ in range(runs):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for call in range(calls):
            body(call)
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / 1000 / calls)
    return statistics.median(times)


def copy_bandwidth():
    """Bytes read and written a second."""
    source = torch.rand(2**30, device="cuda")
    target = torch.empty_like(source)
    seconds = median_seconds(lambda _: target.copy_(source))
    return 2 * source.nbytes / seconds


def product_rates(kind, dtype):
    """Floating-point operations a second of each form; inputs take turns, so that none is in cache.
    """
    x, dy = (torch.randn(4, N, width, device="cuda", dtype=dtype) for width in (D, O))
    w, bias = (torch.randn(shape, device="cuda", dtype=dtype) for shape in ((O, D), (O,)))
    y, dx, dw = (torch.empty(shape, device="cuda", dtype=dtype)
                 for shape in ((N, O), (N, D), (O, D)))
    forms = {
        "linear": lambda call: torch.mm(x[call % 4], w.T, out=y),
        "linear with bias and ReLU":
            lambda call: torch._addmm_activation(bias, x[call % 4], w.T, out=y),
        "linear input gradient": lambda call: torch.mm(dy[call % 4], w, out=dx),
        "linear weight gradient": lambda call: torch.mm(dy[call % 4].T, x[call % 4], out=dw),
    }
    return {f"{form}, {kind}": 2 * N * D * O / median_seconds(body) for form, body in forms.items()}


def ceilings():
    """By the names of products; that of the others is "copy"."""
    figures = {"copy": copy_bandwidth(), **product_rates("bf16", torch.bfloat16),
               **product_rates("float32", torch.float32)}
    torch.cuda.empty_cache()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    args = parser.parse_args()
    before = ceilings()
    ours = json.loads(subprocess.run([args.bench], check=True, stdout=subprocess.PIPE).stdout)
    after = ceilings()
    best = {name: max(before[name], after[name]) for name in before}

    table = []
    for name, figures in ours.items():
        seconds, operations = figures["seconds"], figures["operations"]
        if operations:
            peer = name.removesuffix(", float32 rows")  # rounds them before, which the peer need not
            reached, ceiling = operations / seconds / 1e12, best[peer] / 1e12
            unit, wanted = "TFLOP/s", 0.85 if peer == name else None
        else:
            reached, ceiling = figures["bytes"] / seconds / 1e9, best["copy"] / 1e9
            unit, wanted = "GB/s", 0.8
        ratio = reached / ceiling
        print(json.dumps({"benchmark": f"{name}, on CUDA", "ratio": round(ratio, 3),
                          **({"wanted": wanted} if wanted else {}),
                          "milliseconds": round(seconds * 1000, 4),
                          "reached": round(reached, 1), "ceiling": round(ceiling, 1), "unit": unit,
                          "machine": torch.cuda.get_device_name()}))
        table.append(f"{name:42} {seconds * 1000:9.3f} ms {reached:9.1f} {unit:8} {ratio:6.2f}")
    print("\nceilings, and by how much they differ before and after:")
    for name, figure in best.items():
        spread = figure / min(before[name], after[name]) - 1
        print(f"{name:42} {figure / (1e9 if name == 'copy' else 1e12):9.1f} {spread:6.1%}")
    print()
    print("\n".join(table))


if __name__ == "__main__":
    main()
