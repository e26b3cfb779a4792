// The chat page: reads a thread's state, follows its events, and sends messages.

import { api, placePath } from "./api.js";
import { Composer } from "./composer.js";
import { ask } from "./dialogs.js";
import { arrange, byId, el } from "./dom.js";
import { watchNotes } from "./notes.js";
import { drawSide } from "./side.js";
import { messageNode, resultNode, threadCard, waitingNode } from "./view.js";

const NEAR_END = 120; // pixels: a reader this near to the end stays at the end
const REOPEN_AFTER = 2000; // milliseconds after the service closed the stream

// `reading` is the ID of a conversation on another platform, shown read-only.
const here = { channel: "general", thread: "", reading: "", state: null, home: null, stream: null, kept: new Map(), live: new Map(), visit: 0, asked: 0, shown: 0 };
let unsent = null; // {text, key} of the last failed message; a retry uses the same key

const address = (channel, thread) => thread ? `/c/${encodeURIComponent(channel)}/${encodeURIComponent(thread)}`
  : channel === "general" ? "/" : `/c/${encodeURIComponent(channel)}`;

const actions = {
  address,
  mayAnswer: () => !here.reading,
  isMine: (author) => author === here.home?.person,
  ask: (question) => sendText(here.thread ? question : `@footnote ${question}`),
  follow(event) {
    if (event.metaKey || event.ctrlKey || event.shiftKey) return;
    event.preventDefault();
    visit(event.currentTarget.getAttribute("href"), { push: true });
  },
  async stop(key, button) {
    button.disabled = true;
    button.textContent = "Stopping …";
    await attempt(() => api.stop(key));
  },
  again: (message) => attempt(() => api.again(here.channel, here.thread, message)),
  async rate(message, value) {
    const rated = await attempt(() => api.rate(here.channel, here.thread, message, value));
    if (!rated) return;
    await refresh();
    if (rated.told) problem(rated.told); // a notice in the same place
  },
};

async function attempt(work) {
  try {
    problem("");
    return (await work()) ?? true;
  } catch (error) {
    problem(error.message);
    return null;
  }
}

function problem(sentence) {
  byId("problem").textContent = sentence;
  byId("problem").hidden = !sentence;
}

async function visit(path, { push = false } = {}) {
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  if (push) history.pushState(null, "", path);
  here.reading = parts[0] === "read" ? parts[1] || "" : "";
  here.channel = here.reading ? "general" : parts[1] || "general";
  here.thread = here.reading ? "" : parts[2] || "";
  here.visit += 1;
  here.kept.clear();
  here.live.clear();
  here.state = null;
  byId("messages").replaceChildren();
  showSide(false);
  problem("");
  if (await refresh()) {
    scrollToEnd();
    if (push) byId("title").focus({ preventScroll: true });
  }
}

async function refresh() {
  const visited = here.visit;
  const asked = here.asked += 1;
  try {
    const [home, state] = await Promise.all([api.home(), here.reading ? api.read(here.reading) : api.show(here.channel, here.thread)]);
    if (visited !== here.visit || asked < here.shown) return false; // a newer state is shown already
    here.shown = asked;
    if (state.place) { // it is a conversation of this page after all
      history.replaceState(null, "", address(...state.place));
      return visit(location.pathname);
    }
    const isFirst = here.state === null;
    Object.assign(here, { home, state });
    draw();
    if (here.reading) leaveStream();
    else if (isFirst || !here.stream) follow(state.cursor);
    return true;
  } catch (error) {
    if (visited !== here.visit) return false;
    problem(error.message);
    if (error.status === 404 && (here.thread || here.reading)) visit(address(here.channel, ""), { push: true }).then(() => problem(error.message));
    return false;
  }
}

let refreshing = 0;
function refreshSoon() {
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, 60);
}

function draw() {
  const { state, home } = here;
  document.title = `${state.title} · Footnote`;
  byId("title").textContent = state.title;
  byId("person").textContent = home.person || "Choose a name";
  byId("tools").hidden = !here.thread;
  byId("up").hidden = !here.thread && !here.reading;
  byId("up").textContent = here.reading ? "Back to the chat" : `#${here.channel}`;
  byId("up").href = address(here.channel, "");
  for (const format of ["markdown", "pdf", "json"]) byId(`export-${format}`).href = `${placePath(here.channel, here.thread)}/export?format=${format}`;
  byId("text").placeholder = here.thread ? "Ask a follow-up, or / for commands" : `Ask with @footnote, or write to #${here.channel}`;
  byId("hint").textContent = here.thread ? "Every message here is a question, unless it begins with @name." : "@footnote starts a thread. Other messages are for people.";
  byId("composer").hidden = Boolean(here.reading);
  byId("elsewhere").hidden = !here.reading;
  byId("elsewhere").textContent = state.note || "";
  drawSide(home, here, actions);
  drawWelcome();
  drawMessages();
}

function drawMessages() {
  const wasNearEnd = isNearEnd();
  const known = new Set(here.kept.keys());
  const rows = here.state.messages.map((message) => ({ key: message.id, at: message.at, value: message, make: () => messageNode(message, actions) }));
  if (!here.thread && !here.reading) {
    for (const thread of here.home.threads.filter((item) => item.channel === here.channel)) {
      rows.push({ key: `thread-${thread.thread}`, at: thread.at, value: thread, make: () => threadCard(thread, actions) });
    }
    rows.sort((one, other) => one.at.localeCompare(other.at));
  }
  const nodes = rows.map(keep);
  const results = [...byId("messages").querySelectorAll(".result")];
  const live = new Map();
  for (const waiting of here.state.waiting) {
    const handle = here.live.get(waiting.key) || waitingNode(waiting, actions);
    handle.update(waiting);
    live.set(waiting.key, handle);
  }
  here.live = live;
  arrange(byId("messages"), [...nodes, ...results, ...[...live.values()].map((handle) => handle.node)]);
  announce(rows.filter((row) => !known.has(row.key) && known.size && row.value.role === "assistant").map((row) => here.kept.get(row.key).node));
  if (wasNearEnd) scrollToEnd();
}

function keep(row) {
  const mark = JSON.stringify(row.value);
  const old = here.kept.get(row.key);
  if (old?.mark === mark) return old.node;
  const node = row.make();
  here.kept.set(row.key, { mark, node });
  return node;
}

// Screen readers announce an answer once, when it is complete.
function announce(nodes) {
  for (const node of nodes) byId("announcer").textContent = `Footnote answers: ${node.querySelector(".answer").textContent}`;
}

function drawWelcome() {
  const box = byId("welcome");
  const invites = !here.thread && !here.reading && !here.home.threads.length && !here.state.messages.length && !here.state.waiting.length;
  box.hidden = !invites;
  if (!invites) return;
  box.replaceChildren(
    el("h2", {}, "Ask the library"),
    el("p", {}, "Answers come from the documents. Each footnote opens the page it cites."),
    ...(here.home.examples.length ? [el("p", { class: "try" }, "Try one of these:")] : []),
    ...here.home.examples.map((question) => el("button", { type: "button", onclick: () => actions.ask(question) }, question)),
  );
}

function leaveStream() {
  here.stream?.close();
  here.stream = null;
  byId("offline").hidden = true;
}

function follow(cursor) {
  here.stream?.close();
  const stream = new EventSource(`${placePath(here.channel, here.thread)}/events?after=${encodeURIComponent(cursor)}`);
  here.stream = stream;
  const on = (kind, act) => stream.addEventListener(kind, (event) => { if (here.stream === stream) act(JSON.parse(event.data)); });
  const withLive = (act) => (data) => {
    const handle = here.live.get(data.key);
    if (!handle) return refreshSoon();
    const stay = isNearEnd();
    act(handle, data);
    if (stay) scrollToEnd();
  };
  on("begin", (data) => { const handle = here.live.get(data.key); if (handle) handle.begin(data); else refreshSoon(); });
  on("text", withLive((handle, data) => { if (!handle.text(data)) refreshSoon(); }));
  on("reset_text", withLive((handle, data) => handle.resetText(data)));
  on("step", withLive((handle, data) => handle.step(data.step)));
  for (const kind of ["changed", "end", "threads"]) on(kind, refreshSoon);
  on("reset", () => { here.live.clear(); refreshSoon(); });
  on("deleted", () => {
    const { channel } = here;
    visit(address(channel, ""), { push: true }).then(() => problem("The thread was deleted."));
  });
  stream.onopen = () => { byId("offline").hidden = true; };
  stream.onerror = () => {
    if (here.stream !== stream) return;
    byId("offline").hidden = false;
    if (stream.readyState !== EventSource.CLOSED) return; // it reconnects by itself
    here.stream = null;
    setTimeout(() => { if (!here.stream) refresh(); }, REOPEN_AFTER);
  };
}

async function sendText(text) {
  if (!here.home?.person && !(await chooseName())) return false;
  const key = unsent?.text === text ? unsent.key : newKey();
  unsent = { text, key };
  const { channel, thread, visit: visited } = here;
  const receipt = await attempt(() => api.send({ channel, thread, text, key }));
  if (!receipt) return false;
  unsent = null;
  if (visited !== here.visit) return true;
  if (receipt.result) showResult(text, receipt.result);
  else if (receipt.accepted && receipt.thread !== thread) visit(address(channel, receipt.thread), { push: true });
  else if (!receipt.accepted && !receipt.talk) { problem(receipt.sentence); return false; }
  else refresh().then(scrollToEnd);
  return true;
}

// A unique key. randomUUID only exists on secure pages and on loopback.
const newKey = () => Array.from(crypto.getRandomValues(new Uint8Array(10)), (byte) => byte.toString(16).padStart(2, "0")).join("");

function showResult(command, result) {
  if (result.file) {
    const bytes = Uint8Array.from(atob(result.file.data), (character) => character.charCodeAt(0));
    const link = el("a", { href: URL.createObjectURL(new Blob([bytes], { type: result.file.type })), download: result.file.name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  }
  if (result.open && (result.open[0] !== here.channel || result.open[1] !== here.thread)) return visit(address(...result.open), { push: true });
  if (result.read) return visit(`/read/${encodeURIComponent(result.read)}`, { push: true });
  if (result.leave) return visit(address(here.channel, ""), { push: true });
  if (result.html) byId("messages").append(resultNode(command, result.html));
  refreshSoon();
  scrollToEnd();
}

async function chooseName() {
  const name = await ask({ title: "What is your name?", text: "Shown next to your questions. You don't need an account or a password.", yes: "Continue", label: "Name", value: here.home?.person || "" });
  if (name === null) return false;
  const found = await attempt(() => api.name(name));
  if (found) { here.live.clear(); await refresh(); }
  return Boolean(found);
}

const log = byId("log");
const isNearEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
const scrollToEnd = () => { log.scrollTop = log.scrollHeight; };

byId("person").addEventListener("click", chooseName);
byId("up").addEventListener("click", actions.follow);
byId("rename").addEventListener("click", async () => {
  const title = await ask({ title: "Rename the thread", label: "Title", value: here.state.title, yes: "Rename" });
  if (title !== null && await attempt(() => api.rename(here.channel, here.thread, title))) refresh();
});
byId("delete").addEventListener("click", async () => {
  const sure = await ask({ title: "Delete the thread?", text: `This permanently deletes “${here.state.title}” and all its messages.`, yes: "Delete" });
  if (sure === null) return;
  const { channel, thread } = here;
  if (await attempt(() => api.remove(channel, thread)) && here.thread === thread) visit(address(channel, ""), { push: true });
});
function showSide(open) {
  byId("side").classList.toggle("is-open", open);
  byId("menu").setAttribute("aria-expanded", String(open));
  if (open) byId("close-side").focus();
}
byId("menu").addEventListener("click", () => showSide(true));
byId("close-side").addEventListener("click", () => { showSide(false); byId("menu").focus(); });
byId("side").addEventListener("keydown", (event) => { if (event.key === "Escape") showSide(false); });
byId("new-channel").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = (byId("channel-name").value.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || []).join("-");
  byId("channel-name").value = "";
  if (name) visit(address(name, ""), { push: true });
});
window.addEventListener("popstate", () => visit(location.pathname));
window.addEventListener("pagehide", () => here.stream?.close());
window.addEventListener("pageshow", (event) => { if (event.persisted) { here.stream = null; refresh(); } });

watchNotes(byId("messages"), (link) => {
  const id = link.closest("[data-id]")?.dataset.id;
  const message = here.state?.messages.find((item) => item.id === id);
  return message?.citations?.find((item) => String(item.number) === link.dataset.number);
});
const composer = new Composer({
  source: () => ({ commands: here.home?.commands || [], people: (here.state?.people || []).filter((name) => name !== here.home?.person) }),
  send: sendText,
});
visit(location.pathname).then(() => composer.text.focus({ preventScroll: true }));
