"""The QR code of a link, so that a class opens on its phones what is on the projector."""

from __future__ import annotations

from pydantic import BaseModel, Field

from .request import answer

MAX_LENGTH = 2_000  # characters of a link; a code of more cannot be read from a distance


class Link(BaseModel):
    """What a code is asked for."""

    link: str = Field(pattern=r"^https?://", max_length=MAX_LENGTH)


def qr_code(request: object) -> str:
    """The code as JSON, {"image": its address}, or {"error": a sentence}."""
    return answer(Link, request, drawn)


def drawn(request: Link) -> dict[str, str]:
    """The code as an SVG in an address of its own, with the border that readers need."""
    import segno  # only when somebody asks

    # The lowest error correction, as the squares are largest then; a projector does not tear.
    code = segno.make(request.link, error="l", micro=False, boost_error=False)
    return {"image": code.svg_data_uri(border=4, light="#fff", omitsize=True)}
