"""Loading a model, and predicting from text on one thread, against the bytes that must be read.

    prediction.py BENCH [MODEL FILE]

BENCH is the program prediction_bench. Without a model one is trained on a generated set of 25,000
labels (elias, beside BENCH's folder), one epoch a stage: enough for its shape.
"""

import pathlib
import subprocess
import sys
import tempfile

from peers import record, run


def train(elias, folder):
    subprocess.run([elias, "synth", "--labels", "25000", "--points", "60000", "--out", folder],
                   check=True, capture_output=True)
    subprocess.run([elias, "fit", "--train", f"{folder}/trn.txt", "--labels", f"{folder}/labels.txt",
                    "--out", f"{folder}/model", "--set", "width=512", "--set", "warm_epochs=0",
                    "--set", "stage1_epochs=1", "--set", "stage2_epochs=1"],
                   check=True, capture_output=True)
    return f"{folder}/model", f"{folder}/tst.txt"


def main():
    bench = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        model, file = sys.argv[2:4] or train(str(bench.parent.parent / "elias"), folder)
        result = run([str(bench), model, file])
    print(f"load {result['load']:.1f} ms; a text {result['text']:.3f} ms, of that the search "
          f"{result['search']:.3f} ms, the ranker {result['ranker']:.3f} ms more; reading its {result['bytes'] / 1e6:.1f} MB "
          f"{result['read']:.3f} ms", file=sys.stderr)
    record("model load, 50 ms over it", wanted=1, ratio=50 / result["load"], milliseconds=result["load"])
    record("prediction from text without a ranker, 0.2 ms over it", wanted=1, ratio=0.2 / result["text"],
           milliseconds=result["text"])
    record("search, 0.12 ms over it", wanted=1, ratio=0.12 / result["search"],
           milliseconds=result["search"])
    record("ranker, 0.1 ms over it", wanted=1, ratio=0.1 / result["ranker"],
           milliseconds=result["ranker"])
    record("prediction from text without a ranker, against reading its bytes", wanted=0.5,
           ratio=result["read"] / result["text"], bytes=result["bytes"])


if __name__ == "__main__":
    main()
