#!/usr/bin/env python3
"""Keeps a server busy with all that the world may send it, and checks that nothing is lost.

    tests/soak/soak.py --elias build-asan/elias --model MODEL --points toy/tst.txt [--seconds 600]

At the same time there are clients that ask and compare every answer with the one they know, clients
that send bulk, nonsense, half of a request or a byte a second, clients that leave before the answer,
and one that reloads the model, which is damaged every other time. A request in good order must be
answered, and rightly; nonsense must get a sentence; memory must not grow; the server must end with
exit code 0 when it is told to, without a word of a sanitizer. Needs Python alone.
"""
import argparse
import collections
import http.client
import itertools
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

# What a sanitizer keeps to find misuse is memory, too; with little of it growth shows.
SUPPRESSIONS = pathlib.Path(__file__).resolve().parent.parent / "tsan_suppressions"
SANITIZERS = {"ASAN_OPTIONS": "quarantine_size_mb=8:detect_leaks=1",
              "TSAN_OPTIONS": f"history_size=2 suppressions={SUPPRESSIONS}"}
NONSENSE = [
    b"", b"{", b"[" * 100_000, b'{"texts": "one"}', b'{"texts": [1]}', b'{"texts": ["a"], "k": 0}',
    b'{"texts": ["a"], "k": 1e300}', b'{"texts": ["a"], "words": -1}', b'{"texts": ["a"], "unknown": 1}',
    b'{"texts": ["\xff\xfe"]}', b'{"texts": ["\\ud800"]}', b'{"texts": ["a"], "model": "nobody"}',
    b'{"texts": ["a"], "candidates": ["no such label"]}', b'{"texts": ["a"], "threshold": "much"}',
    b"null", b"0", b'"text"', b'{"texts": null}', b"\x00\x01\x02",
]


class Server:
    def __init__(self, program, model):
        self.errors = tempfile.TemporaryFile(mode="w+")
        self.process = subprocess.Popen(
            [program, "serve", "--model", f"m={model}", "--port", "0", "--timeout", "60", "--connections", "64"],
            stdout=subprocess.PIPE, stderr=self.errors, text=True, env=dict(os.environ, **SANITIZERS))
        line = self.process.stdout.readline()
        found = re.search(r"http://127\.0\.0\.1:(\d+)/", line)
        if not found:
            sys.exit(f"soak: the server did not start: {line}{self.said()}")
        self.port = int(found.group(1))
        threading.Thread(target=self.process.stdout.read, daemon=True).start()

    def end(self):
        """Tells it to. Returns its exit code; of one that does not end, none."""
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(timeout=120)
        except subprocess.TimeoutExpired:
            return None

    def memory(self):
        """Resident, in MiB."""
        with open(f"/proc/{self.process.pid}/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    def said(self):
        self.errors.seek(0)
        return self.errors.read()


class Soak:
    def __init__(self, server, known, model, seconds):
        self.server, self.model = server, model
        self.end = time.monotonic() + seconds
        self.counts, self.failures = collections.Counter(), []
        self.lock = threading.Lock()
        self.texts = known  # with their labels

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def fail(self, sentence):
        with self.lock:
            self.failures.append(sentence)

    def busy(self):
        return time.monotonic() < self.end and self.server.process.poll() is None

    def connection(self):
        return http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=120)

    def ask(self, connection, method, path, body=None, kind="application/json"):
        headers = {"Content-Type": kind} if body is not None else {}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        return response.status, response.read()

    # --- clients in good order ---------------------------------------------------------------------

    def asks_and_compares(self, rng):
        connection = self.connection()
        while self.busy():
            some = rng.sample(self.texts, rng.randint(1, 5))
            body = json.dumps({"texts": [text for text, _ in some], "k": 3}).encode()
            try:
                status, answer = self.ask(connection, "POST", "/v1/predict", body)
            except (OSError, http.client.HTTPException):
                # An idle connection may be closed by the server; a fresh one may not.
                connection.close()
                connection = self.connection()
                status, answer = self.ask(connection, "POST", "/v1/predict", body)
            got = [[label["label"] for label in point["labels"]]
                   for point in json.loads(answer).get("predictions", [])]
            if status != 200 or got != [labels for _, labels in some]:
                self.fail(f"a right request got {status}: {answer[:200]!r}")
            self.count("right answers")

    def sends_bulk(self, rng):
        while self.busy():
            some = [rng.choice(self.texts) for _ in range(500)]
            lines = "".join(json.dumps({"id": i, "text": text}) + "\n" for i, (text, _) in enumerate(some))
            status, answer = self.ask(self.connection(), "POST", "/v1/predict?k=3", lines.encode(),
                                      "application/x-ndjson")
            got = [json.loads(line) for line in answer.splitlines()]
            if status != 200 or [[str(label) for label in g.get("labels", [])] for g in got] != \
                    [labels for _, labels in some]:
                self.fail(f"bulk got {status}: {answer[:200]!r}")
            self.count("right bulk answers")

    def looks_around(self, rng):
        label = self.texts[0][1][0]
        paths = ["/metrics", "/v1/models", "/v1/models/m/index", "/v1/labels?q=a", "/openapi.json", "/",
                 "/v2/health/ready", "/v2/models/m", f"/v1/label?name={label}"]
        while self.busy():
            path = rng.choice(paths)
            status, answer = self.ask(self.connection(), "GET", path)
            if status != 200:
                self.fail(f"GET {path} got {status}: {answer[:200]!r}")
            self.count("looks")
            time.sleep(0.02)

    def reloads(self, rng):
        weights = os.path.join(self.model, "classifiers.safetensors")
        while self.busy():
            damaged = rng.random() < 0.5
            if damaged:  # a new file in its place: the old one stays mapped
                shutil.copy(weights, weights + ".whole")
                with open(weights + ".whole", "rb") as file:
                    rest = file.read()[:-1]
                with open(weights + ".cut", "wb") as file:
                    file.write(rest)
                os.replace(weights + ".cut", weights)
            status, answer = self.ask(self.connection(), "POST", "/v1/models/m/reload", b"")
            if status != (409 if damaged else 200):
                self.fail(f"a reload of a {'damaged' if damaged else 'whole'} model got {status}: {answer!r}")
            if damaged:
                os.replace(weights + ".whole", weights)
            self.count("refused reloads" if damaged else "reloads")
            time.sleep(0.5)

    # --- and others --------------------------------------------------------------------------------

    def sends_nonsense(self, rng):
        while self.busy():
            body = rng.choice(NONSENSE)
            status, answer = self.ask(self.connection(), "POST", "/v1/predict", body)
            if not 400 <= status < 500 or "error" not in json.loads(answer):
                self.fail(f"{body[:60]!r} got {status}: {answer[:200]!r}")
            self.count("refused nonsense")

    def raw(self, *parts, pause=0.0, linger=0.0):
        with socket.create_connection(("127.0.0.1", self.server.port), timeout=60) as stream:
            try:
                for part in parts:
                    stream.sendall(part)
                    time.sleep(pause)
                time.sleep(linger)
            except OSError:
                pass  # the server may have had enough

    def sends_no_http(self, rng):
        while self.busy():
            self.raw(rng.randbytes(rng.randint(1, 3000)) + b"\r\n\r\n", linger=0.05)
            self.count("bytes that are no HTTP")

    def sends_half(self, rng):
        head = b"POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n"
        while self.busy():
            self.raw(head + b'{"texts": [', linger=rng.choice([0, 0.2, 3]))
            self.count("halves of a request")

    def is_slow(self, rng):
        request = b"GET /v1/models HTTP/1.1\r\nHost: x\r\n\r\n"
        while self.busy():
            self.raw(*[request[i:i + 1] for i in range(rng.randint(5, len(request)))], pause=0.1)
            self.count("slow clients")

    def leaves(self, rng):
        while self.busy():
            body = json.dumps({"texts": [rng.choice(self.texts)[0]] * 50}).encode()
            head = f"POST /v1/predict HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n".encode()
            self.raw(head + body)
            self.count("clients that left")
            time.sleep(0.05)

    # --- all together ------------------------------------------------------------------------------

    def run(self):
        clients = ([self.asks_and_compares] * 6 + [self.sends_bulk, self.looks_around, self.reloads]
                   + [self.sends_nonsense, self.sends_no_http, self.sends_half, self.leaves] + [self.is_slow] * 4)
        threads = []
        for seed, client in enumerate(clients):
            threads.append(threading.Thread(target=self.guarded, args=(client, random.Random(seed))))
            threads[-1].start()
        memory = []
        while self.busy():
            memory.append(self.server.memory())
            time.sleep(0.25)
        for thread in threads:
            thread.join()
        self.check_memory(memory)

    def guarded(self, client, rng):
        try:
            client(rng)
        except Exception as error:  # pylint: disable=broad-except  # a lost request, whatever it was
            self.fail(f"{client.__name__}: {type(error).__name__}: {error}")

    def check_memory(self, memory):
        """The last quarter beside the second: what warms up is over by then."""
        quarter = len(memory) // 4
        if quarter < 4:
            return
        before = sorted(memory[quarter:2 * quarter])[quarter // 2]
        after = sorted(memory[-quarter:])[quarter // 2]
        print(f"soak: memory {before:.0f} MiB, then {after:.0f} MiB")
        if after > 1.1 * before + 16:
            self.fail(f"memory grew from {before:.0f} to {after:.0f} MiB")


def sample_texts(program, model, points):
    """Texts with the three labels that the command line predicts for each."""
    with open(points, encoding="utf-8") as file:
        texts = [line.rstrip("\n").split("\t", 1)[1] for line in itertools.islice(file, 500)]
    answers = subprocess.run([program, "predict", "--model", model, "--input", "-", "--k", "3", "--format",
                              "jsonl", "--input-format", "lines"], input="\n".join(texts) + "\n", text=True,
                             capture_output=True, check=True, env=dict(os.environ, **SANITIZERS))
    known = [(text, [str(label) for label in json.loads(line)["labels"]]) for text, line in zip(texts, answers.stdout.splitlines())]
    if len({tuple(labels) for _, labels in known}) < 10:
        sys.exit("soak: these texts have nearly all the same labels: give points of the kind the model knows")
    return known


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--elias", required=True, help="the program, of any build")
    parser.add_argument("--model", required=True, help="a model of texts; a copy of it is served")
    parser.add_argument("--points", required=True, help="tsv points, whose texts are asked")
    parser.add_argument("--seconds", type=float, default=600)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = os.path.join(folder, "m")
        shutil.copytree(options.model, model)
        known = sample_texts(options.elias, model, options.points)
        server = Server(options.elias, model)
        soak = Soak(server, known, model, options.seconds)
        try:
            soak.run()
            code = server.end()
        finally:
            server.process.kill()  # if it has not ended by itself
    said = server.said()
    if code != 0:
        soak.fail(f"the server ended with exit code {code}")
    if "Sanitizer" in said or "runtime error" in said:
        soak.fail("a sanitizer has found something")
    for what, count in sorted(soak.counts.items()):
        print(f"soak: {count} {what}")
    if not all(soak.counts[what] for what in ("right answers", "right bulk answers", "reloads", "looks")):
        soak.fail("a client in good order never got an answer")
    if soak.failures:
        print(f"soak: FAILED, {len(soak.failures)} times", *soak.failures[:20], said[-4000:], sep="\n", file=sys.stderr)
        sys.exit(1)
    print("soak: nothing was lost")


if __name__ == "__main__":
    main()
