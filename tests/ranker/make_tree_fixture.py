"""Writes decision_tree_fixture.txt: rows, targets, and the probabilities of scikit-learn's tree.

Needs scikit-learn; run it only to change the rows: python make_tree_fixture.py
A line is p, q, p * q, label frequency, target and probability. The first line says how many rows
the tree was fitted to; those after them are new to it.
"""

import pathlib
import sys

import numpy as np
from sklearn.tree import DecisionTreeClassifier

FITTED, NEW = 300, 100
SEED = 109


def draw(seed):
    random = np.random.default_rng(seed)
    p, q = random.uniform(size=(2, FITTED + NEW)).astype(np.float32)
    frequency = np.minimum(random.zipf(1.5, size=p.size), 1000).astype(np.float32)
    rows = np.stack([p, q, p * q, frequency], axis=1)
    chance = 0.1 + 0.5 * p * q + 0.2 * (q > 0.6) + 0.1 * (frequency > 3)
    return rows, (random.uniform(size=p.size) < chance).astype(int)


def fit(rows, targets, order):
    return DecisionTreeClassifier(max_depth=5, random_state=order).fit(rows, targets)


def nodes_of(classifier):
    tree = classifier.tree_
    return list(zip(tree.feature, tree.threshold, tree.children_left, tree.children_right))


def main():
    rows, targets = draw(SEED)
    # The state decides which of equally good features is taken: here there must be no such.
    trees = [fit(rows[:FITTED], targets[:FITTED], order) for order in range(30)]
    if any(nodes_of(tree) != nodes_of(trees[0]) for tree in trees):
        sys.exit("two features split a node equally well: take another seed")
    probabilities = trees[0].predict_proba(rows)[:, 1]
    with open(pathlib.Path(__file__).with_name("decision_tree_fixture.txt"), "w") as file:
        print(FITTED, file=file)
        for row, target, probability in zip(rows, targets, probabilities):
            print(*(f"{value:.9g}" for value in row), target, f"{probability:.9g}", file=file)


main()
