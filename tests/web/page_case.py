"""What the tests of the page have in common."""

import unittest
from urllib.parse import urlencode, urlsplit

SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def share(value, digits=4):
    """A number from 0 to 1 as the page writes it."""
    if value == 0 or value >= 0.001:
        return f"{value:.{digits}f}"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa}×10{str(int(exponent)).translate(SUPERSCRIPTS)}"


class PageCase(unittest.TestCase):
    """Opens addresses, and holds every test to a quiet console and to the server's own host."""

    elias = server = browser = text = None  # page_test.py sets them, once for all tests
    refusals = 0  # answers with an error that the test asks for; the browser notes each

    def setUp(self):
        self.browser.look()
        self.browser.get("about:blank")
        self.browser.errors()
        self.browser.hosts()

    def tearDown(self):
        errors = self.browser.errors()
        refused = [error for error in errors if "Failed to load resource" in error]
        self.assertEqual([error for error in errors if error not in refused], [])
        self.assertEqual(len(refused), self.refusals, refused)
        self.assertLessEqual(self.browser.hosts(), self.known_hosts())

    def known_hosts(self):
        return {urlsplit(self.server.address).netloc}

    def open(self, view="labels", **rest):
        rest.setdefault("model", "tea")
        self.browser.get("about:blank")
        self.browser.get(f"{self.server.address}#/{view}?{urlencode(rest)}")
        ready = "#labels-view" if view == "labels" else "#other-view h2"
        self.browser.until(lambda: self.browser.texts(ready), f"the view {view}")

    def rows(self):
        """[(label, score), ...] as they are listed."""
        return list(zip(self.browser.texts("a.label .name"), self.browser.texts("a.label .score")))

    def wait_for_rows(self, rows):
        self.browser.until(lambda: self.rows() == rows, f"{rows}; there is {self.rows()}")

    def row_link(self, label):
        """The link of a label in the list."""
        names = self.browser.until(lambda: self.browser.texts("a.label .name"), "labels")
        return self.browser.all("a.label")[names.index(label)]

    def why(self):
        """What the explanation that is open says, once it is there."""
        self.browser.until(lambda: self.browser.texts(".why .maths"), "an explanation")
        return self.browser.texts(".why")[0]

    def predicted(self, *options, model="tea", of=None):
        """What `elias predict` finds for a text, as rows of the page."""
        found = self.elias.predict(model, of or self.text, *options)
        return [(label, share(score)) for label, score in found]
