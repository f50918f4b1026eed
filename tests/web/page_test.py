#!/usr/bin/python3 -B
"""The page of `elias serve` in a Chromium without a screen: what it shows is held to what the program
prints.

usage: page_test.py ELIAS [TEST...]
"""

import sys
import tempfile
import unittest

from browser import Browser
from page_case import PageCase
from served import Elias, Server, make_models, some_text

MODULES = ["labels_test", "explanation_test", "index_test", "access_test"]


def main(program, *names):
    tests = unittest.defaultTestLoader.loadTestsFromNames(names or MODULES)
    with tempfile.TemporaryDirectory() as folder:
        elias = PageCase.elias = Elias(program, folder)
        make_models(elias)
        PageCase.text = some_text(elias)
        models = [part for name in ["tea", "ova", "pair"] for part in ["--model", name]]
        with Server(elias, *models, "--test", "tea=tst.tsv") as server, Browser() as browser:
            PageCase.server, PageCase.browser = server, browser
            result = unittest.TextTestRunner(verbosity=2).run(tests)
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
