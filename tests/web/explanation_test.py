"""Why a label is there, or is not."""

from page_case import PageCase, share
from served import HOSTILE


class ExplanationTest(PageCase):
    def test_a_click_tells_what_explain_tells(self):
        self.open(text=self.text)
        explained = self.elias.explain("tea", self.text, "--k", "1", "--words", "32")[0]
        self.row_link(explained["label"]).click()
        why = self.why()
        member, ranker = explained["members"][0], explained["ranker"]
        for number in [explained["p"], member["sigmoid_z"], member["yhat"], ranker["q"]]:
            self.assertIn(share(number), why)
        for path in member["paths"][:5]:
            scores = [share(path[name], 3) for name in ["cluster_score", "edge_score", "score"]]
            product = f"s {scores[0]} × edge {scores[1]} = {scores[2]}"
            self.assertIn(f"cluster {path['cluster']}{product}", why)
            self.assertIn(", ".join(path["other_labels"]), why)
        self.assertEqual(self.browser.texts(".why .words .number")[:12],
                         [f"{word['adds']:+.2f}".replace("-", "−") for word in ranker["words"][:12]])
        self.assertEqual(self.row_link(explained["label"]).get_attribute("aria-expanded"), "true")

    def test_words_are_marked_in_the_text(self):
        best = self.elias.explain("tea", self.text, "--k", "1", "--words", "32")[0]
        strongest = max((word for word in best["ranker"]["words"] if word["kind"] == "word"),
                        key=lambda word: word["adds"])
        self.open(text=self.text, label=best["label"])
        self.why()
        self.assertIn(strongest["term"], self.browser.texts(".copy mark[class^=for]"))
        self.assertEqual(self.browser.one(".copy").get_attribute("textContent"), self.text + "\n")
        self.row_link(best["label"]).click()  # closes it
        self.browser.until(lambda: self.browser.all(".copy mark") == [], "no marks")

    def test_paths_are_drawn_as_wide_as_their_scores(self):
        best = self.elias.explain("tea", self.text, "--k", "1")[0]
        self.open(text=self.text, label=best["label"])
        self.why()
        widths = self.browser.until(lambda: self.browser.all(".paths svg:last-child path"), "lines")
        wanted = [max(0.75, 9 * path["edge_score"]) for path in best["members"][0]["paths"][:5]]
        drawn = [float(line.get_attribute("stroke-width")) for line in reversed(widths)]
        for line, score in zip(drawn, wanted, strict=True):
            self.assertAlmostEqual(line, score, places=3)

    def test_why_not_this_label(self):
        outcomes = {}
        for number in range(4, 60):
            explained = self.elias.explain("tea", self.text, "--label", f"label {number}")[0]
            outcomes.setdefault(explained["members"][0]["outcome"], explained)
        self.assertEqual(set(outcomes), {"scored", "cut", "not reached"})
        sentences = {"cut": "too low for the shortlist", "not reached": "clusters are not searched"}
        for outcome, sentence in sentences.items():
            with self.subTest(outcome):
                self.open(text=self.text)
                explained = outcomes[outcome]
                field = self.browser.until(lambda: self.browser.all("#why-not input"), "the search")[0]
                self.browser.until(field.is_displayed, "the search")
                field.send_keys(explained["label"])
                options = "#why-not [role=option] span"
                self.browser.until(
                    lambda: self.browser.texts(options)[:1] == [explained["label"]], "the label")
                self.browser.press("ENTER")
                why = self.why()
                self.assertIn(sentence, why)
                self.assertIn(share(explained["members"][0]["sigmoid_z"]), why)
                self.assertEqual(self.rows()[-1], (explained["label"], "not predicted"))
                active = self.browser.active
                self.assertEqual(active.get_attribute("data-label"), explained["label"])

    def test_an_explanation_follows_the_text(self):
        words = self.text.split()
        half, rest = " ".join(words[:4]), " " + " ".join(words[4:])
        self.open(text=half, label=HOSTILE)
        self.assertIn(self.p_of(half), self.why())
        self.assertNotIn(self.p_of(self.text), self.why())
        self.browser.one("#text").send_keys(rest)
        self.browser.until(lambda: self.p_of(self.text) in self.browser.texts(".why")[0], "the new p")

    def p_of(self, text):
        return share(self.elias.explain("tea", text, "--label", HOSTILE)[0]["p"])

    def test_other_kinds_of_models(self):
        for model, absent in [("ova", "cluster"), ("pair", "ranker")]:
            with self.subTest(model):
                best = self.elias.explain(model, self.text, "--k", "1")[0]
                self.open(text=self.text, label=best["label"], model=model)
                why = self.why()
                self.assertNotIn(absent, why)
                for member in best["members"]:
                    self.assertIn(share(member["p"]), why)
                sections = len(best["members"]) + (best["ranker"] is not None)
                self.assertEqual(len(self.browser.all(".why h3")), sections)

    def test_a_label_that_is_none_is_refused_in_words(self):
        self.refusals = 1
        self.open(text=self.text, label="label 1000")
        self.browser.until(lambda: "label 1000" in self.browser.says("#trouble"), "the sentence")
        self.assertEqual(self.rows(), self.predicted("--k", "5"))


class HighlightsTest(PageCase):
    """Where features stand in a text, as docs/text.md cuts it."""

    def test_places_of_features(self):
        cases = [
            ("Green tea, and TEA", [("tea", "word", 1)], ["tea", "TEA"]),
            ("teapot tea", [("tea", "word", 1)], ["tea"]),
            ("green, tea green", [("green tea", "word", 1)], ["green", "tea"]),
            ("tea and tea", [("tea", "opening", 1)], ["tea"]),
            ("steam team", [(" tea", "characters", 1)], ["team"]),
            ("team teas", [("eas ", "characters", 1)], ["teas"]),
            ("İstanbul 🍵 tee", [("tee", "word", 1)], ["tee"]),
            ("no such word", [("tea", "word", 1)], []),
            ("<b>tea</b>", [("tea", "word", 1)], ["tea"]),
        ]
        self.open()
        for text, words, wanted in cases:
            with self.subTest(text, words=words):
                self.assertEqual([piece["text"] for piece in self.marked(text, words)], wanted)

    def test_levels_follow_what_words_add(self):
        words = [("strong", "word", 0.9), ("weak", "word", 0.3), ("against", "word", -0.6),
                 ("nothing", "word", 0.01)]
        self.open()
        marked = self.marked("strong weak against nothing", words)
        self.assertEqual([(piece["text"], piece["level"]) for piece in marked],
                         [("strong", 4), ("weak", 2), ("against", 3)])
        self.assertEqual([piece["adds"] < 0 for piece in marked], [False, False, True])

    def test_what_a_word_adds_is_spread_over_its_places(self):
        self.open()
        marked = self.marked("tea or tea", [("tea", "word", 0.5)])
        self.assertAlmostEqual(sum(piece["adds"] for piece in marked), 0.5)

    def marked(self, text, words):
        pieces = self.browser.execute_async_script("""
            const [text, words, done] = arguments;
            import("/highlights.js").then(({highlighted}) => done(highlighted(text, words)));
            """, text, [{"term": term, "kind": kind, "adds": adds} for term, kind, adds in words])
        self.assertEqual("".join(piece["text"] for piece in pieces), text)
        return [piece for piece in pieces if piece["level"] > 0]
