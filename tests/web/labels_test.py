"""Labels as a text is typed, and the addresses that bring them back."""

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from page_case import PageCase


class LabelsTest(PageCase):
    def test_typing_gives_the_labels_of_predict(self):
        self.open()
        self.assertIn("60 labels, learned from 1,500 texts", self.browser.says("#answer-says"))
        self.browser.one("#text").send_keys(self.text)
        self.wait_for_rows(self.predicted("--k", "5"))
        best = self.rows()[0]
        self.assertIn(f"the best is {best[0]}, {best[1]}", self.browser.says("#answer-says"))
        bars = self.browser.all("a.label .bar .part")
        for (_, score), bar in zip(self.elias.predict("tea", self.text, "--k", "5"), bars):
            self.assertAlmostEqual(float(bar.get_attribute("width").rstrip("%")), 100 * score, places=3)

    def test_an_emptied_field_has_no_labels(self):
        self.open(text=self.text)
        self.wait_for_rows(self.predicted("--k", "5"))
        self.erase()
        self.wait_for_rows([])

    def test_a_late_answer_to_an_old_text_is_dropped(self):
        self.open()
        self.browser.run("""
            const fetched = window.fetch;
            window.held = [];
            window.fetch = async (path, options) => {
              if (!options?.body?.includes("old words")) return fetched(path, options);
              await new Promise((resolve) => window.held.push(resolve));
              const {signal, ...rest} = options;  // as if it could not be called back any more
              const answer = await (await fetched(path, rest)).json();
              setTimeout(() => (window.answered = true), 100);  // by then it would be on the page
              return {ok: true, json: async () => answer};
            };""")
        self.browser.one("#text").send_keys("old words")
        self.browser.until(lambda: self.browser.run("return held.length > 0"), "the first question")
        self.erase()
        self.browser.one("#text").send_keys(self.text)
        wanted = self.predicted("--k", "5")
        self.wait_for_rows(wanted)
        self.browser.run("held.forEach((release) => release())")
        self.browser.until(lambda: self.browser.run("return window.answered"), "the late answer")
        self.assertEqual(self.rows(), wanted)
        self.assertNotEqual(wanted, self.predicted("--k", "5", of="old words"))

    def test_number_and_threshold_are_those_of_predict(self):
        self.open(text=self.text)
        self.browser.paste("#k", "3")
        self.wait_for_rows(self.predicted("--k", "3"))
        self.browser.paste("#k", "20")
        self.wait_for_rows(self.predicted("--k", "20"))
        self.choose("#threshold-kind", "own")
        self.wait_for_rows(self.predicted("--k", "20", "--threshold", "auto"))
        self.choose("#threshold-kind", "least")
        self.browser.paste("#threshold", "0.9")
        self.wait_for_rows(self.predicted("--k", "20", "--threshold", "0.9"))
        self.assertLess(len(self.rows()), 20)

    def test_a_number_out_of_range_is_refused_in_words(self):
        self.open(text=self.text)
        self.browser.paste("#k", "0")
        self.assertIn("from 1 to 100", self.browser.says("#trouble"))
        self.browser.paste("#k", "2")
        self.wait_for_rows(self.predicted("--k", "2"))
        self.assertFalse(self.browser.one("#trouble").is_displayed())

    def test_another_model_answers(self):
        self.open(text=self.text)
        self.choose("#model", "ova")
        self.wait_for_rows(self.predicted("--k", "5", model="ova"))
        self.assertFalse(self.browser.one("#threshold-kind option[value=own]").is_enabled())

    def test_a_server_that_is_gone_is_named(self):
        self.open()
        self.browser.run("window.fetched = fetch; window.fetch = () => Promise.reject(new TypeError())")
        self.browser.one("#text").send_keys(self.text)
        self.browser.until(lambda: "does not answer" in self.browser.says("#trouble"), "the sentence")
        self.assertEqual(self.rows(), [])
        self.browser.run("window.fetch = fetched")  # it is asked again without a key
        self.wait_for_rows(self.predicted("--k", "5"))
        self.assertFalse(self.browser.one("#trouble").is_displayed())

    def erase(self):
        self.browser.one("#text").send_keys(Keys.CONTROL, "a")
        self.browser.one("#text").send_keys(Keys.DELETE)

    def choose(self, selector, value):
        field = self.browser.one(selector)
        for _ in field.find_elements(By.TAG_NAME, "option"):
            field.send_keys(Keys.ARROW_UP)
        while field.get_property("value") != value:
            field.send_keys(Keys.ARROW_DOWN)


class AddressTest(PageCase):
    def test_the_address_holds_view_text_and_label(self):
        self.open()
        self.browser.one("#text").send_keys(self.text)
        self.wait_for_rows(self.predicted("--k", "5"))
        label = self.rows()[1][0]
        self.row_link(label).click()
        self.why()
        address = self.browser.current_url
        self.browser.get("about:blank")
        self.browser.get(address)
        self.why()
        self.assertEqual(self.browser.one("#text").get_property("value"), self.text)
        self.assertEqual(self.row_link(label).get_attribute("aria-expanded"), "true")

    def test_back_undoes_every_step(self):
        self.open(text=self.text)
        label = self.predicted()[0][0]
        self.row_link(label).click()
        self.why()
        self.browser.one(".why .company a").click()
        self.browser.until(lambda: self.browser.texts("#other-view h2"), "a portrait")
        self.browser.one("#to-index").click()
        self.browser.until(lambda: self.browser.texts("figure"), "the index")
        self.browser.back()
        self.browser.until(
            lambda: self.browser.texts("#other-view h2") and not self.browser.texts("figure"),
            "the portrait")
        self.browser.back()
        self.why()
        self.browser.back()
        self.browser.until(lambda: self.rows() and not self.browser.texts(".why"), "the closed list")
        self.assertEqual(self.browser.one("#text").get_property("value"), self.text)

    def test_a_link_of_a_label_opens_in_a_page_of_its_own(self):
        self.open(text=self.text)
        label = self.predicted()[0][0]
        address = self.row_link(label).get_attribute("href")
        self.browser.get("about:blank")
        self.browser.get(address)
        self.why()

    def test_a_long_text_stays_in_the_tab(self):
        self.open()
        long = " ".join([self.text] * 100)
        self.browser.paste("#text", long)
        self.wait_for_rows(self.predicted("--k", "5", of=long))
        self.assertTrue(self.browser.one("#text-note").is_displayed())
        self.assertLess(len(self.browser.current_url), 200)
        self.browser.refresh()
        self.wait_for_rows(self.predicted("--k", "5", of=long))

    def test_a_model_that_is_none_is_named(self):
        self.browser.get(f"{self.server.address}#/labels?model=nonesuch")
        self.browser.until(lambda: "nonesuch" in self.browser.says("#trouble"), "the sentence")
