"""Makes the fixtures of transformer_fixture_test.cc and trained_transformer_test.cc.

    python -m venv V && V/bin/pip install torch transformers safetensors
    V/bin/python make_fixtures.py

A folder for each architecture, with a tiny random model as save_pretrained writes it, and
expected.safetensors: of the texts in texts.txt the token ids, the last hidden states, the vectors;
of a loss on these vectors its value and the gradient of every weight; and the weights after ten
steps of AdamW on it, with their losses. All in float32, without dropout.
"""

import pathlib
import shutil

import torch
from safetensors.torch import save_file
from transformers import (BertConfig, BertModel, BertTokenizer, DistilBertConfig, DistilBertModel,
                          set_seed)

HERE = pathlib.Path(__file__).parent / "fixtures"
TEXTS = ["A green forest!", "the quick brown fox jumps over the lazy dog", "Unaffordable",
         "forest, FOREST and caf\u00e9", "x", "the the the the the the the the the the the the the"]
PIECES = ("the quick brown fox jump over lazy dog forest and green cafe a un able . , ! "
          "##s ##aff ##ord ##able ##e").split()
MAX_LENGTH = 12
STEPS, RATE, DECAY = 10, 1e-3, 0.01


def vocabulary():
    letters = [chr(code) for code in range(ord("a"), ord("z") + 1)]
    pieces = PIECES + [letter for letter in letters if letter not in PIECES]
    return ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *dict.fromkeys(pieces)]


def loss_of(model, head, target, batch):
    vectors = model(**batch).last_hidden_state[:, 0]
    logits = vectors @ head["weights"].T + head["bias"]
    return torch.nn.functional.binary_cross_entropy_with_logits(logits, target)


def expected_of(model, tokenizer):
    batch = tokenizer(TEXTS, padding=True, truncation=True, max_length=MAX_LENGTH,
                      return_tensors="pt")
    batch = {key: value for key, value in batch.items() if key != "token_type_ids"}
    labels = 5
    head = {"weights": torch.randn(labels, model.config.hidden_size) * 0.5,
            "bias": torch.randn(labels) * 0.1}
    target = (torch.rand(len(TEXTS), labels) < 0.4).float()
    with torch.no_grad():
        hidden = model(**batch).last_hidden_state
    mask = batch["attention_mask"].unsqueeze(-1)
    expected = {"ids": batch["input_ids"].int(), "mask": batch["attention_mask"].int(),
                "hidden": hidden, "first": hidden[:, 0].contiguous(),
                "mean": (hidden * mask).sum(1) / mask.sum(1),
                "head.weights": head["weights"], "head.bias": head["bias"], "target": target}
    loss = loss_of(model, head, target, batch)
    loss.backward()
    expected["loss"] = loss.detach().reshape(1)
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            expected[f"gradient.{name}"] = parameter.grad.clone()
    # Weight decay is for matrices; the optimiser is of the whole model, the head stays.
    matrices = [p for p in model.parameters() if p.dim() == 2]
    others = [p for p in model.parameters() if p.dim() != 2]
    optimiser = torch.optim.AdamW([{"params": matrices, "weight_decay": DECAY},
                                   {"params": others, "weight_decay": 0.0}], lr=RATE, eps=1e-8)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        loss = loss_of(model, head, target, batch)
        losses.append(loss.item())
        loss.backward()
        optimiser.step()
    expected["losses"] = torch.tensor(losses)
    for name, parameter in model.named_parameters():
        if parameter.grad is not None:
            expected[f"trained.{name}"] = parameter.detach().clone()
    return {name: value.contiguous() for name, value in expected.items()}


def make(name, model):
    folder = HERE / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    torch.nn.init.normal_(model.embeddings.word_embeddings.weight, std=0.5)
    for parameter in model.parameters():  # biases and norms that differ from 0 and 1
        if parameter.dim() == 1:
            parameter.data += 0.1 * torch.randn_like(parameter)
        else:
            parameter.data += 0.2 * torch.randn_like(parameter)
    model.eval()
    model.save_pretrained(folder)
    (folder / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary()))
    tokenizer = BertTokenizer(str(folder / "vocab.txt"))
    save_file(expected_of(model, tokenizer), folder / "expected.safetensors")


def main():
    set_seed(1)
    sizes = {"vocab_size": len(vocabulary()), "max_position_embeddings": 16}
    make("bert", BertModel(BertConfig(**sizes, hidden_size=12, num_hidden_layers=2,
                                      num_attention_heads=3, intermediate_size=20,
                                      hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0),
                           add_pooling_layer=False))
    make("distilbert", DistilBertModel(DistilBertConfig(**sizes, dim=12, n_layers=2, n_heads=2,
                                                        hidden_dim=16, dropout=0.0,
                                                        attention_dropout=0.0)))
    (HERE / "texts.txt").write_text("".join(f"{text}\n" for text in TEXTS))


if __name__ == "__main__":
    main()
