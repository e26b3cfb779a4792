// The frame of every page: threads and how to find them, who you are, and keys.

import { api } from "./api.js";
import { ask } from "./dialogs.js";
import { arrange, byId, el } from "./dom.js";

const SHOWN = 8; // threads without a search
const FOUND = 20; // threads that a search shows
const ROWS = ".list tbody tr, .requests > li, .hits > li, .neighbours > li"; // of lists: J, K and X go through them
const KEYS = "footnote.keys"; // "off" in the browser's storage: single letters are no keys

export const address = (channel, thread) => thread ? `/c/${encodeURIComponent(channel)}/${encodeURIComponent(thread)}`
  : channel === "general" ? "/" : `/c/${encodeURIComponent(channel)}`;

let frame = { home: null, place: {}, follow: null, go: (path) => location.assign(path), named: () => {}, closePane: () => {} };

// Draw the frame; `place` is {channel, thread, reading} of the page, and `follow` handles clicks on its links.
export function drawSide(home, place = {}) {
  frame.home = home;
  frame.place = place;
  byId("person-name").textContent = home.person || "You";
  byId("person").querySelector(".dot").textContent = [...(home.person || "You")][0].toUpperCase();
  byId("quotes-only").hidden = !home.quotes_only;
  drawThreads();
  const channels = home.channels.filter((name) => name !== "general");
  byId("channels-part").hidden = !channels.length;
  arrange(byId("channels"), channels.map((name) => el("li", {},
    el("a", { href: address(name, ""), onclick: frame.follow,
      "aria-current": name === place.channel && !place.thread && !place.reading ? "page" : null }, `#${name}`))));
}

function drawThreads() {
  const { home, place } = frame;
  const wanted = byId("find").value.trim().toLowerCase();
  const found = wanted ? home.threads.filter((item) => item.title.toLowerCase().includes(wanted)).slice(0, FOUND)
    : home.threads.filter((item) => item.mine).slice(0, SHOWN);
  const rows = found.map((item) => el("li", {},
    el("a", { href: address(item.channel, item.thread), onclick: frame.follow, title: item.title,
      "aria-current": item.channel === place.channel && item.thread === place.thread ? "page" : null },
    item.title, item.mine ? null : el("span", { class: "by" }, ` · ${item.owner}`))));
  if (!rows.length) rows.push(el("li", { class: "none" }, wanted ? "No thread is called that." : "None yet."));
  if (wanted) rows.push(el("li", {}, el("a", { href: `/library?q=${encodeURIComponent(byId("find").value.trim())}` }, "Search the library")));
  arrange(byId("threads"), rows);
}

async function refreshHome() {
  drawSide(await api.home(), frame.place);
}

// The page's own ways to go somewhere, and to be told of a new name.
export function startSide(ways) {
  Object.assign(frame, ways);
  byId("person").addEventListener("click", chooseName);
  byId("find").addEventListener("input", async () => { if (frame.home) drawThreads(); else await refreshHome(); });
  byId("find").addEventListener("keydown", (event) => {
    if (event.key === "Enter") byId("threads").querySelector("a")?.click();
    if (event.key === "Escape") { byId("find").value = ""; byId("find").blur(); if (frame.home) drawThreads(); }
  });
  const setKeys = (value) => { document.body.dataset.keys = value; };
  setKeys(localStorage.getItem(KEYS) || "on");
  byId("keys-on").checked = document.body.dataset.keys !== "off";
  byId("keys-on").addEventListener("change", () => {
    setKeys(byId("keys-on").checked ? "on" : "off");
    localStorage.setItem(KEYS, document.body.dataset.keys);
  });
  document.addEventListener("keydown", pressed);
}

async function chooseName() {
  const name = await ask({ title: "What is your name?", text: "Others see it beside your questions. Without one they see “Guest”.", yes: "Save", label: "Name", value: frame.home?.person || "" });
  if (name === null) return;
  try {
    await api.name(name);
    await refreshHome();
    frame.named();
  } catch (error) {
    await ask({ title: "This name can't be used", text: error.message, yes: "OK" });
  }
}

function pressed(event) {
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const find = (event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === "k";
  const isWriting = event.target.closest?.('input:not([type="checkbox"]), textarea, select, [contenteditable]');
  if (!find && (event.ctrlKey || event.metaKey || event.altKey || isWriting || document.body.dataset.keys === "off")) return;
  const acts = { "/": toFind, n: () => frame.go("/"), "?": () => byId("keys").showModal(), j: () => toRow(1), k: () => toRow(-1), x: chooseRow };
  const act = find ? toFind : acts[event.key.toLowerCase()];
  if (!act) return;
  event.preventDefault();
  act();
}

const rowOf = (element) => element?.closest(ROWS);

// The next row of the page's list, or the one before; its link has the focus, so Enter opens it.
function toRow(by) {
  const rows = [...document.querySelectorAll(ROWS)];
  const place = rows.indexOf(rowOf(document.activeElement));
  const row = rows[place < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(Math.max(place + by, 0), rows.length - 1)];
  row?.querySelector("a")?.focus();
}

function chooseRow() {
  rowOf(document.activeElement)?.querySelector('input[type="checkbox"]')?.click();
}

function toFind() {
  if (!byId("find").offsetParent) frame.closePane(); // beside an open source there is no room for threads
  byId("find").focus();
}

// The chat's own script draws the frame there.
if (!document.body.classList.contains("chat-page")) {
  startSide({});
  refreshHome().catch(() => {}); // the page itself is there
}
