// Adds documents: `mountUpload(element)` draws a drop zone into any page, and a line for each file until it is read.
// Its page needs upload.css. The element gets an event "uploads" at every change: detail = { pending, read, failed }.
const ADDRESS = "/library/uploads";
const EVERY_MS = 700;
const AT_ONCE = 3; // files on their way at the same time
const SHOWN = 8; // lines; the others are counted
const CHOSEN = "footnote.upload-readers"; // of this browser
const CERTAIN = "some"; // the choice with readers of its own
const ACCEPT = { Accept: "application/json" };

function make(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
}

function isHidden(path) {
  return path.split("/").some((part) => part.startsWith("."));
}

async function readEntries(folder) {
  const reader = folder.createReader();
  const found = [];
  for (;;) {
    const some = await new Promise((done, fail) => reader.readEntries(done, fail));
    if (!some.length) return found;
    found.push(...some);
  }
}

// The files of a dropped file or folder, with their paths in it.
async function filesOf(entry, into = "") {
  const path = into + entry.name;
  if (entry.isDirectory) {
    const inside = await readEntries(entry);
    return (await Promise.all(inside.map((item) => filesOf(item, `${path}/`)))).flat();
  }
  const file = await new Promise((done, fail) => entry.file(done, fail));
  return [{ file, path }];
}

async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (!entries.length) return [...transfer.files].map((file) => ({ file, path: file.name }));
  return (await Promise.all(entries.map((entry) => filesOf(entry)))).flat();
}

class Upload {
  constructor(element) {
    this.element = element;
    this.rows = new Map(); // by key: { path, state, words, done, href, number }
    this.queue = [];
    this.held = []; // chosen files that wait for their readers
    this.sending = 0;
    this.limits = { most_bytes: Infinity, limit: "", kinds: "" };
  }

  async start() {
    this.draw();
    await this.poll();
  }

  draw() {
    this.summary = make("p", { className: "upload-summary", hidden: true });
    this.summary.setAttribute("role", "status");
    this.list = make("ul", { className: "upload-files card", hidden: true });
    this.kinds = make("p", { className: "upload-kinds quiet small" });
    this.limit = make("p", { className: "upload-limit quiet small" });
    this.title = make("p", { className: "upload-title", textContent: "Drop files or a folder here" });
    const files = make("input", { type: "file", multiple: true, hidden: true, className: "upload-input" });
    const folder = make("input", { type: "file", webkitdirectory: true, hidden: true, className: "upload-folder" });
    for (const input of [files, folder]) {
      input.addEventListener("change", () => {
        this.add([...input.files].map((file) => ({ file, path: file.webkitRelativePath || file.name })));
        input.value = "";
      });
    }
    const choose = make("button", { type: "button", className: "button strong", textContent: "Choose files" });
    const chooseFolder = make("button", { type: "button", className: "button", textContent: "Choose a folder" });
    choose.addEventListener("click", () => files.click());
    chooseFolder.addEventListener("click", () => folder.click());
    const buttons = make("div", { className: "upload-buttons" }, choose, chooseFolder, files, folder);
    this.zone = make("div", { className: "upload-zone" }, this.title, this.kinds, buttons, this.limit);
    this.zone.addEventListener("dragover", (event) => {
      event.preventDefault();
      this.zone.classList.add("is-over");
    });
    this.zone.addEventListener("dragleave", () => this.zone.classList.remove("is-over"));
    this.zone.addEventListener("drop", async (event) => {
      event.preventDefault();
      this.zone.classList.remove("is-over");
      this.add(await droppedFiles(event.dataTransfer));
    });
    this.readers = make("div", { className: "upload-readers", hidden: true });
    this.element.replaceChildren(this.summary, this.list, this.readers, this.zone, this.drawLink());
  }

  // Asks who may read the files, where others than the owner can read; the last choice of this browser comes first.
  drawReaders(choices, forms) {
    if (this.choice || !Object.keys(choices).length) return;
    const known = JSON.parse(localStorage.getItem(CHOSEN) || "{}");
    this.choice = make("select", { id: "choose-readers", required: true });
    this.choice.append(make("option", { value: "", textContent: "Choose" }),
      ...Object.entries(choices).map(([value, label]) => make("option", { value, textContent: label })));
    this.choice.value = known.readers in choices ? known.readers : "";
    this.certain = make("input", { ariaLabel: "Certain readers", placeholder: forms, value: known.only_readers || "", autocomplete: "off" });
    this.certain.hidden = this.choice.value !== CERTAIN;
    const changed = () => {
      this.certain.hidden = this.choice.value !== CERTAIN;
      this.choice.setCustomValidity("");
      this.certain.setCustomValidity("");
      const given = this.givenReaders();
      if (!given) return;
      localStorage.setItem(CHOSEN, JSON.stringify(given));
      this.add(this.held.splice(0));
    };
    for (const field of [this.choice, this.certain]) field.addEventListener("change", changed);
    this.readers.append(make("label", { htmlFor: this.choice.id, textContent: "Who may read it in chats?" }), this.choice, this.certain);
    this.readers.hidden = false;
  }

  // The chosen readers as fields of a form; null as long as they are missing.
  givenReaders() {
    if (!this.choice) return {};
    const given = { readers: this.choice.value, only_readers: this.choice.value === CERTAIN ? this.certain.value.trim() : "" };
    return given.readers && (given.readers !== CERTAIN || given.only_readers) ? given : null;
  }

  askReaders() {
    const field = this.choice.value ? this.certain : this.choice;
    field.setCustomValidity("Say who may read it in chats.");
    field.reportValidity();
  }

  // The form of the page without a script, or one like it.
  drawLink() {
    const url = make("input", { type: "url", id: "upload-url", placeholder: "https://", maxLength: 2000, required: true, autocomplete: "off" });
    const form = make("form", { className: "upload-link" }, make("label", { htmlFor: url.id, textContent: "Or paste a link" }), url,
      make("button", { className: "button", textContent: "Add link" }));
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const readers = this.givenReaders();
      if (!readers) {
        this.askReaders();
        return;
      }
      const problem = await this.change("link", { url: url.value, ...readers });
      if (!problem) form.reset();
      url.setCustomValidity(problem);
      if (problem) url.reportValidity();
    });
    url.addEventListener("input", () => url.setCustomValidity(""));
    return form;
  }

  // Adds or takes back a link; returns the sentence that refuses it.
  async change(what, fields) {
    try {
      const response = await fetch(`${ADDRESS}/${what}`, { method: "POST", body: new URLSearchParams(fields), headers: ACCEPT });
      const found = await response.json();
      if (found.error) return found.error;
      this.takeIn(found.files);
      this.watch();
      return "";
    } catch {
      return "Footnote did not answer. Is it running? Then try again.";
    }
  }

  add(chosen) {
    const readers = this.givenReaders();
    if (!readers && chosen.length) {
      this.held.push(...chosen);
      this.askReaders();
      return;
    }
    for (const { file, path } of chosen) {
      if (isHidden(path)) continue;
      const row = { path, state: "waiting", words: "waiting", key: {} };
      this.rows.set(row.key, row);
      if (file.size > this.limits.most_bytes) {
        Object.assign(row, { state: "refused", words: `Larger than ${this.limits.limit}. Split the file.` });
      } else this.queue.push({ file, row, readers });
    }
    this.show();
    this.next();
  }

  next() {
    while (this.sending < AT_ONCE && this.queue.length) {
      const { file, row, readers } = this.queue.shift();
      this.sending += 1;
      this.send(file, row, readers).finally(() => {
        this.sending -= 1;
        this.next();
      });
    }
  }

  async send(file, row, readers) {
    Object.assign(row, { state: "sending", words: "sending" });
    this.show();
    const form = new FormData();
    for (const [name, value] of Object.entries(readers)) form.append(name, value);
    form.append("path", row.path);
    form.append("file", file, file.name);
    try {
      const response = await fetch(ADDRESS, { method: "POST", body: form, headers: ACCEPT });
      const found = await response.json();
      if (found.error) Object.assign(row, { state: "refused", words: found.error });
      else if (found.refused.length) Object.assign(row, { state: "refused", words: this.withoutName(found.refused[0], row.path) });
      else this.take(row, found.files[0]);
    } catch {
      Object.assign(row, { state: "refused", words: "The file did not arrive. Is Footnote running? Then add it again." });
    }
    this.show();
    this.watch();
  }

  withoutName(sentence, path) {
    return sentence.startsWith(`${path}: `) ? sentence.slice(path.length + 2) : sentence;
  }

  // The row of an accepted file is known by its number from now on.
  take(row, file) {
    this.rows.delete(row.key);
    for (const [key, other] of this.rows) if (other.number && other.path === file.path) this.rows.delete(key);
    this.rows.set(file.number, { ...file, key: file.number });
  }

  watch() {
    if (this.timer) return;
    this.timer = setTimeout(async () => {
      this.timer = null;
      await this.poll().catch(() => this.watch());
    }, EVERY_MS);
  }

  async poll() {
    const response = await fetch(ADDRESS, { headers: ACCEPT });
    if (!response.ok) return;
    const { files, pending, readers, forms, ...limits } = await response.json();
    this.drawReaders(readers, forms);
    this.limits = limits;
    this.kinds.textContent = limits.kinds;
    this.limit.textContent = `Up to ${limits.limit} a file.`;
    this.takeIn(files);
    if (pending) this.watch();
  }

  takeIn(files) {
    for (const file of files) {
      const isOpen = ["waiting", "reading"].includes(file.state);
      if (isOpen || this.rows.has(file.number)) this.rows.set(file.number, { ...file, key: file.number });
    }
    this.show();
  }

  show() {
    const rows = [...this.rows.values()];
    const of = (...states) => rows.filter((row) => states.includes(row.state));
    const read = of("read").length;
    const open = of("waiting", "sending", "reading").length;
    const failed = of("failed", "refused").length;
    const lines = [...of("failed", "refused"), ...of("reading", "sending"), ...of("waiting"), ...of("read", "undone").reverse()];
    const shown = lines.slice(0, Math.max(SHOWN, failed));
    const words = open ? `Reading ${read + failed + 1} of ${rows.length}` : failed ? `${read} read, ${failed} could not be read` : `${read} read`;
    this.summary.textContent = rows.length > 1 ? words : "";
    this.summary.hidden = rows.length < 2;
    this.list.hidden = !rows.length;
    const drawn = JSON.stringify(shown);
    if (drawn !== this.drawn) this.list.replaceChildren(...shown.map((row) => this.line(row))); // else the focus stays
    this.drawn = drawn;
    this.zone.classList.toggle("is-slim", rows.length > 0);
    this.title.textContent = rows.length ? "Drop more files here" : "Drop files or a folder here";
    this.element.dispatchEvent(new CustomEvent("uploads", { detail: { pending: open, read, failed }, bubbles: true }));
  }

  undoButton(row) {
    const button = make("button", { type: "button", className: "link small", textContent: "Undo" });
    button.addEventListener("click", async () => {
      button.disabled = true;
      const problem = await this.change("undo", { undo: row.undo });
      if (!problem) return;
      this.rows.set(row.key, { ...row, undo: "", words: problem });
      this.show();
    });
    return button;
  }

  line(row) {
    const name = row.href ? make("a", { href: row.href, textContent: row.path }) : row.path;
    const line = make("span", { className: "upload-line" });
    if (row.path) line.append(make("span", { className: "upload-name" }, name, ":"), " ");
    line.append(make("span", { className: "upload-words", textContent: row.words }));
    if (!row.path && row.href) line.append(" ", make("a", { href: row.href, textContent: "Open" }));
    if (row.undo) line.append(" ", this.undoButton(row));
    const made = make("li", { className: row.state }, line);
    if (row.done) made.append(make("progress", { max: 1, value: row.done, ariaLabel: row.path || row.words }));
    return made;
  }
}

export function mountUpload(element) {
  return new Upload(element).start();
}

const own = document.querySelector("[data-upload]");
if (own) {
  mountUpload(own);
  // An empty library becomes a list once the first files are read.
  if (own.dataset.reload) own.addEventListener("uploads", ({ detail }) => {
    if (detail.read && !detail.pending && !detail.failed) location.assign("/library");
  });
}
