// The set-up pages: fields that depend on others, secrets that can be shown, texts to copy, and checks while one looks.
const EVERY_MS = 3000;
const form = document.getElementById("wizard");
const findings = document.getElementById("findings");

// Fields of another choice are hidden, and not sent.
function arrange() {
  for (const field of document.querySelectorAll("[data-only-if]")) {
    const inputs = [...document.querySelectorAll(`[name$=".${CSS.escape(field.dataset.onlyIf)}"]`)];
    const found = inputs.filter((input) => !input.disabled && (!["radio", "checkbox"].includes(input.type) || input.checked));
    const values = field.dataset.onlyValue.split(" ");
    const applies = found.some((input) => values.includes(input.value));
    field.hidden = !applies;
    for (const input of field.querySelectorAll("[form=wizard]")) input.disabled = !applies;
  }
}

function startSecrets() {
  for (const button of document.querySelectorAll("[data-show]")) {
    const input = document.getElementById(button.dataset.show);
    button.hidden = false;
    button.setAttribute("aria-label", "Show what is entered");
    button.addEventListener("click", () => {
      const shows = input.type === "password";
      input.type = shows ? "text" : "password";
      button.textContent = shows ? "Hide" : "Show";
      button.setAttribute("aria-pressed", shows);
    });
    input.addEventListener("paste", () => setTimeout(() => check(new FormData(form))));
  }
  for (const details of document.querySelectorAll(".replace")) {
    details.addEventListener("toggle", () => details.querySelector("input").focus());
  }
}

function startCopies() {
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.hidden = false;
    button.addEventListener("click", async () => {
      const text = document.getElementById(button.dataset.copy);
      try {
        await navigator.clipboard.writeText(text.textContent);
        button.querySelector("span").textContent = "Copied";
      } catch { // without permission: selected, to be copied by the keyboard
        getSelection().selectAllChildren(text);
        button.querySelector("span").textContent = "Press Ctrl C";
      }
    });
  }
}

// Only lines that changed are replaced, so that only they are read out.
function showFindings(fresh) {
  const lines = [...fresh.children];
  const old = [...findings.children];
  for (const [place, line] of lines.entries()) {
    if (!old[place]) findings.append(line);
    else if (old[place].outerHTML !== line.outerHTML) old[place].replaceWith(line);
  }
  for (const line of old.slice(lines.length)) line.remove();
  document.getElementById("again").hidden = !lines.length;
}

// New choices, such as a server that the bot has joined; what was chosen stays.
function showChoices(page) {
  for (const part of page.querySelectorAll("[data-choices]")) {
    const shown = document.getElementById(part.id);
    const values = (inside) => [...inside.querySelectorAll("input")].map((input) => input.value).join("\n");
    if (!shown || values(shown) === values(part)) continue;
    const chosen = new Set([...shown.querySelectorAll("input:checked")].map((input) => input.value));
    if (chosen.size) for (const input of part.querySelectorAll("input")) input.checked = chosen.has(input.value);
    shown.replaceWith(part);
  }
  arrange();
}

async function fetchPage(address, options = {}) {
  const response = await fetch(address, { headers: { Accept: "text/html" }, ...options });
  if (!response.ok) throw new Error(response.status);
  return new DOMParser().parseFromString(await response.text(), "text/html");
}

let asked = 0; // a later check replaces an earlier one

async function check(body) {
  const mine = (asked += 1);
  findings.setAttribute("aria-busy", "true");
  try {
    body?.set("do", "check");
    const page = body ? await fetchPage(form.action, { method: "POST", body: new URLSearchParams(body) })
      : await fetchPage(document.getElementById("again").querySelector("a").href);
    if (mine !== asked) return;
    const fresh = page.getElementById("findings");
    // What a form was told stays until something else is known.
    if (fresh && (fresh.children.length || findings.dataset.told !== "yes")) showFindings(fresh);
    if (fresh) showChoices(page);
    if (body) {
      findings.dataset.told = "yes";
      form.elements.seen.value = page.querySelector("[name=seen]")?.value || "";
    }
  } catch { // the service starts again, or is gone: the next check tells
  } finally {
    if (mine === asked) findings.removeAttribute("aria-busy");
  }
}

async function keepChecking() {
  const isBusy = findings.hasAttribute("aria-busy") || form.classList.contains("is-sent");
  if (!document.hidden && !isBusy) await check(null);
  setTimeout(keepChecking, EVERY_MS);
}

// While the service starts again: this page, until there is another one.
async function wait() {
  const page = await fetchPage(location.href).catch(() => null);
  if (page && !page.getElementById("waiting")) location.reload();
  else setTimeout(wait, EVERY_MS / 4);
}

if (form) {
  arrange();
  document.addEventListener("change", arrange);
  startSecrets();
  startCopies();
  form.addEventListener("submit", (event) => {
    if (form.classList.contains("is-sent")) event.preventDefault();
    form.classList.add("is-sent");
    if (event.submitter?.classList.contains("strong")) event.submitter.textContent = "Checking …";
  });
  const again = document.getElementById("again");
  again.querySelector("a").hidden = true;
  again.append("This is checked again every few seconds.");
  setTimeout(keepChecking, EVERY_MS);
}
if (document.getElementById("waiting")) wait();
