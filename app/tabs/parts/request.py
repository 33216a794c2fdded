"""How a figure of the page answers: the request is checked by its model, and what is wrong becomes
one sentence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from specviz.base.codec import dumps

from ...service.failures import reason

Request = TypeVar("Request", bound=BaseModel)


def answer(model: type[Request], request: Any, work: Callable[[Request], Any]) -> str:
    """What `work` makes of a request as JSON, or {"error": a sentence}; its `ValueError`s are
    shown."""
    try:
        return dumps(work(model.model_validate(request)))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = model.model_fields.get(str(first["loc"][0])) if first["loc"] else None
        name = (field.title if field else None) or ".".join(map(str, first["loc"])) or "The request"
        if first["type"] == "value_error":  # a sentence of ours
            return dumps({"error": first["msg"].removeprefix("Value error, ")})
        return dumps({"error": f"{name}: {first['msg'][:1].lower()}{first['msg'][1:]}."})
    except ValueError as error:
        return dumps({"error": str(error)})
    except Exception as error:
        return dumps({"error": f"The computation failed. {reason(error)}"})
