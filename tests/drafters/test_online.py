"""A draft that learns while it drafts: exact, never late, each run with weights of its own."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import specviz
from specviz.decode import speculate
from specviz.drafters.models import Learning
from tests.proof.proofs import error_of

PAIR = specviz.toy_pair(seed=1, closeness=0.2)
ONLINE = "online:every=1"


def test_its_rows_depend_on_what_the_target_said():
    pair = specviz.toy_pair(vocab=5, seed=2)
    config = specviz.RunConfig("ab", "chain:depth=2", "sequoia", 1.0, max_new_tokens=30, seed=1)
    off, on = (list(speculate(pair, replace(config, drafter=who))) for who in (None, ONLINE))
    assert on[0].draft_prob == off[0].draft_prob  # nothing was learnt before the first step
    assert on[0].emitted == off[0].emitted and on[1].draft_prob[1:] != off[1].draft_prob[1:]


def test_it_learns_after_every_so_many_steps_and_not_between():
    learnt = []
    session = SimpleNamespace(
        commit=lambda *_: None, learn=lambda rows, temperature: learnt.append((step, len(rows)))
    )
    drafting = Learning("online", session, every=3, last=5)
    for step in range(1, 8):  # noqa: B007  session.learn reads it
        drafting.commit(None, (1,), [0, 1], SimpleNamespace(nodes=(0, 1), rows=np.eye(2)))
    assert learnt == [(3, 5), (6, 5)]


def test_a_row_that_learnt_from_the_token_drawn_from_it_is_caught(monkeypatch):
    """The proof can fail: the row is replaced, after the drawing, by one that has seen what was
    drawn."""
    shape, rule = specviz.BUILDERS["chain"](depth=2), specviz.VERIFIERS["block"]()
    honest = Learning.expand

    def late(self, tree, nodes, sampling):
        if nodes[0] > 0:
            seen = (
                tree.draft_distributions[0]
                + np.eye(len(tree.draft_distributions[0]))[tree.tokens[nodes[0]]]
            )
            tree.draft_distributions[0] = seen / seen.sum()
        return honest(self, tree, nodes, sampling)

    monkeypatch.setattr(Learning, "expand", late)
    assert error_of(shape, rule, PAIR, scheme="iid", drafter=ONLINE)[0] > 1e-3


# ---- weights -------------------------------------------------------------------------------------
# -------------------


@pytest.fixture(scope="module")
def embedded():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield specviz.load_pair(device="cpu", dtype="float32")
    torch.set_num_threads(threads)


@pytest.mark.adapter
def test_a_pair_whose_draft_has_no_weights_of_its_own_is_rejected_in_a_sentence(embedded):
    from specviz.models.early_exit import first_layers
    from specviz.models.huggingface_pair import HuggingFacePair

    for draft in (None, first_layers(embedded.target, 2)):
        with pytest.raises(ValueError, match="a draft with weights of its own"):
            HuggingFacePair._make_drafter(SimpleNamespace(draft=draft), "online", rate=1e-3)


@pytest.mark.adapter
def test_weights_of_a_run_are_its_own_and_what_drafts_follows_them(embedded):
    """After every step the rows are those of a fresh transformers pass over the weights as they are
    now."""
    import torch

    from specviz.tree import TokenTree

    before = [weight.clone() for weight in embedded.draft.model.parameters()]
    text = embedded.encode("Once upon a time there was a little")
    maker = embedded.drafter("online", rate=3e-3)
    one, other = maker.open(text), maker.open(text)
    rows = np.full((len(text) - 1, embedded.vocab_size), 1e-6, dtype=np.float32)
    rows[:, 7] = 1 - rows[:, 1:].sum(axis=1)

    def chance(session):
        tree = TokenTree(session.context[-1], start=len(session.context) - 1)
        tree.add(0, 11)
        found = session.forward(tree, [0, 1])
        with torch.no_grad():
            wanted = (
                session.weights(input_ids=torch.tensor([[*session.context, 11]]))
                .logits[0, -2:]
                .numpy()
            )
        np.testing.assert_allclose(found, wanted, atol=2e-3)
        return torch.softmax(torch.tensor(found[0]), -1)[7].item()

    chances = [chance(one)]
    for _ in range(3):
        one.learn(rows, 1.0)
        chances.append(chance(one))
    assert min(chances[1:]) > 10 * chances[0]
    assert chance(other) == pytest.approx(chances[0])
    assert all(
        torch.equal(now, then)
        for now, then in zip(embedded.draft.model.parameters(), before, strict=True)
    )
