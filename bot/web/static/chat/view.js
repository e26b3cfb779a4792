// Elements of messages. Text of people and documents is inserted as text; the service sanitises the bot's HTML.

import { clock, el, fromSafeHtml, icon } from "./dom.js";

const MANY = 3; // with more documents, two chips are shown and a button for the rest

export function messageNode(message, actions) {
  return message.role === "user" ? personNode(message) : answerNode(message, actions);
}

export function personNode({ author, text, at, mine }) {
  return el("li", { class: `message from-person${mine ? " is-mine" : ""}` }, byline(mine ? "You" : author, mine),
    el("p", { class: "said", title: at ? clock(at) : null }, text));
}

function answerNode(message, actions) {
  if (!actions.mayAnswer()) message = { ...message, choices: [], suggestions: [], again: [] };
  const failed = ["error", "refused", "stopped"].includes(message.status);
  const node = el("li", { class: `message from-bot${message.note ? " is-note" : ""}`, "data-id": message.id }, byline("Footnote", true));
  if (message.stale || message.note) node.append(staleNode(message, actions));
  if (message.status === "error") node.append(el("p", { class: "failed" }, el("strong", {}, "No answer this time.")));
  if (message.quoted && message.sources.length === 1) node.append(el("p", { class: "from" }, "From ", el("strong", {}, message.sources[0].title)));
  if (!message.note) node.append(answerText(message, failed));
  if (message.gaps?.length) node.append(el("p", { class: "gaps" }, `Asked and not found: ${message.gaps.join("; ")}`));
  const broken = (message.references?.named ?? []).filter((row) => !row.href);
  for (const row of broken) node.append(el("p", { class: "gaps" }, [`“${row.label}” ${row.detail}.`, row.summary].filter(Boolean).join(" ")));
  if (message.sources?.length) node.append(chipsNode(message));
  if (message.choices?.length) node.append(questionsNode("Which one do you mean?", message.choices, actions, "chosen"));
  if (failed) node.append(failedNode(message, actions));
  else if (!message.note) node.append(...rowNodes(message, actions));
  if (message.suggestions?.length) node.append(questionsNode("You could also ask", message.suggestions, actions, "suggested"));
  return node;
}

// No answer: the next step, and what happened.
function failedNode(message, actions) {
  const again = message.status === "stopped" ? "Ask again" : "Try again";
  return el("div", { class: "questions" },
    actions.mayAnswer() ? el("button", { type: "button", class: "button strong", onclick: () => actions.repeat(message.id) }, again) : null,
    message.job ? el("a", { class: "button how", href: `/jobs/${encodeURIComponent(message.job)}` }, "What happened") : null);
}

function answerText(message, failed) {
  const classes = ["answer", failed && `is-${message.status}`, message.quoted && "is-quoted"].filter(Boolean);
  return fromSafeHtml("div", { class: classes.join(" ") }, message.html);
}

// Stale answers, and notes about them: a button asks the same question again, once.
function staleNode(message, actions) {
  const offered = message.again ?? [];
  const said = message.note ? fromSafeHtml("div", { class: "answer" }, message.html)
    : el("p", {}, "A document behind this answer was changed or deleted.");
  const buttons = offered.map(({ message: id, question }) => {
    const button = el("button", { type: "button", class: "again", title: question, onclick: async () => {
      button.disabled = true;
      if (!await actions.again(id)) button.disabled = false;
    } }, offered.length > 1 ? `Ask again: ${question}` : "Ask again");
    return button;
  });
  return el("div", { class: message.note ? "note" : "stale" }, said, ...buttons);
}

// One chip for each document: its footnotes, its title, and its place if it is one place.
function chipsNode(message) {
  const { sources, quoted } = message;
  const shown = sources.length > MANY ? sources.slice(0, 2) : sources;
  const rest = sources.slice(shown.length).map((source) => chipNode(source));
  const row = el("ul", { class: "chips", "aria-label": "Sources" }, ...shown.map((source) => chipNode(source, quoted && sources.length === 1)));
  if (rest.length) {
    const more = el("button", { type: "button", class: "chip", onclick: () => {
      item.remove();
      row.append(...rest);
      rest[0].querySelector(".source").focus();
    } }, `+ ${rest.length} documents`);
    const item = el("li", {}, more);
    row.append(item);
  }
  return row;
}

function chipNode({ title, place, notes }, isNamed = false) {
  const numbers = notes.map(({ number, href, name }, index) => el("a", { class: "number", href, "data-number": String(number), "aria-label": name, tabindex: index ? null : "-1" }, String(number)));
  const words = isNamed ? [place || "Open the passage"] : [title, place ? el("span", { class: "place-in" }, ` ${place}`) : null];
  return el("li", { class: "chip" }, ...numbers,
    el("a", { class: "source", href: notes[0].href, "data-number": String(notes[0].number), title: [title, place].filter(Boolean).join(", ") },
      el("span", { class: "unseen" }, `Footnote ${notes[0].number}: `), ...words));
}

// Everything that can be done with an answer, in one row.
function rowNodes(message, actions) {
  const row = el("div", { class: "row" });
  for (const [value, name] of actions.mayAnswer() ? [["up", "Helpful"], ["down", "Not helpful"]] : []) {
    const pressed = message.rated === value;
    row.append(el("button", { type: "button", class: `icon-button thumb ${value}`, "aria-label": name, title: name,
      "aria-pressed": String(pressed), onclick: () => actions.rate(message.id, pressed ? "none" : value) }, icon("helpful", value)));
  }
  if (navigator.clipboard) {
    const copy = el("button", { type: "button", class: "icon-button", title: "Copy with sources", onclick: async () => {
      await navigator.clipboard.writeText(asText(message));
      copy.replaceChildren(icon("done"), el("span", { class: "unseen", role: "status" }, "Copied"));
      setTimeout(() => copy.replaceChildren(el("span", { class: "unseen" }, "Copy with sources"), icon("copy")), 2000);
    } }, el("span", { class: "unseen" }, "Copy with sources"), icon("copy"));
    row.append(copy);
  }
  const looked = lookedAtNode(message.references);
  const choices = [
    message.job ? el("a", { href: `/jobs/${encodeURIComponent(message.job)}`, class: "how" }, "How this was answered") : null,
    actions.canKeep(message) ? el("button", { type: "button", onclick: () => actions.say("/keep") }, "Keep this answer") : null,
    looked ? el("button", { type: "button", onclick: () => { looked.hidden = !looked.hidden; } }, "Also looked at") : null,
    actions.mayAnswer() ? el("button", { type: "button", onclick: () => actions.repeat(message.id) }, "Ask again") : null,
  ].filter(Boolean);
  if (choices.length) row.append(el("details", { class: "menu" },
    el("summary", { class: "icon-button", title: "More" }, el("span", { class: "unseen" }, "More"), icon("more")), el("div", { class: "choices" }, ...choices)));
  const why = whyNode(message, actions);
  return [row, why, looked].filter(Boolean);
}

// After "Not helpful": one line that may be left unanswered.
function whyNode(message, actions) {
  const reasons = actions.reasons(message.id);
  if (!reasons.length) return null;
  return el("div", { class: "questions why", role: "group", "aria-label": "What was wrong?" }, el("p", {}, "What was wrong?"),
    ...reasons.map(([reason, label]) => el("button", { type: "button", class: "button", onclick: () => actions.rate(message.id, "down", reason) }, label)));
}

// The answer as it would be pasted: numbers in brackets, and what they stand for.
function asText(message) {
  const copy = fromSafeHtml("div", {}, message.html);
  for (const link of copy.querySelectorAll("a.footnote")) link.replaceWith(`[${link.dataset.number}]`);
  for (const block of copy.querySelectorAll("p, li, tr, pre, blockquote, h1, h2, h3, h4")) block.append("\n");
  for (const cell of copy.querySelectorAll("td, th")) cell.append("\t");
  const notes = message.sources.flatMap(({ title, notes }) => notes.map(({ number, place }) => ({ number, text: `[${number}] ${[title, place].filter(Boolean).join(", ")}` })));
  notes.sort((one, other) => one.number - other.number);
  return [copy.textContent.replace(/\n\s*\n+/g, "\n\n").trim(), notes.map(({ text }) => text).join("\n")].filter(Boolean).join("\n\n");
}

function lookedAtNode({ named = [], seen = [] } = {}) {
  const rows = [...named, ...seen].filter((row) => row.href);
  if (!rows.length) return null;
  return el("div", { class: "looked", role: "group", "aria-label": "Also looked at", hidden: true }, el("p", {}, "Also looked at"),
    el("ul", {}, ...rows.map(({ label, href, detail }) => el("li", {}, el("a", { href, title: detail || null }, label)))));
}

function questionsNode(title, questions, actions, kind) {
  const buttons = questions.map((question) => el("button", { type: "button", class: kind === "chosen" ? "button" : "", onclick: () => actions.ask(question) },
    kind === "chosen" ? null : icon("next"), question));
  return el("div", { class: `questions ${kind}`, role: "group", "aria-label": title }, kind === "chosen" ? el("p", {}, title) : null, ...buttons);
}

// A queued or running question. Events and states arrive in any order, some twice: `turn` identifies the draft, and the
// offset of a piece shows whether it is new.
export function waitingNode(waiting, actions) {
  const question = waiting.text === null ? null : el("ol", { class: "bare" }, personNode(waiting));
  const draft = el("div", { class: "draft", "aria-live": "off" });
  const steps = el("ul", { class: "steps" });
  const status = el("span", { class: "working" }, "Waiting for its turn");
  const stop = el("button", { type: "button", class: "stop button", onclick: () => actions.stop(waiting.key, stop) }, "Stop");
  const bar = el("div", { class: "progress" }, el("span", { class: "dots", "aria-hidden": "true" }), status, waiting.mine ? stop : null);
  const node = el("li", { class: "waiting", "data-key": waiting.key }, question, el("div", { class: "message from-bot" }, byline("Footnote", true), steps, draft, bar));
  let current = 0; // the turn of the shown draft
  let shown = 0; // number of its characters, counted as the service does
  let said = ""; // the draft with its markers
  const restart = (turn) => {
    [current, shown, said] = [turn, 0, ""];
    draft.textContent = "";
    status.textContent = "Searching the documents";
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
      said += fresh.join("");
      draft.textContent = actions.readable(said);
      status.textContent = "Writing the answer";
      return true;
    },
    step(step) {
      if (step.parent === null || !step.words) return; // the request itself, or nothing that a person needs to know
      const lines = [...steps.children];
      const line = lines.find((item) => item.dataset.id === step.id);
      if (line && /is-(done|failed|cancelled)/.test(line.className)) return; // finished; other events are older
      if (!line && lines.some((item) => item.textContent === step.words)) return; // said once
      const known = el("li", { "data-id": step.id, class: `step is-${step.status}` }, step.words);
      if (line) line.replaceWith(known); else steps.append(known);
      if (!said) status.textContent = step.words;
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
  return el("li", { class: "message card-row" },
    el("a", { class: "thread-card", href: actions.address(thread.channel, thread.thread), onclick: actions.follow },
      el("strong", {}, thread.title), el("span", {}, `${thread.owner}, ${clock(thread.at)}`)));
}

// The result of a command, shown only to the person who gave it.
export function resultNode(command, html) {
  const node = el("li", { class: "result" },
    el("p", { class: "result-head" }, el("code", {}, command), el("span", {}, "only you see this"),
      el("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", onclick: () => node.remove() }, "×")),
    fromSafeHtml("div", { class: "answer" }, html));
  return node;
}

const byline = (author, isUnseen) => el("p", { class: `byline${isUnseen ? " unseen" : ""}` }, el("strong", {}, author));
