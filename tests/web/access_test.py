"""The page for everybody: by keyboard, on a phone, in the dark; and names that mean harm."""

from urllib.parse import urlencode, urlsplit

from selenium.webdriver.support.expected_conditions import staleness_of

from browser import LOW_CONTRAST
from page_case import PageCase
from served import HOSTILE, Server

CONTROLS = "a, input, select, textarea, summary, button"
WIDTHS = [320, 768, 1280]


class AccessTest(PageCase):
    """Whoever uses the page, and on what."""

    VIEWS = [("labels", {}), ("index", {}), ("label", {"label": HOSTILE})]

    def views(self):
        for view, rest in self.VIEWS:
            yield view, rest
        yield "labels", {"text": self.text, "label": self.predicted()[0][0]}

    def open_whole(self, view, rest):
        self.open(view, **rest)
        if "text" in rest:
            self.why()
        self.browser.run("for (const each of document.querySelectorAll('details')) each.open = true;")

    def test_the_keyboard_reaches_everything(self):
        for view, rest in self.views():
            with self.subTest(view, **rest):
                self.open_whole(view, rest)
                wanted = self.browser.run("""
                    return [...document.querySelectorAll(arguments[0])]
                      .filter((each) => each.checkVisibility() && each.tabIndex >= 0).length;
                    """, CONTROLS)
                self.browser.run("window.reached = new Set(); document.activeElement.blur();")
                for _ in range(wanted + 12):
                    self.browser.press("TAB")
                    self.assertTrue(self.browser.run("""
                        const at = document.activeElement;
                        if (at.matches(arguments[0])) reached.add(at);
                        const shown = (node) => {
                          const style = getComputedStyle(node);
                          return style.outlineStyle !== "none" || style.boxShadow !== "none";
                        };
                        return at === document.body || shown(at) || shown(at.parentElement);
                        """, CONTROLS), "the focus is seen")
                self.assertEqual(self.browser.run("return reached.size"), wanted)

    def test_from_typing_to_a_portrait_by_keyboard_alone(self):
        self.open()
        self.tab_to("#text")
        self.browser.press(self.text)
        rows = self.predicted("--k", "5")
        self.wait_for_rows(rows)
        self.tab_to("a.label")
        self.browser.press("ARROW_DOWN", "ARROW_DOWN", "END", "HOME", "ARROW_DOWN")
        self.assertEqual(self.browser.active.get_attribute("data-label"), rows[1][0])
        self.browser.press("ENTER")
        self.why()
        self.tab_to(".why .company a")
        self.browser.press("ENTER")
        self.browser.until(lambda: self.browser.texts("#other-view h2"), "a portrait")

    def tab_to(self, selector):
        for _ in range(50):
            self.browser.press("TAB")
            if self.browser.run("return document.activeElement.matches(arguments[0])", selector):
                return
        self.fail(f"no {selector} within 50 stops")

    def test_a_search_is_walked_by_arrows(self):
        self.open("index")
        field = self.browser.one("#other-view input")
        field.send_keys("label 1")
        self.browser.until(lambda: len(self.browser.texts("[role=option]")) > 2, "what was found")
        names = self.browser.texts("[role=option] span")
        self.browser.press("ARROW_DOWN", "ARROW_DOWN", "ARROW_UP")
        self.assertEqual(field.get_attribute("aria-expanded"), "true")
        active = self.browser.one(f"[id='{field.get_attribute('aria-activedescendant')}']")
        self.assertEqual(active.get_attribute("aria-selected"), "true")
        self.browser.press("ESCAPE")
        self.assertEqual(field.get_attribute("aria-expanded"), "false")
        field.send_keys("0")
        self.browser.until(lambda: self.browser.texts("[role=option]"), "what was found")
        self.browser.press("ENTER")
        self.browser.until(lambda: self.browser.texts("#other-view h2") == ["label 10"], "its portrait")
        self.assertIn("label 10", names)

    def test_results_and_troubles_are_announced(self):
        self.open()
        self.assertEqual(self.browser.one("#answer-says").aria_role, "status")
        self.assertEqual(self.browser.one("#trouble").get_attribute("role"), "alert")

    def test_every_control_and_chart_has_a_name(self):
        for view, rest in self.views():
            with self.subTest(view):
                self.open_whole(view, rest)
                for control in self.browser.all("a, input, select, textarea, button, svg[role=img]"):
                    if control.is_displayed():
                        self.assertTrue(control.accessible_name, control.get_attribute("outerHTML"))

    def test_nothing_is_wider_than_the_window(self):
        for view, rest in self.views():
            for width in WIDTHS:
                with self.subTest(view, width=width):
                    self.browser.look(width)
                    self.open_whole(view, rest)
                    widest = self.browser.run("return document.documentElement.scrollWidth")
                    self.assertLessEqual(widest, width)

    def test_text_stands_out_from_its_ground(self):
        for dark in [False, True]:
            for view, rest in self.views():
                with self.subTest(view, dark=dark):
                    self.browser.look(dark=dark)
                    self.open_whole(view, rest)
                    self.assertEqual(self.browser.run(LOW_CONTRAST), [])
            ground = self.browser.run("return getComputedStyle(document.body).backgroundColor")
            red = int(ground.split("(")[1].split(",")[0])
            self.assertEqual(red < 64, dark)

    def test_nothing_moves_for_those_who_want_that(self):
        for motion in [True, False]:
            self.browser.look(motion=motion)
            self.open(text=self.text)
            self.row_link(self.predicted()[0][0])
            duration = self.browser.run(
                "return getComputedStyle(document.querySelector('.part')).transitionDuration")
            self.assertEqual(duration != "0s", motion)


class SafetyTest(PageCase):
    def test_names_are_never_markup(self):
        self.open(text=self.text, label=HOSTILE)
        self.why()
        self.assertIn(HOSTILE, self.browser.texts("a.label .name"))
        self.browser.paste("#text", HOSTILE)
        self.browser.until(lambda: self.browser.texts(".copy") == [HOSTILE], "the copy")
        self.check_unharmed()
        for view in ["label", "index"]:
            self.open(view, label=HOSTILE)
            self.check_unharmed()

    def check_unharmed(self):
        self.assertEqual(self.browser.all("img, b:not(.term b)"), [])
        self.assertIsNone(self.browser.run("return window.hacked"))

    def test_a_token_is_asked_for_once(self):
        (self.elias.folder / "token").write_text("open-sesame\n")
        with Server(self.elias, "--model", "tea", "--token-file", "token") as guarded:
            self.known_hosts = lambda: {urlsplit(guarded.address).netloc}
            self.refusals = 2  # without a token, and with a wrong one
            self.browser.get(f"{guarded.address}#/labels?{urlencode({'text': self.text})}")
            for token in ["open-barley", "open-sesame"]:
                field = self.browser.until(lambda: self.browser.all("dialog #token"), "the question")[0]
                field.send_keys(token)
                self.browser.press("ENTER")
                self.browser.until(lambda: staleness_of(field)(self.browser), "the end of the question")
            self.wait_for_rows(self.predicted("--k", "5"))
            self.browser.refresh()
            self.wait_for_rows(self.predicted("--k", "5"))
            kept = self.browser.run("return localStorage.length + document.cookie.length")
            self.assertEqual(kept, 0)
