"""The operators on a GPU, against what the GPU can do.

    ops_cuda.py BENCH

BENCH is the program ops_cuda_bench of the preset cuda; Python needs PyTorch. Operators that move
memory are held to the bandwidth of a device-to-device copy, matrix products to the rate of
PyTorch's product of bf16 matrices, both measured before and after in this run. One line of JSON a
result, then a table.
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


def product_rate():
    """Floating-point operations a second; inputs take turns, so that none is in cache."""
    xs = [torch.randn(N, D, device="cuda", dtype=torch.bfloat16) for _ in range(4)]
    w = torch.randn(O, D, device="cuda", dtype=torch.bfloat16)
    y = torch.empty(N, O, device="cuda", dtype=torch.bfloat16)
    seconds = median_seconds(lambda call: torch.mm(xs[call % 4], w.T, out=y))
    return 2 * N * D * O / seconds


def ceilings():
    figures = copy_bandwidth(), product_rate()
    torch.cuda.empty_cache()
    return figures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("bench")
    args = parser.parse_args()
    before = ceilings()
    ours = json.loads(subprocess.run([args.bench], check=True, stdout=subprocess.PIPE).stdout)
    after = ceilings()
    bandwidth, rate = (max(pair) for pair in zip(before, after))
    spread = [max(pair) / min(pair) - 1 for pair in zip(before, after)]

    table = []
    for name, figures in ours.items():
        seconds, operations = figures["seconds"], figures["operations"]
        if operations:
            reached, ceiling = operations / seconds / 1e12, rate / 1e12
            unit, wanted = "TFLOP/s", 0.85
        else:
            reached, ceiling = figures["bytes"] / seconds / 1e9, bandwidth / 1e9
            unit, wanted = "GB/s", 0.8
        ratio = reached / ceiling
        print(json.dumps({"benchmark": f"{name}, on CUDA", "ratio": round(ratio, 3),
                          "wanted": wanted, "milliseconds": round(seconds * 1000, 4),
                          "reached": round(reached, 1), "ceiling": round(ceiling, 1), "unit": unit,
                          "machine": torch.cuda.get_device_name()}))
        table.append(f"{name:42} {seconds * 1000:9.3f} ms {reached:9.1f} {unit:8} {ratio:6.2f}")
    print(f"\ncopy {bandwidth / 1e9:.0f} GB/s (before and after differ by {spread[0]:.1%}), "
          f"PyTorch's product {rate / 1e12:.0f} TFLOP/s ({spread[1]:.1%})")
    print("\n".join(table))


if __name__ == "__main__":
    main()
