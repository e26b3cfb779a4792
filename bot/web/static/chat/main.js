// The chat page: reads a thread's state, follows its events, and sends questions.

import { api, placePath } from "./api.js";
import { Composer } from "./composer.js";
import { ask } from "./dialogs.js";
import { arrange, byId, closeMenus, el } from "./dom.js";
import { address, drawSide, startSide } from "./side.js";
import { messageNode, resultNode, threadCard, waitingNode } from "./view.js";

const NEAR_END = 120; // pixels: a reader this near to the end stays at the end
const REOPEN_AFTER = 2000; // milliseconds after the service closed the stream

// `reading` is the ID of a conversation on another platform, shown read-only. `isNew`: the page for a new question.
const here = { channel: "general", thread: "", reading: "", isNew: true, path: null, state: null, home: null, stream: null, kept: new Map(), live: new Map(), why: null, visit: 0, asked: 0, shown: 0 };
let pane = null; // the module of the side pane, loaded with the first source that is opened
let unsent = null; // {text, key} of the last failed message; a retry uses the same key

const actions = {
  address,
  mayAnswer: () => !here.reading,
  canKeep: (message) => message.status === "answered" && here.state?.messages.at(-1)?.id === message.id && !here.reading
    && here.home.commands.some(({ name }) => name === "keep"),
  ask: (question) => sendText(question),
  say: (command) => sendText(command),
  // Ask the question of an answer once more.
  repeat(id) {
    const before = here.state.messages.slice(0, here.state.messages.findIndex((item) => item.id === id));
    const question = before.findLast((item) => item.role === "user");
    if (question) sendText(question.text);
  },
  // A draft as people read it: its footnotes come with the answer, and the sidebar says that answers are quotes.
  readable(draft) {
    const last = draft.lastIndexOf("\n\n");
    const tail = draft.slice(last + 2);
    const isNote = last >= 0 && tail && here.home.quotes_note.startsWith(tail.slice(0, here.home.quotes_note.length));
    return (isNote ? draft.slice(0, last) : draft).replace(/\s*\[\d{1,3}\]/g, "");
  },
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
  reasons: (id) => here.why === id ? here.home.reasons : [],
  async rate(message, value, reason) {
    const rated = await attempt(() => api.rate(here.channel, here.thread, message, value, reason));
    if (!rated) return;
    here.why = value === "down" && reason === undefined ? message : null;
    await refresh();
    byId("messages").querySelector(`[data-id="${CSS.escape(message)}"] .thumb.${value}`)?.focus(); // it was drawn anew
    if (rated.told) byId("announcer").textContent = rated.told;
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
  byId("unanswered").textContent = "";
}

async function visit(path, { push = false } = {}) {
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  pane?.hidePane();
  if (push) history.pushState(null, "", path);
  here.path = path;
  here.isNew = !parts.length;
  here.reading = parts[0] === "read" ? parts[1] || "" : "";
  here.channel = here.reading ? "general" : parts[1] || "general";
  here.thread = here.reading ? "" : parts[2] || "";
  here.visit += 1;
  here.kept.clear();
  here.live.clear();
  here.state = null;
  byId("messages").replaceChildren();
  document.body.classList.toggle("is-new", here.isNew);
  problem("");
  if (here.isNew && push) refreshStart();
  if (await refresh()) {
    scrollToEnd();
    if (here.isNew) composer.text.focus({ preventScroll: true });
    else if (push) byId("title").focus({ preventScroll: true });
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
    if (error.status === 404 && (here.thread || here.reading)) visit("/", { push: true }).then(() => problem(error.message));
    return false;
  }
}

let refreshing = 0;
function refreshSoon() {
  clearTimeout(refreshing);
  refreshing = setTimeout(refresh, 60);
}

const SOUGHT_AFTER = 1500; // milliseconds until the page is asked again for example questions

// Documents and example questions below the box; the page has them, and they change as documents are read.
async function refreshStart() {
  const response = await fetch("/", { headers: { Accept: "text/html" } }).catch(() => null);
  if (!response?.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  byId("start").replaceWith(document.adoptNode(page.getElementById("start")));
  if (byId("start").dataset.hint) byId("drop-zone").hidden = false; // it stays as files are read
  document.body.classList.toggle("has-nothing", Boolean(byId("start").dataset.hint));
  if (byId("start").dataset.hint) document.dispatchEvent(new Event("nothing"));
  if (here.isNew) byId("hint").textContent = byId("start").dataset.hint || "";
  seekExamples();
}

// They are being looked for; the page did not wait for them.
function seekExamples() {
  if (here.isNew && "sought" in byId("start").dataset) setTimeout(refreshStart, SOUGHT_AFTER);
}

// Files can be added where nothing is asked yet: at once while there is nothing to read, else when some are dragged in.
async function offerUpload() {
  const zone = byId("drop-zone");
  if (!("canUpload" in zone.dataset)) return;
  if (zone.hidden) { // loaded when it is needed
    await new Promise((needed) => {
      window.addEventListener("dragenter", needed, { once: true });
      document.addEventListener("nothing", needed, { once: true });
    });
  }
  const [{ mountUpload }] = await Promise.all([import("../upload.js"), loadStyles("upload-styles")]);
  let read = 0;
  zone.addEventListener("uploads", ({ detail }) => {
    if (detail.read !== read) refreshStart();
    read = detail.read;
  });
  await mountUpload(zone);
  const show = () => { if (here.isNew) zone.hidden = false; };
  show();
  window.addEventListener("dragenter", show);
}

function draw() {
  const { state, home } = here;
  const title = here.isNew ? "Ask your documents" : state.title;
  document.title = `${here.isNew ? "Ask" : title} · Footnote`;
  byId("title").textContent = title;
  byId("tools").hidden = !here.thread;
  for (const format of ["markdown", "pdf", "json"]) byId(`export-${format}`).href = `${placePath(here.channel, here.thread)}/export?format=${format}`;
  byId("text").placeholder = here.thread ? "Ask a follow-up…" : here.channel === "general" ? "Ask a question…" : `Ask in #${here.channel}…`;
  if (!here.isNew) byId("hint").textContent = state.people?.length ? `To write to ${state.people[0]} alone, begin with @${state.people[0]}.` : "";
  byId("composer").hidden = Boolean(here.reading);
  byId("elsewhere").hidden = !here.reading;
  byId("elsewhere").textContent = state.note || "";
  drawSide(home, { ...here, channel: here.isNew ? "" : here.channel });
  drawMessages();
}

function drawMessages() {
  const wasNearEnd = isNearEnd();
  const known = new Set(here.kept.keys());
  const rows = here.isNew ? [] : here.state.messages.map((message) => ({ key: message.id, at: message.at, value: message, make: () => messageNode(message, actions) }));
  if (!here.isNew && !here.thread && !here.reading) {
    for (const thread of here.home.threads.filter((item) => item.channel === here.channel)) {
      rows.push({ key: `thread-${thread.thread}`, at: thread.at, value: thread, make: () => threadCard(thread, actions) });
    }
    rows.sort((one, other) => one.at.localeCompare(other.at));
  }
  const last = here.state.messages.at(-1)?.id;
  const nodes = rows.map((row) => keep(row, row.key === last));
  const results = [...byId("messages").querySelectorAll(".result")];
  const live = new Map();
  for (const waiting of here.isNew ? [] : here.state.waiting) {
    const handle = here.live.get(waiting.key) || waitingNode(waiting, actions);
    handle.update(waiting);
    live.set(waiting.key, handle);
  }
  here.live = live;
  arrange(byId("messages"), [...nodes, ...results, ...[...live.values()].map((handle) => handle.node)]);
  if (here.state.messages.at(-1)?.status === "not_found" && !known.has(last)) refreshStart(); // perhaps there is nothing to read
  announce(rows.filter((row) => !known.has(row.key) && known.size && row.value.role === "assistant").map((row) => row.value));
  if (wasNearEnd) scrollToEnd();
}

function keep(row, isLast) {
  const mark = JSON.stringify([row.value, isLast, here.why === row.key]);
  const old = here.kept.get(row.key);
  if (old?.mark === mark) return old.node;
  const node = row.make();
  here.kept.set(row.key, { mark, node });
  return node;
}

// Screen readers hear once that an answer is there, and how much it stands on.
function announce(answers) {
  for (const { note, sources = [], status } of answers) {
    const count = sources.reduce((sum, { notes }) => sum + notes.length, 0);
    const notes = count === 1 ? "1 footnote" : `${count} footnotes`;
    byId("announcer").textContent = note ? "A source of this thread changed." : status === "answered" ? `Answer ready, ${notes}.` : "Footnote replied.";
  }
}

// The footnotes of an answer or a result, for the source beside it.
function footnotesAround(link) {
  const links = [...link.closest(".from-bot, .result").querySelectorAll("a[data-number]")];
  const byNumber = new Map(links.map((item) => [Number(item.dataset.number), item]));
  return [...byNumber.entries()].sort(([one], [other]) => one - other).map(([number, item]) => (
    { number, href: item.getAttribute("href"), label: (item.getAttribute("aria-label") || item.title).replace(/^Footnote \d+(, )?/, "") }));
}

async function showSource(link) {
  const list = footnotesAround(link);
  await loadPane();
  pane.openPane(link.getAttribute("href"), link, { list, index: list.findIndex(({ number }) => number === Number(link.dataset.number)) });
}

// The pane's script and styles, when they are needed.
async function loadPane() {
  if (pane) return;
  const [module] = await Promise.all([import("../pane.js"), loadStyles("pane-styles")]);
  pane = module;
}

// The stylesheets of a template, once; nothing is shown without its styles.
async function loadStyles(name) {
  const links = [...byId(name)?.content.children || []];
  const loaded = links.map((link) => new Promise((done) => { link.onload = link.onerror = done; }));
  document.head.append(...links);
  await Promise.all(loaded);
}

// The number whose source is open is marked in the text and on its chip.
function markOpen(href) {
  for (const link of byId("messages").querySelectorAll("a.footnote, a.number")) link.classList.toggle("is-open", link.getAttribute("href") === href);
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
  on("deleted", () => visit("/", { push: true }).then(() => problem("The thread was deleted.")));
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
  if (receipt.talk && !TALK.has(receipt.code)) byId("unanswered").textContent = receipt.sentence;
  return true;
}

// Messages that nobody expects a reply to.
const TALK = new Set(["acknowledged", "chatter", "not_for_us"]);

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
  if (result.leave) return visit("/", { push: true });
  if (result.html) byId("messages").append(resultNode(command, result.html));
  refreshSoon();
  scrollToEnd();
}

const log = byId("log");
const isNearEnd = () => log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_END;
const scrollToEnd = () => { log.scrollTop = log.scrollHeight; };

byId("rename").addEventListener("click", async () => {
  closeMenus();
  const title = await ask({ title: "Rename the thread", label: "Title", value: here.state.title, yes: "Rename" });
  if (title !== null && await attempt(() => api.rename(here.channel, here.thread, title))) refresh();
});
byId("delete").addEventListener("click", async () => {
  closeMenus();
  const sure = await ask({ title: "Delete the thread?", text: `This permanently deletes “${here.state.title}” and all its messages.`, yes: "Delete" });
  if (sure === null) return;
  const { channel, thread } = here;
  if (await attempt(() => api.remove(channel, thread)) && here.thread === thread) visit("/", { push: true });
});
for (const link of document.querySelectorAll("#place-ask, .rail .brand")) link.addEventListener("click", actions.follow);
document.addEventListener("click", (event) => {
  const example = event.target.closest(".examples button");
  if (!example) return;
  event.preventDefault(); // without this script the form sends it
  sendText(example.value);
});
byId("messages").addEventListener("click", (event) => {
  const link = event.target.closest("a[data-number]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  showSource(link);
});
document.addEventListener("pane", ({ detail }) => markOpen(detail?.href));
window.addEventListener("popstate", () => { if (location.pathname !== here.path) visit(location.pathname); });
window.addEventListener("pagehide", () => here.stream?.close());
window.addEventListener("pageshow", (event) => { if (event.persisted) { here.stream = null; refresh(); } });

const composer = new Composer({
  source: () => ({ commands: here.home?.commands || [], people: here.state?.people || [] }),
  send: sendText,
});
startSide({
  follow: actions.follow,
  closePane: () => pane?.closePane(),
  go: (path) => visit(path, { push: true }),
  named: () => { here.live.clear(); refresh(); },
});
const source = new URL(location.href).searchParams.get("source"); // of a shared or reloaded address
visit(location.pathname).then(async () => {
  const link = source && [...byId("messages").querySelectorAll("a.footnote")].find((item) => item.getAttribute("href") === source);
  if (link) showSource(link);
  else if (source) await loadPane(); // it opens the address's source by itself
  else composer.text.focus({ preventScroll: true });
});
offerUpload();
seekExamples();
