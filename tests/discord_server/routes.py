"""The HTTP API: simcord's routes, and what it leaves out: nonces, archived and locked threads, sizes, closed DMs."""

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

from simcord.backend import serializers
from simcord.backend.errors import BackendError
from simcord.backend.models import Channel, Message
from simcord.enums import ChannelType
from simcord.http import routes as _simcord_routes  # noqa: F401 - importing registers them
from simcord.http.router import UnsupportedField, dispatch

from tests.discord_server.calls import Call
from tests.discord_server.world import World

LONGEST_THREAD_NAME = 100  # characters
LONGEST_NONCE = 25  # characters
NONCE_LIFE = dt.timedelta(minutes=5)  # "a few minutes"
LARGEST_UPLOAD = 10 * 1024 * 1024  # bytes a file, without boosts
MOST_UPLOADS = 10
MOST_BYTES, BYTES_EACH = 10_170, 12  # of all text displays, and for each (discord-api-docs#8554)
OWNERS_THREAD_FIELDS = {"name", "archived", "auto_archive_duration", "applied_tags", "invitable", "rate_limit_per_user"}

THREAD_EXISTS = (400, 160004, "A thread has already been created for this message")
THREAD_LOCKED = (403, 160005, "Thread is locked")
ARCHIVED_AND_LOCKED = (403, 50083, "Thread is archived")
THREAD_ARCHIVED = (400, 50083, "Thread is archived")
TEXT_DISPLAY = 10
TOO_LARGE = (413, 40005, "Request entity too large")
NO_DIRECT_MESSAGES = (403, 50007, "Cannot send messages to this user")
MISSING_PERMISSIONS = (403, 50013, "Missing Permissions")


class Api:
    """Answers one call at a time with what Discord would say; raises BackendError for what it would refuse."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._backend = world.backend
        self._nonces: dict[tuple[int, str], tuple[dt.datetime, int]] = {}  # (channel, nonce) -> when, message id
        self.largest_upload = LARGEST_UPLOAD
        self.gateway_address = ""
        self.deduplicated = 0  # posts answered with an earlier message

    def answer(self, call: Call) -> Any:
        """The reply's JSON; None: 204."""
        own = self._find(call)
        return own() if own is not None else self._simcord(call)

    def _simcord(self, call: Call) -> Any:
        return dispatch(
            self._backend,
            call.method,
            call.path,
            json=call.json,
            params=dict(call.params),
            files=list(call.files),
            reason=call.reason,
            message_content_access=self._world.approved_intents.message_content,
        )

    def _find(self, call: Call) -> Callable[[], Any] | None:
        self._check_sizes(call)
        match call.method, call.parts:
            case "GET", ["gateway", *_]:
                return self._gateway
            case "GET", ["oauth2", "applications", "@me"]:
                return lambda: {**self._simcord(call), "flags": self._world.application_flags}
            case "POST", ["channels", channel, "messages"]:
                return lambda: self._post(call, self._backend.get_channel(int(channel)))
            case "PATCH" | "DELETE", ["channels", channel, "messages", *_]:
                self._check_open(int(channel))
            case "PUT", ["channels", channel, "messages" | "thread-members", *_]:
                self._check_open(int(channel))
            case "POST", ["channels", channel, "messages", message, "threads"]:
                return lambda: self._thread_on(call, int(channel), int(message))
            case "POST", ["channels", _, "threads"]:
                _check_name(call)
            case "PATCH", ["channels", channel] if self._is_thread(channel):
                return lambda: self._edit_thread(call, self._backend.get_channel(int(channel)))
            case "DELETE", ["channels", channel] if self._is_thread(channel):
                return lambda: self._delete_thread(self._backend.get_channel(int(channel)))
            case "POST", ["interactions", interaction, _, "callback"] if call.body.get("type") in (4, 5):
                self._check_interaction(self._backend.interactions.get(int(interaction)))
            case "POST", ["webhooks", _, token] if token in self._backend.interaction_tokens:
                self._check_interaction(self._backend.interactions[self._backend.interaction_tokens[token]])
        return None

    def _gateway(self) -> dict[str, Any]:
        starts = {"total": 1000, "remaining": 999, "reset_after": 86_400_000, "max_concurrency": 1}
        return {"url": self.gateway_address, "shards": self._world._shard_count, "session_start_limit": starts}

    # ------------------------------------------------------------------ posts

    def _post(self, call: Call, channel: Channel) -> Any:
        nonce = call.body.get("nonce")
        if nonce is not None and len(str(nonce)) > LONGEST_NONCE:
            raise _invalid("nonce", "BASE_TYPE_MAX_LENGTH", f"Must be {LONGEST_NONCE} or fewer in length.")
        key = (channel.id, str(nonce)) if nonce is not None and call.body.get("enforce_nonce") else None
        if key is not None and (earlier := self._earlier(*key)) is not None:
            self.deduplicated += 1
            return {**serializers.message_payload(self._backend, earlier), "nonce": nonce}
        if self._world.closed_dms.intersection(channel.recipient_ids):
            raise BackendError(*NO_DIRECT_MESSAGES)
        self._check_writable(channel)
        reply = self._carry_out_in(channel, call)
        if key is not None:
            self._nonces[key] = (self._backend.clock.now(), int(reply["id"]))
        return {**reply, "nonce": nonce}

    def _carry_out_in(self, channel: Channel, call: Call) -> Any:
        """A post that is made opens its archived thread; a refused one does not."""
        state = channel.thread_metadata
        if state is None or not state.archived:
            return self._simcord(call)
        state.archived = False
        try:
            reply = self._simcord(call)
        except BackendError:
            state.archived = True
            raise
        self._world.set_thread(self._world.place(channel.id), archived=False)
        return reply

    def _earlier(self, channel_id: int, nonce: str) -> Message | None:
        when, message_id = self._nonces.get((channel_id, nonce), (None, 0))
        if when is None or self._backend.clock.now() - when > NONCE_LIFE:
            return None
        return self._backend.messages.get(channel_id, {}).get(message_id)

    def _check_sizes(self, call: Call) -> None:
        if len(call.files) > MOST_UPLOADS or any(len(file.data) > self.largest_upload for file in call.files):
            raise BackendError(*TOO_LARGE)
        texts = [one.encode() for one in _texts_in(call.body.get("components"))] if isinstance(call.body, dict) else []
        if sum(len(text) + BYTES_EACH for text in texts) > MOST_BYTES:
            raise BackendError(500, 0, "Internal Server Error")

    # ------------------------------------------------------------------ threads

    def _is_thread(self, channel_id: str) -> bool:
        channel = self._backend.channels.get(int(channel_id))
        return channel is not None and channel.is_thread

    def _may(self, channel: Channel, permission: str) -> bool:
        try:
            self._backend.require_permissions(channel.guild_id, self._backend.bot_user.id, channel.id, permission)
        except BackendError:
            return False
        return True

    def _check_writable(self, channel: Channel) -> None:
        """A locked thread is open to moderators alone."""
        state = channel.thread_metadata
        if state is not None and state.locked and not self._may(channel, "manage_threads"):
            raise BackendError(*(ARCHIVED_AND_LOCKED if state.archived else THREAD_LOCKED))

    def _check_open(self, channel_id: int) -> None:
        """Editing, deleting and reacting do not open an archived thread: they are refused."""
        channel = self._backend.channels.get(channel_id)
        if channel is not None and channel.thread_metadata is not None and channel.thread_metadata.archived:
            raise BackendError(*THREAD_ARCHIVED)

    def _check_interaction(self, interaction: Any) -> None:
        if interaction is not None:
            self._check_writable(self._backend.get_channel(interaction.channel_id))

    def _thread_on(self, call: Call, channel_id: int, message_id: int) -> Any:
        _check_name(call)
        backend, bot = self._backend, self._backend.bot_user.id
        channel = backend.get_channel(channel_id)
        if channel.type not in (ChannelType.TEXT, ChannelType.NEWS):
            raise BackendError(400, 50024, "Cannot execute action on this channel type")
        backend.require_permissions(channel.guild_id, bot, channel_id, "create_public_threads", "read_message_history")
        message = backend.get_message(channel_id, message_id)
        if message_id in backend.channels:
            raise BackendError(*THREAD_EXISTS)
        minutes = int(call.body.get("auto_archive_duration") or 1440)
        thread = self._world.thread_on(message, call.body["name"], bot, minutes)
        return serializers.thread_payload(backend, thread)

    def _edit_thread(self, call: Call, thread: Channel) -> Any:
        changes, state = call.body, thread.thread_metadata
        assert state is not None
        if "name" in changes:
            _check_name(call)
        unknown = sorted(changes.keys() - OWNERS_THREAD_FIELDS - {"locked"})
        if unknown:
            raise UnsupportedField(call.method, call.path, unknown)
        self._check_may_edit(thread, changes)
        if state.archived and changes.get("archived") is not False:
            raise BackendError(*THREAD_ARCHIVED)
        metadata = {key: changes[key] for key in changes if hasattr(state, key)}
        if "archived" in metadata:
            metadata["archive_timestamp"] = self._backend.now_iso()
        fields: dict[str, Any] = {key: changes[key] for key in ("name", "rate_limit_per_user") if key in changes}
        if "applied_tags" in changes:
            fields["applied_tags"] = [int(tag) for tag in changes["applied_tags"]]
        self._backend.edit_channel(thread.id, fields, thread_metadata=metadata)
        return serializers.thread_payload(self._backend, thread)

    def _check_may_edit(self, thread: Channel, changes: dict[str, Any]) -> None:
        """Moderators all; its owner what is not locking; anybody who may write in it: to reopen it."""
        if self._may(thread, "manage_threads"):
            return
        state, own = thread.thread_metadata, thread.owner_id == self._backend.bot_user.id
        allowed = OWNERS_THREAD_FIELDS if own else {"archived"} if changes.get("archived") is False else set()
        if state is None or state.locked or not changes.keys() <= allowed:
            raise BackendError(*MISSING_PERMISSIONS)
        if not self._may(thread, "send_messages_in_threads"):
            raise BackendError(*MISSING_PERMISSIONS)

    def _delete_thread(self, thread: Channel) -> Any:
        if not self._may(thread, "manage_threads"):
            raise BackendError(*MISSING_PERMISSIONS)
        payload = serializers.thread_payload(self._backend, thread)
        self._backend.delete_channel(thread.id)
        return payload


def _texts_in(components: Any) -> Iterator[str]:
    """The texts that are shown, in boxes too."""
    for one in components or ():
        if one.get("type") == TEXT_DISPLAY:
            yield str(one.get("content"))
        yield from _texts_in(one.get("components"))


def _check_name(call: Call) -> None:
    name = call.body.get("name")
    if not isinstance(name, str) or not 1 <= len(name.strip()) <= LONGEST_THREAD_NAME:
        text = f"Must be between 1 and {LONGEST_THREAD_NAME} in length."
        raise _invalid("name", "BASE_TYPE_BAD_LENGTH", text)


def _invalid(field: str, code: str, text: str) -> BackendError:
    return BackendError(400, 50035, "Invalid Form Body", errors={field: {"_errors": [{"code": code, "message": text}]}})
