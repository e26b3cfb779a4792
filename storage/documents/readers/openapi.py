"""API descriptions (OpenAPI 3, Swagger 2): a page of the service, one for each operation, one of all schemas."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from core.domain.corpus import ParsedDocument, ParsedPage
from core.text.words import collapse, shorten
from storage.documents.apis.openapi_spec import (
    Fields,
    Operation,
    Spec,
    is_true,
    may_be_openapi,
    reference_name,
    text_of,
)
from storage.documents.foundry.export import is_json
from storage.documents.markup.writers import MarkdownWriter
from storage.documents.texts.encodings import clean, decode
from storage.documents.texts.structured import Value, list_of, mapping_of, read_json, read_yaml

# Rows that a table of fields has at most, and levels of fields inside of fields that it shows.
MAX_FIELDS = 100
MAX_LEVELS = 3
# Values of an enumeration, and characters of one default or example, that are shown.
MAX_CHOICES = 50
MAX_VALUE = 200
# Levels of "array of array of" in a type.
_MAX_TYPE_LEVELS = 6
_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "more than",
    "exclusiveMaximum": "less than",
    "minLength": "characters at least",
    "maxLength": "characters at most",
    "minItems": "items at least",
    "maxItems": "items at most",
    "pattern": "pattern",
}


@dataclass(frozen=True, slots=True)
class Row:
    """A field: `name` with the names of those it is inside of, as "address.street" or "tags[].name"."""

    name: str
    type: str
    required: bool
    description: str


def type_of(spec: Spec, schema: Value, level: int = 0) -> str:
    """Return the type in words: "Pet", "array of string", "integer (int32)", "Cat or Dog"."""
    name = reference_name(schema)
    if name:
        return name
    fields = mapping_of(schema)
    if level >= _MAX_TYPE_LEVELS:
        return "object"
    for key, joint in (("oneOf", " or "), ("anyOf", " or "), ("allOf", " and ")):
        names = [type_of(spec, part, level + 1) for part in islice(list_of(fields.get(key)), MAX_CHOICES)]
        if names:
            return joint.join(dict.fromkeys(names))
    kind = fields.get("type")
    names = [text_of(item) for item in list_of(kind)] or [text_of(kind)]
    if "array" in names or "items" in fields:
        return f"array of {type_of(spec, fields.get('items'), level + 1)}"
    extra = fields.get("additionalProperties")
    if isinstance(extra, dict) and extra and "properties" not in fields:
        return f"map of {type_of(spec, extra, level + 1)}"
    written = " or ".join(filter(None, names)) or ("object" if "properties" in fields else "any")
    return f"{written} ({text_of(fields.get('format'))})" if text_of(fields.get("format")) else written


def describe(spec: Spec, schema: Value, description: str = "") -> str:
    """Return a value's description, choices, default, bounds and example."""
    fields = spec.follow(schema)
    said = description or text_of(fields.get("description")) or text_of(fields.get("title"))
    parts = []
    choices = list_of(fields.get("enum")) or list_of(mapping_of(fields.get("items")).get("enum"))
    if choices:
        shown = ", ".join(value_text(choice) for choice in choices[:MAX_CHOICES])
        parts.append(f"One of: {shown}{', …' if len(choices) > MAX_CHOICES else ''}.")
    if "const" in fields:
        parts.append(f"Always {value_text(fields['const'])}.")
    if fields.get("default") is not None:
        parts.append(f"Default: {value_text(fields['default'])}.")
    bounds = [f"{words} {text_of(fields.get(key))}" for key, words in _BOUNDS.items() if text_of(fields.get(key))]
    if bounds:
        parts.append(f"Bounds: {', '.join(bounds)}.")
    if fields.get("example") is not None and not isinstance(fields["example"], dict | list):
        parts.append(f"Example: {value_text(fields['example'])}.")
    marks = {"readOnly": "Read only.", "writeOnly": "Write only.", "deprecated": "Deprecated.", "nullable": "Nullable."}
    parts += [words for key, words in marks.items() if is_true(fields.get(key))]
    ended = f"{said}." if said and parts and said[-1] not in ".!?:" else said
    return " ".join(filter(None, [ended, *parts]))


def value_text(value: Value) -> str:
    if isinstance(value, dict | list):
        return shorten(json.dumps(value, ensure_ascii=False), MAX_VALUE)
    return shorten(text_of(value), MAX_VALUE) if value is not None else "null"


def rows_of(spec: Spec, schema: Value, levels: int = MAX_LEVELS) -> list[Row]:
    """Return the fields of a schema, each followed by its inner fields, at most MAX_FIELDS + 1."""
    return list(islice(_rows(spec, schema, "", levels, ()), MAX_FIELDS + 1))


def _rows(spec: Spec, schema: Value, prefix: str, levels: int, seen: tuple[str, ...]) -> Iterator[Row]:
    inner, prefix = _through_arrays(spec, schema, prefix)
    properties, required = _properties(spec, inner)
    for name, field in properties.items():
        full = f"{prefix}{name}"
        yield Row(full, type_of(spec, field), name in required, describe(spec, field))
        own = _names(field)
        if levels > 1 and not set(own) & set(seen):
            yield from _rows(spec, field, f"{full}.", levels - 1, (*seen, *own))


def _through_arrays(spec: Spec, schema: Value, prefix: str) -> tuple[Fields, str]:
    fields = spec.follow(schema)
    for _ in range(_MAX_TYPE_LEVELS):
        if "items" not in fields:
            break
        prefix = f"{prefix.removesuffix('.')}[]." if prefix else "[]."
        fields = spec.follow(fields["items"])
    return fields, prefix


def _names(field: Value) -> list[str]:
    fields = mapping_of(field)
    return [name for name in (reference_name(field), reference_name(fields.get("items"))) if name]


def _properties(spec: Spec, fields: Fields) -> tuple[Mapping[str, Value], set[str]]:
    """Return the properties of a schema and of all its parts, and the names of the required ones."""
    properties: dict[str, Value] = {}
    required: set[str] = set()
    waiting: list[tuple[Fields, int]] = [(fields, 0)]
    while waiting and len(properties) <= MAX_FIELDS:
        part, level = waiting.pop(0)
        properties.update(
            (name, field) for name, field in mapping_of(part.get("properties")).items() if field is not None
        )
        required.update(text_of(name) for name in list_of(part.get("required")))
        if level < _MAX_TYPE_LEVELS:
            for key in ("allOf", "oneOf", "anyOf"):
                parts = islice(list_of(part.get(key)), MAX_CHOICES)
                waiting += [(spec.follow(item), level + 1) for item in parts]
    return properties, required


# Characters of one example; longer ones are data.
MAX_EXAMPLE = 2_000
_FIELD_COLUMNS = ("Field", "Type", "Required", "Description")


def build_pages(spec: Spec, title: str) -> Iterator[ParsedPage]:
    """Yield the page of the service, its operations in the file's order, then the schemas."""
    operations = list(spec.operations())
    yield _service(spec, title, operations).to_page(title)
    for operation in operations:
        yield _operation(spec, operation).to_page(operation.name, heading_path=operation.tags[:1])
    if spec.schemas:
        page = MarkdownWriter()
        page.add_heading(2, "Schemas")
        for name, schema in spec.schemas.items():
            fields = spec.follow(schema)
            page.add_heading(3, name)
            page.add_item(f"Type: {type_of(spec, schema)}")
            page.add(describe(spec, schema))
            _add_fields(page, rows_of(spec, schema, levels=2))
            if isinstance(fields.get("example"), dict | list):
                page.add(f"Example: `{value_text(fields['example'])}`")
        yield page.to_page("Schemas")


def _service(spec: Spec, title: str, operations: list[Operation]) -> MarkdownWriter:
    page = MarkdownWriter()
    page.add_heading(1, title)
    version = text_of(spec.info.get("version"))
    if version:
        page.add(f"Version: {version}")
    page.add(text_of(spec.info.get("summary")))
    page.add(text_of(spec.info.get("description")))
    _add_servers(page, spec)
    _add_security(page, spec)
    _add_operations(page, "Endpoints", [item for item in operations if not item.is_webhook])
    _add_operations(page, "Webhooks", [item for item in operations if item.is_webhook])
    tags = [mapping_of(tag) for tag in list_of(spec.root.get("tags"))]
    described = [tag for tag in tags if text_of(tag.get("description"))]
    if described:
        page.add_heading(2, "Tags")
        for tag in described:
            page.add_item(f"**{text_of(tag.get('name'))}**: {text_of(tag.get('description'))}")
    contact, licence = mapping_of(spec.info.get("contact")), mapping_of(spec.info.get("license"))
    documents = mapping_of(spec.root.get("externalDocs"))
    lines = {
        "Contact": [contact.get("name"), contact.get("email"), contact.get("url")],
        "Licence": [licence.get("name"), licence.get("url")],
        "Terms of service": [spec.info.get("termsOfService")],
        "More": [documents.get("description"), documents.get("url")],
    }
    told = {name: " ".join(filter(None, map(text_of, values))) for name, values in lines.items()}
    if any(told.values()):
        page.add_heading(2, "About")
        for name, text in told.items():
            page.add_item(f"{name}: {text}" if text else "")
    return page


def _add_operations(page: MarkdownWriter, heading: str, operations: list[Operation]) -> None:
    if operations:
        page.add_heading(2, heading)
        rows = [(operation.method, operation.path, _summary(operation.fields)) for operation in operations]
        page.add_table(rows, columns=("Method", "Path" if heading == "Endpoints" else "Name", "Summary"))


def _add_servers(page: MarkdownWriter, spec: Spec) -> None:
    urls = spec.base_urls
    if not urls:
        return
    page.add_heading(2, "Base URL" if len(urls) == 1 else "Base URLs")
    for url, server in urls:
        said = text_of(server.get("description"))
        page.add_item(f"{url}{f': {said}' if said else ''}")
        for name, variable in mapping_of(server.get("variables")).items():
            page.add_item(f"{{{name}}}: {describe(spec, variable)}", level=1)


def _add_security(page: MarkdownWriter, spec: Spec) -> None:
    schemes = spec.security_schemes
    if not schemes:
        return
    page.add_heading(2, "Authentication")
    for name, value in schemes.items():
        scheme = spec.follow(value)
        page.add_item(f"**{name}**: {_security_text(scheme)}")
    default = _requirements(spec.root.get("security"))
    if default:
        page.add(f"Used by default: {default}")


def _security_text(scheme: Fields) -> str:
    kind = text_of(scheme.get("type"))
    parts = [kind]
    if text_of(scheme.get("scheme")):
        parts.append(f"scheme {text_of(scheme.get('scheme'))}")
    if text_of(scheme.get("name")):
        parts.append(f"{text_of(scheme.get('in'))} parameter {text_of(scheme.get('name'))}")
    if text_of(scheme.get("openIdConnectUrl")):
        parts.append(text_of(scheme.get("openIdConnectUrl")))
    flows = mapping_of(scheme.get("flows")) or (
        {text_of(scheme.get("flow")): dict(scheme)} if scheme.get("flow") else {}
    )
    for flow, fields in flows.items():
        scopes = ", ".join(mapping_of(mapping_of(fields).get("scopes")))
        urls = [text_of(mapping_of(fields).get(key)) for key in ("authorizationUrl", "tokenUrl")]
        parts.append(" ".join(filter(None, [f"flow {flow}", *urls, f"scopes {scopes}" if scopes else ""])))
    said = text_of(scheme.get("description"))
    return ", ".join(filter(None, parts)) + (f". {said}" if said else "")


def _requirements(value: Value) -> str:
    """Return the alternatives of required schemes: "apiKey, or basic and oauth (scopes read)"."""
    choices = []
    for choice in list_of(value):
        names = []
        for name, scopes in mapping_of(choice).items():
            listed = ", ".join(text_of(scope) for scope in list_of(scopes))
            names.append(f"{name} (scopes {listed})" if listed else name)
        choices.append(" and ".join(names) or "none")
    return ", or ".join(choices)


def _operation(spec: Spec, operation: Operation) -> MarkdownWriter:
    page = MarkdownWriter()
    fields = operation.fields
    identifier = text_of(fields.get("operationId"))
    page.add_heading(2, operation.name, anchors=(identifier,) if identifier else ())
    page.add(text_of(fields.get("summary")))
    page.add(text_of(fields.get("description")))
    page.add_item("Deprecated" if is_true(fields.get("deprecated")) else "")
    page.add_item(f"operationId: {identifier}" if identifier else "")
    page.add_item(f"Tags: {', '.join(operation.tags)}" if operation.tags else "")
    needed = _requirements(fields.get("security"))
    page.add_item(f"Authentication: {needed}" if needed else "")
    _add_parameters(page, spec, operation)
    _add_body(page, spec, operation)
    _add_responses(page, spec, fields)
    _add_callbacks(page, spec, fields)
    return page


def _add_parameters(page: MarkdownWriter, spec: Spec, operation: Operation) -> None:
    parameters = [item for item in operation.parameters if text_of(item.get("in")) != "body"]
    if not parameters:
        return
    page.add_heading(3, "Parameters")
    rows = []
    for item in parameters:
        schema = _schema_of(item)
        place = text_of(item.get("in"))
        required = place == "path" or is_true(item.get("required"))
        said = describe(spec, schema, text_of(item.get("description")))
        rows.append((text_of(item.get("name")), place, type_of(spec, schema), _yes(required), said))
    page.add_table(rows, columns=("Name", "In", "Type", "Required", "Description"))


def _schema_of(item: Fields) -> Value:
    """Return the schema of a parameter or header: its own, that of its content, or (Swagger 2) its own fields."""
    if "schema" in item:
        return item["schema"]
    contents = list(mapping_of(item.get("content")).values())
    return mapping_of(contents[0]).get("schema") if contents else dict(item)


def _add_body(page: MarkdownWriter, spec: Spec, operation: Operation) -> None:
    body = spec.follow(operation.fields.get("requestBody"))
    old = next((item for item in operation.parameters if text_of(item.get("in")) == "body"), None)
    if old is not None:
        body = {**old, "content": {"": {"schema": old.get("schema")}}}
    if not body:
        return
    page.add_heading(3, "Request body")
    page.add(text_of(body.get("description")))
    page.add_item("Required" if is_true(body.get("required")) else "")
    _add_content(page, spec, mapping_of(body.get("content")))


def _add_content(page: MarkdownWriter, spec: Spec, content: Fields) -> None:
    """Add media types with their schemas; a shared schema is written once."""
    told: list[Value] = []
    for media, value in content.items():
        fields = mapping_of(value)
        schema = fields.get("schema")
        rows = rows_of(spec, schema, levels=2) if schema and schema not in told else []
        said = describe(spec, schema) if schema and schema not in told and not rows else ""
        page.add_item(": ".join(filter(None, (media, type_of(spec, schema) if schema else "", said))))
        told.append(schema)
        _add_fields(page, rows)
        for example in _examples(spec, fields):
            page.add_code(example, "json")


def _add_fields(page: MarkdownWriter, rows: list[Row]) -> None:
    if rows:
        shown = [(row.name, row.type, _yes(row.required), row.description) for row in rows[:MAX_FIELDS]]
        page.add_table(shown, columns=_FIELD_COLUMNS)
    if len(rows) > MAX_FIELDS:
        page.add(f"More fields than the {MAX_FIELDS} shown here.")


def _examples(spec: Spec, fields: Fields) -> Iterator[str]:
    named = [spec.follow(example).get("value") for example in mapping_of(fields.get("examples")).values()]
    for value in [fields.get("example"), *named]:
        if isinstance(value, dict | list) and value:
            written = json.dumps(value, ensure_ascii=False, indent=2)
            if len(written) <= MAX_EXAMPLE:
                yield written


def _add_responses(page: MarkdownWriter, spec: Spec, fields: Fields) -> None:
    responses = mapping_of(fields.get("responses"))
    if not responses:
        return
    page.add_heading(3, "Responses")
    told = {status: spec.follow(response) for status, response in responses.items()}
    rows = [(status, _one_line(item.get("description")), _content_type(spec, item)) for status, item in told.items()]
    page.add_table(rows, columns=("Status", "Description", "Content"))
    for status, item in told.items():
        content = _contents(item)
        headers = mapping_of(item.get("headers"))
        if not content and not headers:
            continue
        page.add_heading(4, f"Response {status}")
        _add_content(page, spec, content)
        header_rows = [(name, *_header(spec, value)) for name, value in headers.items()]
        page.add_table(header_rows, columns=("Header", "Type", "Description"))


def _contents(response: Fields) -> Fields:
    if "schema" in response:  # Swagger 2
        examples = list(mapping_of(response.get("examples")).values())
        return {"": {"schema": response["schema"], "example": examples[0] if examples else None}}
    return mapping_of(response.get("content"))


def _content_type(spec: Spec, response: Fields) -> str:
    kinds = [type_of(spec, mapping_of(value).get("schema")) for value in _contents(response).values()]
    return ", ".join(dict.fromkeys(kinds))


def _header(spec: Spec, value: Value) -> tuple[str, str]:
    header = spec.follow(value)
    schema = _schema_of(header)
    return type_of(spec, schema), describe(spec, schema, text_of(header.get("description")))


def _add_callbacks(page: MarkdownWriter, spec: Spec, fields: Fields) -> None:
    callbacks = mapping_of(fields.get("callbacks"))
    if not callbacks:
        return
    page.add_heading(3, "Callbacks")
    for name, value in callbacks.items():
        for expression, item in spec.follow(value).items():
            for called in spec.operations_of(expression, spec.follow(item)):
                said = _summary(called.fields)
                page.add_item(f"**{name}**: {called.method} {expression}{f': {said}' if said else ''}")


def _summary(fields: Fields) -> str:
    return text_of(fields.get("summary")) or _one_line(fields.get("description"))


def _one_line(value: Value) -> str:
    lines = text_of(value).split("\n")
    return lines[0].strip()


def _yes(value: bool) -> str:
    return "yes" if value else "no"


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
