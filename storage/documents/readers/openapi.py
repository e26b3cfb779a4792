"""API descriptions (OpenAPI 3, Swagger 2): a page of the service, one for each operation, one of the schemas."""

from pathlib import Path

from core.domain.corpus import ParsedDocument
from core.text.words import collapse
from storage.documents.apis.openapi_pages import build_pages
from storage.documents.apis.openapi_spec import Spec, may_be_openapi, text_of
from storage.documents.foundry.export import is_json
from storage.documents.texts.encodings import clean, decode
from storage.documents.texts.structured import read_json, read_yaml

# Bytes of a file that `accepts` is shown: a shorter head is all of it.
_HEAD_BYTES = 4_096


class OpenApiReader:
    """Reads `.json`, `.yaml` and `.yml` files with a version of OpenAPI or Swagger.

    A page's text is Markdown written from the description: method, path, summary, parameters, bodies and responses as
    tables. References within the file are followed, others are named. The anchor of an operation is its `operationId`.
    """

    kind = "openapi"
    suffixes = frozenset({".json", ".yaml", ".yml"})
    expects = "an OpenAPI description"

    def accepts(self, path: Path, head: bytes) -> bool:
        return may_be_openapi(head) or (len(head) >= _HEAD_BYTES and may_be_openapi(path.read_bytes()))

    def read(self, path: Path, root: Path) -> ParsedDocument:
        decoded = decode(path.read_bytes())
        spec = Spec(read_json(decoded.text) if is_json(path, decoded.text) else read_yaml(decoded.text))
        title = collapse(clean(text_of(spec.info.get("title")))) or path.stem
        return ParsedDocument(
            title=title, kind=self.kind, pages=tuple(build_pages(spec, title)), warnings=decoded.warnings
        )
