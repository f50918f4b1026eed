"""Peak memory of `elias check` against the size of the text it reads, uncompressed.

    memory.py ELIAS [FILE...]

ELIAS is the program. FILEs are data files, gzip or not; without any, a set is made by elias synth.
The ratio is text over memory: above 0.5 means less than twice the text.
"""

import gzip
import os
import subprocess
import sys
import tempfile

from peers import record


def size_of(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rb") as file:
        return sum(len(block) for block in iter(lambda: file.read(1 << 20), b""))


def main():
    elias, files = sys.argv[1], sys.argv[2:]
    with tempfile.TemporaryDirectory() as folder:
        if not files:
            subprocess.run([elias, "synth", "--labels", "20000", "--points", "400000", "--out", folder],
                           check=True, capture_output=True)
            files = [f"{folder}/trn.txt", f"{folder}/tst.txt"]
        text = sum(size_of(path) for path in files)
        # Of this one child: the maximum over all children would count synth's too.
        process = subprocess.Popen([elias, "check", *files], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        assert status == 0, "elias check failed"
        peak = 1024 * usage.ru_maxrss
    record("peak memory of check, text over memory", wanted=0.5, ratio=text / peak,
           text_megabytes=text / 1e6, peak_megabytes=peak / 1e6)


if __name__ == "__main__":
    main()
