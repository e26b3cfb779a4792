// The quote behind a footnote: on hover and focus, and on tap where there is no hover.

import { byId, el } from "./dom.js";

const GAP = 8; // pixels between the marker and its note
const HIDE_AFTER = 250; // milliseconds to move the pointer from the marker into the note

export function watchNotes(list, findCitation) {
  const note = byId("note");
  let shownFor = null;
  let hiding = 0;
  let pointer = "mouse";

  const hide = () => {
    clearTimeout(hiding);
    note.hidden = true;
    shownFor?.removeAttribute("aria-describedby");
    shownFor = null;
  };
  const hideSoon = () => {
    clearTimeout(hiding);
    hiding = setTimeout(hide, HIDE_AFTER);
  };
  const show = (link) => {
    clearTimeout(hiding);
    if (shownFor === link) return;
    const citation = findCitation(link);
    if (!citation) return;
    hide();
    shownFor = link;
    link.setAttribute("aria-describedby", "note");
    note.replaceChildren(
      el("p", { class: "note-where" }, `[${citation.number}] ${citation.title}, ${where(citation)}`),
      el("blockquote", {}, citation.quote),
      el("a", { href: citation.href, target: "_blank", rel: "noopener", tabindex: "-1" }, "Open the source"),
    );
    note.hidden = false;
    place(note, link);
  };
  const marker = (event) => event.target.closest?.("a.footnote");

  list.addEventListener("pointerdown", (event) => { pointer = event.pointerType; });
  list.addEventListener("pointerover", (event) => {
    if (event.pointerType === "mouse" && marker(event)) show(marker(event));
  });
  list.addEventListener("pointerout", (event) => { if (event.pointerType === "mouse" && marker(event)) hideSoon(); });
  list.addEventListener("focusin", (event) => { if (marker(event)) show(marker(event)); });
  list.addEventListener("focusout", (event) => { if (marker(event)) hideSoon(); });
  list.addEventListener("click", (event) => {
    const link = marker(event);
    if (!link || pointer === "mouse" || event.detail === 0) return; // mouse and keyboard users have seen the note
    event.preventDefault();
    show(link);
  });
  note.addEventListener("pointerenter", () => clearTimeout(hiding));
  note.addEventListener("pointerleave", hideSoon);
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  document.addEventListener("pointerdown", (event) => {
    if (!note.hidden && !note.contains(event.target) && !marker(event)) hide();
  });
  // Keep it at its marker, because keyboard focus scrolls.
  byId("log").addEventListener("scroll", () => {
    if (!shownFor) return;
    const [box, view] = [shownFor.getBoundingClientRect(), byId("log").getBoundingClientRect()];
    if (!shownFor.isConnected || box.bottom < view.top || box.top > view.bottom) hide();
    else place(note, shownFor);
  }, { passive: true });
}

export const where = (citation) => [`page ${citation.page}`, ...citation.path].join(" › ");

function place(note, link) {
  const box = link.getClientRects()[0] || link.getBoundingClientRect();
  const own = note.getBoundingClientRect();
  const left = Math.max(GAP, Math.min(box.left - 16, window.innerWidth - own.width - GAP));
  const above = box.top - own.height - GAP;
  note.style.left = `${left}px`;
  note.style.top = `${above >= GAP ? above : box.bottom + GAP}px`;
}
