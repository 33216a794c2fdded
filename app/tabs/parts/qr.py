"""The QR code of a link, so that a class opens on its phones what is on the projector."""

from __future__ import annotations

from pydantic import BaseModel, Field

from .request import answer

MAX_LENGTH = 2_000  # characters of a link; a code of more cannot be read from a distance


class Link(BaseModel):
    """What a code is asked for."""

    link: str = Field(pattern=r"^https?://", max_length=MAX_LENGTH)


def qr_code(request: object) -> str:
    """The code as JSON, {"rows": each a text of 0 and 1}, or {"error": a sentence}."""
    return answer(Link, request, squares)


def squares(request: Link) -> dict[str, list[str]]:
    """The squares of the code, row by row; 1 is dark."""
    import segno  # only when somebody asks

    # The lowest error correction, as the squares are largest then; a projector does not tear.
    code = segno.make(request.link, error="l", micro=False, boost_error=False)
    return {"rows": ["".join(map(str, row)) for row in code.matrix]}
