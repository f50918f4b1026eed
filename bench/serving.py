"""`elias serve` under wrk, against predictions of the same model without a server.

    serving.py BENCH [MODEL FILE]

BENCH is the program serving_bench; elias is beside its folder. Without a model one is trained on a
generated set, as prediction.py does. Clients and server share the machine. Rounds of both take turns,
and the median of their ratios counts, so that other load on the machine falls on both.
"""

import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from peers import record, run
from prediction import train

ROUNDS = 3
SECONDS = 4
CONNECTIONS = 64
SCRIPT = """
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
local bodies, next = {}, 0
for line in io.lines(os.getenv("BODIES")) do bodies[#bodies + 1] = line end
local pause = tonumber(os.getenv("PAUSE"))
function delay() return math.random() * 2 * pause end
if pause == 0 then delay = nil end
function request()
  next = next % #bodies + 1
  return wrk.format(nil, nil, nil, bodies[next])
end
function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.stderr:write(string.format("%f %f %f %d\\n", summary.requests / summary.duration * 1e6,
                                latency:percentile(50), latency:percentile(99), failed))
end
"""


class Server:
    def __init__(self, elias, model):
        self.process = subprocess.Popen([elias, "serve", "--model", f"m={model}", "--port", "0"],
                                        stdout=subprocess.PIPE, text=True)
        self.url = re.search(r"http://\S+", self.process.stdout.readline())[0] + "v1/predict"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def load(self, folder, connections, pause=0):
        """Requests a second, and the median and 99th percentile of their microseconds. `pause`:
        milliseconds that a connection waits before each request, on average."""
        output = subprocess.run(
            ["wrk", "-t", "1", "-c", str(connections), "-d", str(SECONDS), "-s", f"{folder}/load.lua", self.url],
            check=True, capture_output=True, text=True,
            env=os.environ | {"BODIES": f"{folder}/bodies", "PAUSE": str(pause)}).stderr
        rate, median, slowest, failed = map(float, output.split())
        if failed:
            sys.exit(f"serving: {failed:.0f} requests were not answered")
        return rate, median, slowest


def write_load(folder, file):
    with open(file, encoding="utf-8") as points, open(f"{folder}/bodies", "w", encoding="utf-8") as bodies:
        for line in points:
            text = line.rstrip("\n").split("\t")[-1]
            bodies.write(json.dumps({"text": text}) + "\n")
    pathlib.Path(folder, "load.lua").write_text(SCRIPT, encoding="utf-8")


def main():
    bench = pathlib.Path(sys.argv[1])
    elias = str(bench.parent.parent / "elias")
    with tempfile.TemporaryDirectory() as folder:
        model, file = sys.argv[2:4] or train(elias, folder)
        write_load(folder, file)
        rounds = []
        with Server(elias, model) as server:
            for _ in range(ROUNDS):
                inside = run([str(bench), model, file, str(os.cpu_count())])
                rate = server.load(folder, CONNECTIONS)[0]
                lone = server.load(folder, 1)[1]
                # Each connection asks half as often as it could.
                half, median, slowest = server.load(folder, CONNECTIONS, 2000 * CONNECTIONS / rate)
                alone = inside["lone_microseconds"]
                rounds.append((rate / inside["texts_per_second"], rate, alone, lone - alone, half / rate,
                               median, slowest, median / slowest))
    ratio, rate, alone, added, part, median, slowest, steady = map(statistics.median, zip(*rounds))
    print(f"{rate:.0f} requests a second; a lone one {added:.0f} us over the prediction's {alone:.0f} us; at "
          f"{part:.0%} of the load p50 {median:.0f} us, p99 {slowest:.0f} us", file=sys.stderr)
    record("requests of one text over 64 connections, against all texts at once without a server",
           wanted=0.7, ratio=ratio, requests_per_second=rate)
    record("a lone request, 300 us over what a server adds", wanted=1, ratio=300 / added, microseconds=added)
    record("p99 at half of the load, five times p50 over it", wanted=1, ratio=5 * steady,
           p50_microseconds=median, p99_microseconds=slowest)


if __name__ == "__main__":
    main()
