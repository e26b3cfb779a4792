"""Small PDF forms written by hand: labels, and fields of every kind with what is filled in."""

from collections.abc import Sequence
from dataclasses import dataclass

from tests.unit.storage.documents.pdf_files import Piece, _to_file, _to_text

Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Filled:
    """A field: `kind` is text, password, box or choice; `value` is "" where nothing is filled in."""

    box: Box
    value: str
    kind: str = "text"
    is_hidden: bool = False


def build_form(pieces: Sequence[Piece], fields: Sequence[Filled], rotation: int = 0) -> bytes:
    """A form of one page."""
    first = 6
    content = b"".join(_to_text(piece, b"1 0 0 1") for piece in pieces)
    numbers = b" ".join(b"%d 0 R" % (first + place) for place in range(len(fields)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [%s] /DA (/Helv 10 Tf) >> >>" % numbers,
        b"<< /Type /Pages /Kids [5 0 R] /Count 1 >>",
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 600 800] /Rotate %d /Contents 4 0 R /Annots [%s] "
        b"/Resources << /Font << /F1 3 0 R >> >> >>" % (rotation, numbers),
    ]
    return _to_file([*objects, *(_to_object(field, place) for place, field in enumerate(fields))])


def _to_object(field: Filled, place: int) -> bytes:
    box = b"%g %g %g %g" % field.box
    flags = 2 if field.is_hidden else 4
    common = b"/Type /Annot /Subtype /Widget /P 5 0 R /F %d /T (field%d) /Rect [%s]" % (flags, place, box)
    if field.kind == "box":
        state = b"/On" if field.value else b"/Off"
        return b"<< %s /FT /Btn /V %s /AS %s /AP << /N << /On 4 0 R /Off 4 0 R >> >> >>" % (common, state, state)
    value = (b"\xfe\xff" + field.value.encode("utf-16-be")).hex().encode()
    if field.kind == "choice":
        return b"<< %s /FT /Ch /Ff 131072 /Opt [[(a) (Adult)] [(c) (Child)]] /V <%s> >>" % (common, value)
    secret = 8192 if field.kind == "password" else 4096
    return b"<< %s /FT /Tx /Ff %d /V <%s> >>" % (common, secret, value)
