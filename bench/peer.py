"""One peer at work, in its own Python environment: called by peers_table.py, a process a step.

    peer.py NAME fit     DATA MODEL THREADS
    peer.py NAME predict DATA MODEL THREADS SCORES REPORT

DATA holds X.trn.npz, Y.trn.npz and X.tst.npz, as scipy reads them; omikuji learns from trn.sparse, the
same points as text. SCORES is the npz file to write, 100 labels a point; REPORT, a JSON object,
says which version it was and how many milliseconds a point the call for the scores took. That goes
to a file because peers print what they like.

A peer is a function for each step. Its package is imported there: no environment has them all.
"""

import importlib.metadata
import json
import pathlib
import sys
import time

import numpy as np
import scipy.sparse as sp

TOP = 100
BEAM = 50

# The settings of XR-Linear with the best figures that we know: negatives are also what the level above
# finds, and a cluster costs the more the more of a point's labels it holds.
PECOS_TUNED = {"negative_sampling_scheme": "tfn+man", "rel_mode": "induce", "rel_norm": "no-norm"}


def features(data, part):
    """Rows of length 1: where there are several kinds of terms, each of them alone has that length."""
    matrix = sp.load_npz(data / f"X.{part}.npz").tocsr().astype(np.float32)
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1))).ravel()
    matrix.data /= np.repeat(np.where(lengths > 0, lengths, 1), np.diff(matrix.indptr))
    matrix.sort_indices()
    return matrix


def labels(data):
    return sp.load_npz(data / "Y.trn.npz").astype(np.float32)


def scores(found, columns):
    """The matrix of a list of (label, score) pairs for each point."""
    starts = np.cumsum([0, *map(len, found)])
    indices = np.array([label for row in found for label, _ in row], dtype=np.int32)
    values = np.array([score for row in found for _, score in row], dtype=np.float32)
    return sp.csr_matrix((values, indices, starts), shape=(len(found), columns))


def timed(function, *arguments, **options):
    start = time.perf_counter()
    result = function(*arguments, **options)
    return result, time.perf_counter() - start


# --- PECOS XR-Linear --------------------------------------------------------------------------------

def pecos_fit(data, model, threads, **settings):
    from pecos.xmc import Indexer, LabelEmbeddingFactory
    from pecos.xmc.xlinear.model import XLinearModel
    x, y = features(data, "trn"), labels(data).tocsc()
    chain = Indexer.gen(LabelEmbeddingFactory.create(y, x, method="pifa"), threads=threads)
    XLinearModel.train(x, y, C=chain, threads=threads, **settings).save(str(model))


def pecos_tuned_fit(data, model, threads):
    pecos_fit(data, model, threads, **PECOS_TUNED)


def pecos_predict(data, model, threads):
    from pecos.xmc.xlinear.model import XLinearModel
    x, loaded = features(data, "tst"), XLinearModel.load(str(model), is_predict_only=True)
    return timed(loaded.predict, x, beam_size=BEAM, only_topk=TOP, threads=threads)


# --- napkinXC ---------------------------------------------------------------------------------------

def napkinxc_model(model, threads):
    from napkinxc.models import PLT
    return PLT(str(model), ensemble=3, seed=0, threads=threads)


def napkinxc_fit(data, model, threads):
    napkinxc_model(model, threads).fit(features(data, "trn"), labels(data).tocsr())


def napkinxc_predict(data, model, threads):
    loaded = napkinxc_model(model, threads)
    loaded.load()
    found, seconds = timed(loaded.predict_proba, features(data, "tst"), top_k=TOP)
    return scores(found, labels(data).shape[1]), seconds


# --- omikuji ----------------------------------------------------------------------------------------

def omikuji_fit(data, model, threads):
    from omikuji import Model
    Model.train_on_data(str(data / "trn.sparse"), Model.default_hyper_param(),
                        n_threads=threads).save(str(model))


def omikuji_predict(data, model, threads):
    """It takes one point at a time, as pairs, and spreads its trees over the threads."""
    from omikuji import Model
    loaded, x = Model.load(str(model)), features(data, "tst")
    loaded.init_prediction_thread_pool(threads)
    found, total = [], 0.0
    for row in range(x.shape[0]):
        here = slice(x.indptr[row], x.indptr[row + 1])
        pairs = list(zip(x.indices[here].tolist(), x.data[here].tolist()))
        best, seconds = timed(loaded.predict, pairs, beam_size=BEAM, top_k=TOP)
        found.append(best)
        total += seconds
    return scores(found, labels(data).shape[1]), total


# ----------------------------------------------------------------------------------------------------

# name: package, fit, predict
PEERS = {
    "pecos": ("libpecos", pecos_fit, pecos_predict),
    "pecos-tuned": ("libpecos", pecos_tuned_fit, pecos_predict),
    "napkinxc": ("napkinxc", napkinxc_fit, napkinxc_predict),
    "omikuji": ("omikuji", omikuji_fit, omikuji_predict),
}


def main():
    name, step, data, model, threads, *rest = sys.argv[1:]
    package, fit, predict = PEERS[name]
    data, model, threads = pathlib.Path(data), pathlib.Path(model), int(threads)
    if step == "fit":
        fit(data, model, threads)
        return
    matrix, seconds = predict(data, model, threads)
    sp.save_npz(rest[0], matrix.tocsr().astype(np.float32))
    pathlib.Path(rest[1]).write_text(json.dumps({
        "version": importlib.metadata.version(package),
        "milliseconds": 1000 * seconds / matrix.shape[0]}), encoding="utf-8")


if __name__ == "__main__":
    main()
