"""Writes tfidf_fixture.json: texts, settings, and what scikit-learn makes of them.

Needs scikit-learn; run it only to change the cases: python make_fixtures.py > tfidf_fixture.json
"""

import json

from sklearn.feature_extraction.text import TfidfVectorizer

TEXTS = [
    "The quick brown fox jumps over the lazy dog; the dog sleeps.",
    "A regulation (EU) No 1234/2009 of 3 May, as amended by no_1 and No 2.",
    "L'été à l'Île-de-France: œuvres complètes, naïveté, ﬁn.",
    "ΟΔΟΣ Οδος ΣΟΦΙΑΣ, Σ. και ο κόσμος",
    "İstanbul ISTANBUL ıstanbul Straße STRASSE",
    "日本語のテキスト 中文 文本 x y z",
    "don't  stop\tme\nnow   2² ½ x_1 __ a1",
    "",
    "?! ... --",
    "the the the the quick fox of no",
    "हिन्दी में पाठ, Việt Nam, Ünïcödé",
]

SETTINGS = [
    {},
    {"words": [1, 2]},
    {"words": [2, 3]},
    {"words": [1, 1], "characters": [2, 4]},
    {"words": [0, 0], "characters": [1, 3], "strip_accents": True},
    {"strip_accents": True, "words": [1, 2]},
    {"lowercase": False},
    {"lowercase": False, "strip_accents": True, "words": [0, 0], "characters": [3, 5]},
    {"min_df": 2},
    {"min_df": 0.15, "max_df": 0.25},
    {"max_df": 1},
    {"sublinear_tf": True, "use_idf": False},
    {"sublinear_tf": True, "normalise": False},
]


def vectorise(analyzer, ngrams, setting):
    vectorizer = TfidfVectorizer(
        analyzer=analyzer,
        ngram_range=tuple(ngrams),
        lowercase=setting.get("lowercase", True),
        strip_accents="unicode" if setting.get("strip_accents") else None,
        min_df=setting.get("min_df", 1),
        max_df=setting.get("max_df", 1.0),
        sublinear_tf=setting.get("sublinear_tf", False),
        use_idf=setting.get("use_idf", True),
        norm="l2" if setting.get("normalise", True) else None,
    )
    matrix = vectorizer.fit_transform(TEXTS).tocoo()
    return vectorizer.get_feature_names_out().tolist(), matrix


def case(setting):
    terms, entries = [], []
    parts = [("word", setting.get("words", [1, 1])), ("char_wb", setting.get("characters", [0, 0]))]
    for analyzer, ngrams in parts:
        if ngrams[1] == 0:
            continue
        names, matrix = vectorise(analyzer, ngrams, setting)
        entries += [
            [int(i), int(j) + len(terms), round(float(v), 9)]
            for i, j, v in zip(matrix.row, matrix.col, matrix.data)
        ]
        terms += names
    return {"options": setting, "terms": terms, "entries": sorted(entries)}


def main():
    cases = ",\n".join(json.dumps(case(setting), ensure_ascii=False) for setting in SETTINGS)
    print('{"texts": %s,\n"cases": [\n%s\n]}' % (json.dumps(TEXTS, ensure_ascii=False), cases))


main()
