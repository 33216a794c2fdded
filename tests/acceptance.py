"""The acceptance of one rule on texts, as tests ask for it."""

from specviz.base.progress import final_result
from specviz.measure.on_text import measure_acceptance


def acceptance_vector(pair, rule, texts, config, width=16):
    """What `measure_acceptance` finds in the end of a single rule."""
    return final_result(measure_acceptance(pair, [rule], texts, config, width))[0]
