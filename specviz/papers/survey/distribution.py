"""Section 5.3.3: the distribution is the target's, and why the residual is needed."""

import numpy as np

from ...builders import BUILDERS
from ...distributions import residual
from ...models.table import toy_pair
from ...proof.lossless import error_of
from ...verifiers import VERIFIERS
from ..entry import Entry, Table, judge, lab

P, Q = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])


def measure(bench):
    error, runs = error_of(
        BUILDERS["chain"].smallest(), VERIFIERS["speculative-sampling"](), toy_pair(seed=1, closeness=0.2)
    )
    accepted = np.minimum(P, Q)
    left = 1 - accepted.sum()
    return {
        "error": error,
        "runs": runs,
        "rows": [
            ["target p", *P.tolist()],
            ["corrected from norm([p - q]+)", *(accepted + left * residual(P, Q)).tolist()],
            ["corrected from p itself", *(accepted + left * P).tolist()],
        ],
    }


def verdict(data):
    wrong = max(abs(a - b) for a, b in zip(data["rows"][0][1:], data["rows"][2][1:], strict=True))
    return judge(
        data["error"] < 1e-12 and wrong > 1e-3,
        f"Over {data['runs']:,} enumerated outcomes of two steps the law of the text is the target's to "
        f"{data['error']:.0e}; without the adjustment, correcting from p itself, a token's probability is off by "
        f"{wrong:.2f} in the example.",
    )


ENTRY = Entry(
    "distribution",
    "Section 5.3.3",
    "The adjusted distribution makes it exact",
    "For any p and q, tokens of speculative decoding are distributed as those of p alone: what is accepted and what "
    "is resampled after a refusal add up to p.",
    verdict,
    measure=measure,
    how="exact",
    opens=(lab("verification", preset="several"),),
    shown=lambda data: [Table(("Law of one token", "token 1", "token 2", "token 3"), data["rows"])],
)
