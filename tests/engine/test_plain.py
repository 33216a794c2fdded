"""Plain decoding is the loop with nothing drafted: its text is the target's own, found here without
the loop."""

from dataclasses import replace

import numpy as np
import pytest

import specviz
from specviz.sampling.distributions import Sampling, probabilities
from specviz.sampling.randomness import Seeded

PLAIN = specviz.BUILDERS["plain"](), specviz.VERIFIERS["plain"]()


@pytest.mark.parametrize("temperature", [0.0, 0.7, 1.0])
@pytest.mark.parametrize("seed", range(3))
def test_every_token_is_argmin_e_over_p_at_its_position(temperature, seed):
    pair = specviz.toy_pair(vocab=6, seed=seed)
    config = specviz.RunConfig(
        "abca", temperature=temperature, top_k=5, max_new_tokens=20, seed=seed
    )
    text, rng = [*pair.encode("abca")], Seeded(seed)
    for _ in range(20):
        p = probabilities(pair.target.logits(text), Sampling(temperature, top_k=5))
        with np.errstate(divide="ignore"):
            arrivals = rng.noise(len(text), 6) / p
        text.append(int(np.argmin(arrivals) if temperature else np.argmax(p)))
        if text[-1] in pair.eos_ids:
            break
    assert list(specviz.autoregress(pair, config).tokens) == text[4:]


def test_plain_decoding_goes_with_itself_alone():
    config = specviz.RunConfig("abc", *PLAIN, 0.8)
    assert (
        specviz.compatible(config).lossless
        and specviz.compatible(replace(config, temperature=0.0)).lossless
    )
    for other in specviz.VERIFIERS.values():
        assert (
            specviz.compatible(replace(config, verifier=other())).possible == other.autoregressive
        )
    for other in specviz.BUILDERS.values():
        assert specviz.compatible(replace(config, builder=other())).possible == other.autoregressive
