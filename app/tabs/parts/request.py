"""How a figure of the page answers: the request is checked by its model, and what is wrong becomes
one sentence."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Annotated, TypeVar

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from specviz.base.codec import json_data
from specviz.view.payload import page_json

from ...service.failures import explain

Request = TypeVar("Request", bound=BaseModel)
MOST_TOKENS = 8  # of a distribution that a visitor sets


def one_of(names: Iterable[str]) -> str:
    """A pattern that only these names match."""
    return f"^({'|'.join(names)})$"


def normalised(weights: tuple[float, ...]) -> tuple[float, ...]:
    """The probabilities of some weights; what is next to nothing becomes 0.

    Raises:
        ValueError: if no weight is above 0.
    """
    total = math.fsum(weights)
    if total == 0:
        raise ValueError("A row must have at least one weight above 0; all are 0.")
    # Divided twice, as the first division and the zeros leave a sum a little off 1.
    probs = []
    for weight in weights:
        probs.append(weight / total if weight > 1e-9 * total else 0.0)
    return tuple(prob / math.fsum(probs) for prob in probs)


Weight = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
# A distribution over a few tokens, as weights that a visitor sets.
Row = Annotated[
    tuple[Weight, ...],
    Field(min_length=2, max_length=MOST_TOKENS),
    AfterValidator(normalised),
]


def answer(model: type[Request], request: object, work: Callable[[Request], object]) -> str:
    """What `work` makes of a request as JSON, or {"error": a sentence}; its `ValueError`s are
    shown."""
    try:
        return page_json(json_data(work(model.model_validate(request))))
    except ValidationError as error:
        # One sentence about one mistake, with the field by its name on the page and, in a list, the
        # number of the entry.
        first = max(error.errors(include_url=False), key=lambda one: len(one["loc"]))
        field = None
        if first["loc"]:
            field = model.model_fields.get(str(first["loc"][0]))
        name = (field.title if field else None) or ".".join(map(str, first["loc"])) or "The request"
        if first["type"] == "value_error":  # a sentence of ours
            text = first["msg"].removeprefix("Value error, ")
        else:
            for part in first["loc"]:
                if isinstance(part, int):
                    name += f", entry {part + 1}"
            must = first["msg"].partition(" should ")[2].partition(",")[0]
            if field and field.annotation is int:
                low, high = field.metadata  # what pydantic made of `ge` and `le`
                must = f"be a whole number from {low.ge} to {high.le}"
            text = f"{name} must {must or 'be given'}; got {first['input']!r:.40}."
    except Exception as error:
        text = explain(error, "The computation failed.")
    return page_json({"error": text})
