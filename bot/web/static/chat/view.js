// Elements of messages. Text of people and documents is inserted as text; the service sanitises the bot's HTML.

import { clock, el, fromSafeHtml, icon } from "./dom.js";
import { where } from "./notes.js";

const COLOURS = 8;
const THUMB = "M4 11h3v9H4zM7 11l4-8c1.6 0 2.6 1.1 2.6 2.7V9h5.1a2.2 2.2 0 0 1 2.2 2.5l-1 6.7a2.2 2.2 0 0 1-2.2 1.8H7";

export function messageNode(message, actions) {
  return message.role === "user" ? personNode(message) : answerNode(message, actions);
}

export function personNode({ author, text, at }) {
  return el("li", { class: "message from-person" }, avatar(author), el("div", { class: "body" },
    byline(author, at), el("p", { class: "said" }, text)));
}

function answerNode(message, actions) {
  const problem = ["error", "refused", "stopped"].includes(message.status) ? ` is-${message.status}` : "";
  const body = el("div", { class: "body" }, byline("footnote", message.at),
    fromSafeHtml("div", { class: `answer${problem}` }, message.html));
  if (message.gaps?.length) body.append(el("p", { class: "gaps" }, `Asked and not found: ${message.gaps.join("; ")}`));
  if (message.stale) body.append(el("p", { class: "stale" }, "A document behind this answer was changed or deleted."));
  if (message.citations?.length) body.append(sourcesNode(message.citations));
  const { named = [], seen = [], shown } = message.references ?? {};
  if (named.length || seen.length) body.append(referencesNode(named, seen, shown));
  if (!actions.mayAnswer()) message = { ...message, choices: [], suggestions: [], again: [] };
  if (message.again?.length) body.append(againNode(message.again, actions));
  if (message.choices?.length) body.append(questionsNode("Which one do you mean?", message.choices, actions));
  if (message.suggestions?.length) body.append(questionsNode("You could also ask", message.suggestions, actions, "suggested"));
  if (!message.note) body.append(feetNode(message, actions));
  return el("li", { class: `message from-bot${message.note ? " is-note" : ""}`, "data-id": message.id }, avatar("footnote"), body);
}

// Stale answers: a button asks the same question again, once.
function againNode(offered, actions) {
  const buttons = offered.map(({ message, question }) => {
    const button = el("button", { type: "button", class: "again", title: question, onclick: async () => {
      button.disabled = true;
      if (!await actions.again(message)) button.disabled = false;
    } }, offered.length > 1 ? `Ask again: ${question}` : "Ask again");
    return button;
  });
  return el("div", { class: "questions", role: "group", "aria-label": "Ask again" }, ...buttons);
}

function sourcesNode(citations) {
  const cards = citations.map((citation) => el("li", {},
    el("a", { class: "source", href: citation.href, target: "_blank", rel: "noopener", title: citation.summary || null },
      el("span", { class: "source-number", "aria-hidden": "true" }, String(citation.number)),
      el("span", { class: "source-body" },
        el("span", { class: "source-title" }, el("span", { class: "unseen" }, `Source ${citation.number}: `), citation.title),
        el("span", { class: "source-where" }, where(citation)),
        el("span", { class: "source-about" }, `“${citation.quote}”`)),
      citation.thumbnail ? thumbnailNode(citation) : null)));
  return el("ol", { class: "sources", "aria-label": "Sources" }, ...cards);
}

// Named and unused references: `shown` of them at once, the rest collapsed.
function referencesNode(named, seen, shown) {
  const room = Math.max(0, shown - named.length);
  const rest = [...named.slice(shown), ...seen.slice(room)];
  const link = ({ label, href, detail }) => href ? el("a", { href, title: detail }, label) : el("span", { title: detail }, label);
  const line = (row) => el("li", {}, link(row), row.detail ? el("span", { class: "path" }, row.detail) : null,
    row.summary ? el("span", { class: "about" }, row.summary) : null);
  const looked = seen.slice(0, room).map((row) => el("li", {}, link(row)));
  return el("div", { class: "references", role: "group", "aria-label": "References" },
    ...listed("Named in the question", "named", named.slice(0, shown).map(line)),
    ...listed("Also looked at", "looked", looked),
    rest.length ? el("details", {}, el("summary", {}, `and ${rest.length} more`), el("ul", { class: "named" }, ...rest.map(line))) : null);
}

const listed = (title, kind, rows) => rows.length ? [el("p", {}, title), el("ul", { class: kind }, ...rows)] : [];

// A thumbnail of the page, removed if the service has none.
function thumbnailNode(citation) {
  const picture = el("img", { class: "source-picture", src: citation.thumbnail, width: "54", height: "70",
    alt: `Image of page ${citation.page}`, loading: "lazy", decoding: "async", onerror: () => picture.remove() });
  return picture;
}

function questionsNode(title, questions, actions, kind = "") {
  const buttons = questions.map((question) => el("button", { type: "button", onclick: () => actions.ask(question) }, question));
  return el("div", { class: `questions ${kind}`, role: "group", "aria-label": title }, el("p", {}, title), ...buttons);
}

function feetNode(message, actions) {
  const feet = el("div", { class: "feet" });
  const thumbs = actions.mayAnswer() ? [["up", "Good answer"], ["down", "Bad answer"]] : [];
  for (const [value, name] of thumbs) {
    const pressed = message.rated === value;
    feet.append(el("button", { type: "button", class: "thumb", "aria-label": name, title: name,
      "aria-pressed": String(pressed), onclick: () => actions.rate(message.id, pressed ? "none" : value) }, icon(THUMB, value)));
  }
  if (message.job) feet.append(el("a", { href: `/jobs/${encodeURIComponent(message.job)}`, class: "how" }, "Show steps"));
  return feet;
}

// A queued or running question. Events and states arrive in any order, some twice: `turn` identifies the draft, and the
// offset of a piece shows whether it is new.
export function waitingNode(waiting, actions) {
  const question = waiting.text === null ? null : el("ol", { class: "bare" }, personNode(waiting));
  const draft = el("div", { class: "draft" });
  const steps = el("ul", { class: "steps" });
  const status = el("span", { class: "working" }, "Queued");
  const stop = el("button", { type: "button", class: "stop", onclick: () => actions.stop(waiting.key, stop) }, "Stop");
  const bar = el("div", { class: "progress" }, el("span", { class: "dots", "aria-hidden": "true" }), status,
    actions.isMine(waiting.author) ? stop : null);
  const answer = el("div", { class: "message from-bot" }, avatar("footnote"),
    el("div", { class: "body" }, byline("footnote"), draft, bar, steps));
  const node = el("li", { class: "waiting", "data-key": waiting.key }, question, answer);
  let current = 0; // the turn of the shown draft
  let shown = 0; // number of its characters, counted as the service does
  const restart = (turn) => {
    [current, shown] = [turn, 0];
    draft.textContent = "";
    status.textContent = "Reading the documents";
  };
  const handle = {
    node,
    begin({ turn }) {
      if (turn <= current) return;
      restart(turn);
      steps.replaceChildren();
    },
    resetText({ turn }) { if (turn > current) restart(turn); },
    // false: an earlier piece was missed
    text({ turn, at, piece }) {
      if (turn < current) return true;
      handle.resetText({ turn });
      if (at > shown) return false;
      const fresh = [...piece].slice(shown - at);
      shown += fresh.length;
      draft.append(fresh.join(""));
      status.textContent = "Writing";
      return true;
    },
    step(step) {
      if (step.parent === null) return; // the request itself
      const line = [...steps.children].find((item) => item.dataset.id === step.id);
      if (line && /is-(done|failed|cancelled)/.test(line.className)) return; // finished; other events are older
      const known = el("li", { "data-id": step.id, class: `step is-${step.status}` },
        step.kind === "tool" ? `${step.name}${step.asked ? `: ${step.asked}` : ""}` : step.name);
      if (line) line.replaceWith(known); else steps.append(known);
    },
    update({ text, live }) {
      if (text === null) question?.remove();
      if (!live || live.turn < current) return;
      handle.resetText(live);
      live.steps.forEach(handle.step);
      if (live.text) handle.text({ turn: live.turn, at: 0, piece: live.text });
    },
  };
  handle.update(waiting);
  return handle;
}

export function threadCard(thread, actions) {
  return el("li", { class: "message card-row" }, avatar(thread.owner), el("div", { class: "body" }, byline(thread.owner),
    el("a", { class: "thread-card", href: actions.address(thread.channel, thread.thread), onclick: actions.follow },
      el("strong", {}, thread.title), el("span", {}, `last message ${clock(thread.at)}`))));
}

// The result of a command, shown only to the person who gave it.
export function resultNode(command, html) {
  const node = el("li", { class: "result" },
    el("p", { class: "result-head" }, el("code", {}, command), el("span", {}, "only you see this"),
      el("button", { type: "button", "aria-label": "Dismiss", onclick: () => node.remove() }, "×")),
    fromSafeHtml("div", { class: "answer" }, html));
  return node;
}

function byline(author, at) {
  return el("p", { class: "byline" }, el("strong", {}, author === "footnote" ? "Footnote" : author),
    at ? el("time", { datetime: at }, clock(at)) : null);
}

function avatar(name) {
  if (name === "footnote") return el("span", { class: "avatar bot", "aria-hidden": "true" }, "[1]");
  let sum = 7;
  for (const letter of name) sum = (sum * 131 + letter.codePointAt(0)) % 65521;
  return el("span", { class: `avatar tone-${sum % COLOURS}`, "aria-hidden": "true" }, [...name][0].toUpperCase());
}
