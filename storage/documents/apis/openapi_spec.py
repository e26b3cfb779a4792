"""An OpenAPI or Swagger description as typed values: its service and its operations. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from core.errors import ReadError
from storage.documents.texts.structured import Value, list_of, mapping_of

# References that lead to references, as far as they are followed: more is a circle.
MAX_REFERENCES = 20
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")

_MARK = re.compile(
    rb"""^[ \t{]*["']?(?:openapi|swagger)["']?[ \t]*:[ \t]*["']?[123]\b|[{,]\s*"(?:openapi|swagger)"\s*:\s*"[123]\b""",
    re.MULTILINE,
)

Fields = Mapping[str, Value]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """A method on a path. `parameters` include the path's; the operation's own ones take precedence."""

    method: str  # upper case
    path: str
    fields: Fields
    parameters: tuple[Fields, ...]
    is_webhook: bool = False

    @property
    def name(self) -> str:
        return f"{'Webhook ' if self.is_webhook else ''}{self.method} {self.path}"

    @property
    def tags(self) -> tuple[str, ...]:
        return tuple(text_of(tag) for tag in list_of(self.fields.get("tags")) if text_of(tag))


def may_be_openapi(data: bytes) -> bool:
    """Return whether bytes of a JSON or YAML file have the version mark of OpenAPI or Swagger; cheap."""
    return bool(_MARK.search(data.replace(b"\0", b"")))


class Spec:
    """A description of one service. References are followed within the file only, and never fetched."""

    def __init__(self, value: Value) -> None:
        """ReadError when the value is no description with paths or webhooks."""
        if not isinstance(value, dict) or not ("openapi" in value or "swagger" in value):
            raise ReadError("not an OpenAPI description: it has no version of OpenAPI or Swagger")
        self.root: Fields = value
        self.info: Fields = mapping_of(value.get("info"))
        if not any(isinstance(value.get(key), dict) for key in ("paths", "webhooks", "components", "definitions")):
            raise ReadError("empty: the API description has no paths")

    @property
    def is_swagger(self) -> bool:
        return "swagger" in self.root

    @property
    def schemas(self) -> Fields:
        components = mapping_of(self.root.get("components"))
        return mapping_of(self.root.get("definitions") if self.is_swagger else components.get("schemas"))

    @property
    def security_schemes(self) -> Fields:
        components = mapping_of(self.root.get("components"))
        return mapping_of(
            self.root.get("securityDefinitions") if self.is_swagger else components.get("securitySchemes")
        )

    @property
    def base_urls(self) -> list[tuple[str, Fields]]:
        """Addresses as written, with the fields that describe each."""
        if not self.is_swagger:
            servers = [mapping_of(server) for server in list_of(self.root.get("servers"))]
            return [(text_of(server.get("url")), server) for server in servers if text_of(server.get("url"))]
        host, base = text_of(self.root.get("host")), text_of(self.root.get("basePath"))
        schemes = [text_of(scheme) for scheme in list_of(self.root.get("schemes"))] or ["https"]
        if not host:
            return [(base, {})] if base else []
        return [(f"{scheme}://{host}{base if base != '/' else ''}", {}) for scheme in schemes]

    def operations(self) -> Iterator[Operation]:
        """Yield the operations in the file's order, paths first."""
        for key, is_webhook in (("paths", False), ("webhooks", True)):
            for path, item in mapping_of(self.root.get(key)).items():
                yield from self.operations_of(path, self.follow(item), is_webhook=is_webhook)

    def operations_of(self, path: str, item: Fields, *, is_webhook: bool = False) -> Iterator[Operation]:
        for method, fields in item.items():
            if method.lower() in METHODS and isinstance(fields, dict):
                found: dict[tuple[str, str], Fields] = {}
                for parameter in [*list_of(item.get("parameters")), *list_of(fields.get("parameters"))]:
                    resolved = self.follow(parameter)
                    if resolved:
                        found[text_of(resolved.get("name")), text_of(resolved.get("in"))] = resolved
                yield Operation(
                    method=method.upper(),
                    path=path,
                    fields=fields,
                    parameters=tuple(found.values()),
                    is_webhook=is_webhook,
                )

    def follow(self, value: Value) -> Fields:
        """Return the mapping that a value is or refers to, {} for none; fields next to a reference take precedence."""
        fields = mapping_of(value)
        beside: dict[str, Value] = {}
        for _ in range(MAX_REFERENCES):
            reference = fields.get("$ref")
            if not isinstance(reference, str):
                return {**fields, **beside} if beside else fields
            beside = {**{key: inner for key, inner in fields.items() if key != "$ref"}, **beside}
            fields = mapping_of(self._find(reference))
        return beside

    def _find(self, reference: str) -> Value:
        if not reference.startswith("#/"):
            return None
        value: Value = dict(self.root)
        for part in unquote(reference[2:]).split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            if isinstance(value, dict):
                value = value.get(name)
            elif isinstance(value, list) and name.isdigit() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return value


def reference_name(value: Value) -> str:
    """Return the last part of a reference: "Pet" of "#/components/schemas/Pet"; "" for another value."""
    reference = mapping_of(value).get("$ref")
    if not isinstance(reference, str):
        return ""
    return unquote(reference.rstrip("/").rpartition("/")[2].replace("~1", "/").replace("~0", "~"))


def text_of(value: Value) -> str:
    """Return a scalar as written in the file, "" for any other value."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value).strip() if isinstance(value, str | int | float) else ""


def is_true(value: Value) -> bool:
    """Return whether a value means true; YAML scalars arrive as strings."""
    return value is True or text_of(value).lower() == "true"
