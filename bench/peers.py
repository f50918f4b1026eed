"""What the benchmarks have in common: running our program, and one line of JSON for each result."""

import json
import os
import pathlib
import platform
import subprocess

ONE_THREAD = {name: "1" for name in
              ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


def run(command, environment=None):
    """Runs a program that prints one JSON object; numeric libraries are held to one thread, unless
    the environment says otherwise."""
    output = subprocess.run(command, check=True, capture_output=True, text=True,
                            env=os.environ | ONE_THREAD | (environment or {})).stdout
    return json.loads(output)


def commit():
    here = pathlib.Path(__file__).parent
    result = subprocess.run(["git", "-C", str(here), "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True)
    return result.stdout.strip() or "unknown"


def processor():
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.machine()


def record(name, wanted, ratio, **figures):
    """Prints a result: the ratio that counts, what was wanted of it, and where it was measured."""
    rounded = {key: float(f"{value:.4g}") for key, value in figures.items()}
    print(json.dumps({"benchmark": name, "ratio": round(ratio, 2), "wanted": wanted, **rounded,
                      "commit": commit(), "machine": processor(), "cores": os.cpu_count()}))
