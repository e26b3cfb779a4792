"""Files that people take with them from the web: as a response, and as JSON for the chat page's script."""

import base64

from aiohttp import web

from core.domain.features import ExportedFile
from core.serializers.objects import Json


def file_response(file: ExportedFile) -> web.Response:
    return web.Response(
        body=file.data,
        content_type=file.content_type,
        charset="utf-8" if file.is_text else None,
        headers={"Content-Disposition": f'attachment; filename="{file.name}"'},
    )


def file_json(file: ExportedFile) -> Json:
    """`data` is Base64."""
    return {"name": file.name, "type": file.content_type, "data": base64.b64encode(file.data).decode()}
