"""Portraits of labels, and what the index has learned."""

from page_case import PageCase, share
from served import HOSTILE


class PortraitTest(PageCase):
    def test_a_label_is_found_and_shown_as_inspect_shows_it(self):
        self.open("index")
        self.browser.one("#other-view input").send_keys("img src")
        self.browser.until(lambda: self.browser.texts("[role=option] span") == [HOSTILE], "the label")
        self.browser.press("ENTER")
        self.browser.until(lambda: self.browser.texts("#other-view h2") == [HOSTILE], "its portrait")
        self.check_portrait("tea", HOSTILE)

    def test_portraits_of_other_kinds_of_models(self):
        for model in ["ova", "pair"]:
            with self.subTest(model):
                self.open("label", model=model, label="label 7")
                self.check_portrait(model, "label 7")

    def check_portrait(self, model, label):
        portrait = self.elias.json("inspect", model, "--json", "--label", label)
        lead = self.browser.says(".lead")
        self.assertIn(f"{portrait['train_points']} training text", lead)
        clusters = portrait.get("clusters", [])
        self.assertEqual(self.browser.texts(".clusters .cluster"),
                         [f"cluster {c['cluster']}, {c['edges']} edges" for c in clusters])
        self.assertEqual(self.browser.texts(".clusters > li > .number"),
                         [share(c["score"], 3) for c in clusters])
        self.assertEqual(self.browser.texts(".clusters .company a"),
                         [other["label"] for c in clusters for other in c["others"]])
        self.assertEqual(self.browser.texts(".nearest a"),
                         [near["label"] for near in portrait["nearest"]])
        self.assertEqual(self.browser.texts(".nearest .number"),
                         [f"{near['cosine']:.3f}" for near in portrait["nearest"]])

    def test_labels_are_links_from_one_to_the_next(self):
        self.open("label", label=HOSTILE)
        near = self.browser.one(".nearest a")
        name = near.text
        near.click()
        self.browser.until(lambda: self.browser.texts("#other-view h2") == [name], "the neighbour")

    def test_an_unknown_part_of_a_name_is_said(self):
        self.open("index")
        self.browser.one("#other-view input").send_keys("zzz")
        said = "No label has “zzz” in its name."
        self.browser.until(lambda: said in self.browser.says(".label-search"), "the sentence")


class IndexTest(PageCase):
    def test_charts_have_the_numbers_of_inspect(self):
        facts = self.elias.json("inspect", "tea", "--json", "--test", "tst.tsv")
        self.open("index")
        index, deciles = facts["index"], [d for d in facts["deciles"] if d["labels"] > 0]
        deciles.sort(key=lambda d: 99 if d["decile"] == "unseen" else d["decile"])
        self.assertEqual([row[1] for row in self.table("Scores of edges")],
                         [str(number) for number in index["score_histogram"]])
        sizes = [int(row[1]) for row in self.table("Sizes of clusters")]
        self.assertEqual(sum(sizes), index["clusters"])
        clusters = self.table("Clusters a label")
        self.assertEqual([row[1] for row in clusters],
                         [f"{d['clusters_per_label']:.2f}" for d in deciles])
        self.assertEqual([row[0] for row in clusters], [str(d["decile"]) for d in deciles])
        recall = self.table("Recall, percent")
        self.assertEqual([row[1:3] for row in recall],
                         [[f"{100 * d[name]:.1f} %" for name in ["R@10", "R@100"]] for d in deciles])
        rows = {row[0]: row[1] for row in self.table("Facts")}
        self.assertEqual(rows["beam"], str(index["search"]["beam"]))
        self.assertEqual(rows["edges that count"], str(index["edges_that_count"]))
        self.assertEqual(rows["P@1"], f"{100 * facts['test']['P@1']:.1f} %")

    def test_columns_are_as_high_as_their_numbers(self):
        self.open("index")
        numbers = [int(row[1]) for row in self.table("Scores of edges")]
        heights = self.browser.run("""
            return [...document.querySelectorAll("figure")]
              .filter((figure) => figure.querySelector("h3").textContent === "Scores of edges")
              .flatMap((figure) => [...figure.querySelectorAll("rect")])
              .map((column) => column.height.baseVal.value);""")
        for number, height in zip(numbers, heights, strict=True):
            self.assertAlmostEqual(height / max(heights), number / max(numbers), places=3)

    def test_models_without_clusters_say_so(self):
        self.open("index", model="ova")
        self.assertIn("There are no clusters: every label is scored", self.browser.says(".lead"))
        self.assertEqual(self.browser.all("figure"), [])
        self.open("index", model="pair")
        self.assertIn("Shown is member 1 of 2", self.browser.says(".lead"))
        self.assertEqual(len(self.browser.all("figure")), 3)  # there are no test points

    def table(self, caption):
        return self.browser.run("""
            const table = [...document.querySelectorAll("table")]
              .find((each) => each.caption.textContent === arguments[0]);
            return [...table.tBodies[0].rows]
              .map((row) => [...row.cells].map((cell) => cell.textContent));
            """, caption)
