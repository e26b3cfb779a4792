// The side pane: a source beside the thread. Pages call openPane and closePane; the pane does the rest by itself.
// A page needs <aside id="pane" role="complementary" hidden>, source.css and pane.css.
import { prepare } from "./source.js";

const SOURCE = "source"; // the parameter of a page's address that names the open source
const KEYS = "footnote.keys"; // "off" in the browser's storage: single letters are no keys
const READABLE = /^\/(s|library\/pages)\/./; // pages that have a fragment for the pane
const UNREACHABLE = "Footnote can’t be reached, so this source can’t be shown. Try again in a moment.";

let recent = null; // what was open last: Forward opens it again
let open = null; // { href, list, index, opener, page }: page is the address's path when it was opened
let loading = null; // the AbortController of the newest request

const pane = () => document.getElementById("pane");

/**
 * Open a source in the pane. Resolves when it is shown.
 * href: address of the source's page. opener: the element to focus again when the pane closes.
 * list: the footnotes of the answer, [{ href, number, label }]; index: the one of `href`. `,` and `.` step through them.
 */
export async function openPane(href, opener = null, { list = [], index = list.findIndex((item) => item.href === href) } = {}) {
  const byKey = opener?.matches(":focus-visible") ?? false;
  if (!pane()) return location.assign(href);
  const wasOpen = open !== null;
  open = { href, list, index, opener: opener ?? open?.opener, page: location.pathname };
  remember(href, wasOpen || sourceInAddress() !== null);
  await show(href, byKey);
}

/** Close the pane, take it out of the address, and return the focus to the element that opened it. */
export function closePane() {
  if (!open) return;
  const isPushed = history.state?.pane === "pushed";
  hide();
  if (isPushed) history.back();
  else history.replaceState({ ...history.state, pane: undefined }, "", without(location.href));
}

/** Hide the pane without touching the history: for pages that go to another address themselves. */
export function hidePane() {
  if (open) hide({ focus: false });
}

/** Return the source that the page's address names, for the page to open when it is ready; null without one. */
export function sourceInAddress() {
  return readable(new URL(location.href).searchParams.get(SOURCE));
}

/** Open the footnote `by` places further in the answer's list; false at its end. */
export function stepPane(by, byKey = false) {
  const next = open?.list[open.index + by];
  if (!next) return false;
  open = { ...open, href: next.href, index: open.index + by };
  remember(next.href, true);
  show(next.href, byKey);
  return true;
}

function readable(href) {
  if (!href) return null;
  const address = new URL(href, location.href);
  return address.origin === location.origin && READABLE.test(address.pathname) ? address.pathname + address.search + address.hash : null;
}

function without(href) {
  const address = new URL(href);
  address.searchParams.delete(SOURCE);
  return address.pathname + address.search + address.hash;
}

// One entry of the history for the open pane, whatever is shown in it: Back closes it.
function remember(href, isOpen) {
  const address = new URL(location.href);
  address.searchParams.set(SOURCE, readable(href) ?? "");
  const state = { ...history.state, pane: isOpen ? (history.state?.pane ?? "kept") : "pushed" };
  history[isOpen ? "replaceState" : "pushState"](state, "", address);
}

async function show(href, byKey) {
  loading?.abort();
  const request = (loading = new AbortController());
  pane().setAttribute("aria-busy", "true");
  const part = await fetchPart(href, request.signal);
  if (request !== loading || !open) return;
  const box = pane();
  box.replaceChildren(part);
  box.setAttribute("aria-busy", "false");
  box.setAttribute("aria-labelledby", "pane-title");
  box.hidden = false;
  document.body.classList.add("pane-open");
  fill(box);
  prepare(box);
  if (byKey || covers(box)) box.querySelector("#pane-title").focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("pane", { detail: { href: open.href, index: open.index } }));
}

async function fetchPart(href, signal) {
  const address = new URL(href, location.href);
  address.searchParams.set("part", "pane");
  address.hash = "";
  try {
    const response = await fetch(address, { signal });
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return document.adoptNode(page.querySelector("[data-pane]") ?? failed(page.querySelector(".notice p")?.textContent ?? UNREACHABLE));
  } catch (error) {
    return failed(UNREACHABLE);
  }
}

function failed(sentence) {
  const article = document.createElement("article");
  article.className = "pane-source";
  article.innerHTML = `<header class="pane-head"><div class="pane-line"><h2 id="pane-title" tabindex="-1">This source can’t be opened</h2>
    <button type="button" data-close aria-label="Close the source" title="Close (Esc)">✕</button></div></header>
    <div class="pane-body"><div class="pane-side"><div class="pane-notice"><p></p></div></div></div>`;
  article.querySelector(".pane-notice p").textContent = sentence;
  return article;
}

// What only the caller knows: the footnote's number, its place in the answer, and the other footnotes.
function fill(box) {
  const { list, index } = open;
  const number = box.querySelector("[data-number]");
  if (number && list[index]?.number !== undefined) {
    number.textContent = list[index].number;
    number.hidden = false;
  }
  const steps = box.querySelector("[data-steps]");
  if (steps && list.length > 1 && index >= 0) {
    steps.hidden = false;
    steps.querySelector("[data-position]").textContent = `${index + 1} of ${list.length}`;
    for (const button of steps.querySelectorAll("[data-step]")) button.disabled = !list[index + Number(button.dataset.step)];
  }
  const also = box.querySelector("[data-also]");
  if (!also || list.length < 2) return;
  also.hidden = false;
  also.querySelector("ul").replaceChildren(...list.flatMap((item, place) => (place === index ? [] : [otherFootnote(item, place)])));
}

function otherFootnote(item, place) {
  const row = document.createElement("li");
  const link = row.appendChild(document.createElement("a"));
  link.href = item.href;
  link.dataset.place = place;
  const number = link.appendChild(document.createElement("span"));
  number.className = "pane-number";
  number.textContent = item.number;
  link.append(` ${item.label ?? ""}`);
  return row;
}

function hide({ focus = true } = {}) {
  const { opener } = open;
  const box = pane();
  const hadFocus = box.contains(document.activeElement) || document.activeElement === document.body;
  loading?.abort();
  recent = open;
  open = loading = null;
  box.hidden = true;
  box.replaceChildren();
  document.body.classList.remove("pane-open");
  if (focus && hadFocus && opener?.isConnected) opener.focus({ preventScroll: true });
  document.dispatchEvent(new CustomEvent("pane", { detail: null }));
}

// In a narrow window the pane is a sheet over the page.
const covers = (box) => getComputedStyle(box).getPropertyValue("--pane-is-sheet").trim() === "1";
const isWriting = (element) => element.closest("input, textarea, select, [contenteditable]") !== null;

document.addEventListener("click", (event) => {
  if (!open || event.defaultPrevented) return;
  const target = event.target.closest("#pane [data-close], #pane [data-step], #pane a[data-place], #pane a[data-page]");
  if (!target || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  const byKey = target.matches(":focus-visible");
  if ("close" in target.dataset) closePane();
  else if (target.dataset.step) stepPane(Number(target.dataset.step), byKey);
  else if (target.dataset.place) stepPane(Number(target.dataset.place) - open.index, byKey);
  else {
    open.href = target.getAttribute("href");
    remember(open.href, true);
    show(open.href, byKey);
  }
});

document.addEventListener("keydown", (event) => {
  if (!open || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
    event.preventDefault();
    return closePane();
  }
  if (isWriting(event.target) || localStorage.getItem(KEYS) === "off") return;
  const by = { ",": -1, ".": 1 }[event.key];
  if (by && stepPane(by, true)) event.preventDefault();
});

// Back closes the pane and Forward opens it again; other pages' listeners need not know.
window.addEventListener("popstate", (event) => {
  const href = sourceInAddress();
  if (!href && !open) return;
  const isHere = !open || open.page === location.pathname;
  if (isHere) event.stopImmediatePropagation();
  if (!href || !isHere) return hide({ focus: isHere });
  const known = recent?.page === location.pathname ? recent : { list: [], opener: null };
  const index = known.list.findIndex((item) => readable(item.href) === href);
  open = { ...known, href, index, page: location.pathname };
  show(href, false);
});
