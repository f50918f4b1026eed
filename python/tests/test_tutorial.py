"""The example that docs/python.md goes through, on a package index of a few packages."""

import subprocess
import sys

from conftest import ROOT


def test_the_example_runs_and_finds_its_model_again(tmp_path):
    examples = ROOT / "examples"
    index = ROOT / "tests" / "examples" / "debian_packages" / "index"
    data, model = tmp_path / "data", tmp_path / "model"
    subprocess.run([examples / "debian-packages" / "make", "--from", index, data], check=True)
    command = [sys.executable, examples / "python" / "packages.py", data, model]
    quick = ["width=16", "stage1_epochs=2", "warm_epochs=0"]
    for said in ("stage 1, epoch 2 of 2", ""):
        done = subprocess.run([*command, *quick], capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        assert said in done.stderr
        model_line, figures, text, *best, because = done.stdout.splitlines()
        assert model_line.startswith(f"<elias.Model '{model}'")
        assert figures.startswith("P@1 ") and text.startswith("python ")
        assert len(best) == 3 and all("%  " in line for line in best)
        assert ", because of: " in because
    assert done.stderr == ""  # all was there
