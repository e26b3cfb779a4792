"""Pages of an API description: one of the service, one for each operation, one of all schemas. Pure."""

import json
from collections.abc import Iterator

from core.domain.corpus import ParsedPage
from storage.documents.apis.openapi_schema import MAX_FIELDS, Row, describe, rows_of, type_of, value_text
from storage.documents.apis.openapi_spec import Fields, Operation, Spec, is_true, list_of, mapping_of, text_of
from storage.documents.markup.markdown_writer import MarkdownWriter
from storage.documents.texts.structured import Value

# Characters of one example; longer ones are data.
MAX_EXAMPLE = 2_000
_FIELD_COLUMNS = ("Field", "Type", "Required", "Description")


def build_pages(spec: Spec, title: str) -> Iterator[ParsedPage]:
    """The service first, then its operations in the file's order, then the schemas."""
    operations = list(spec.operations())
    yield _to_page(_service(spec, title, operations), title, ())
    for operation in operations:
        yield _to_page(_operation(spec, operation), operation.name, operation.tags[:1])
    if spec.schemas:
        yield _to_page(_schemas(spec), "Schemas", ())


def _to_page(writer: MarkdownWriter, title: str, above: tuple[str, ...]) -> ParsedPage:
    text, headings, anchors = writer.finish()
    return ParsedPage(title=title, text=text, headings=headings, heading_path=above, anchors=anchors)


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
    _add_about(page, spec)
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
    """Which schemes have to be satisfied: "apiKey, or basic and oauth (scopes read)"."""
    choices = []
    for choice in list_of(value):
        names = []
        for name, scopes in mapping_of(choice).items():
            listed = ", ".join(text_of(scope) for scope in list_of(scopes))
            names.append(f"{name} (scopes {listed})" if listed else name)
        choices.append(" and ".join(names) or "none")
    return ", or ".join(choices)


def _add_about(page: MarkdownWriter, spec: Spec) -> None:
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
    """The schema of a parameter or header: its own, that of its content, or (Swagger 2) its own fields."""
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
    """Media types with their schemas; a schema that several of them share is told once."""
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


def _schemas(spec: Spec) -> MarkdownWriter:
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
    return page


def _summary(fields: Fields) -> str:
    return text_of(fields.get("summary")) or _one_line(fields.get("description"))


def _one_line(value: Value) -> str:
    lines = text_of(value).split("\n")
    return lines[0].strip()


def _yes(value: bool) -> str:
    return "yes" if value else "no"
