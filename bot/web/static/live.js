// Updates part of a page: fetches [data-live] again until it is final, then the parts marked [data-then] once.
const EVERY_MS = 1500;

function openFolds(part) {
  return new Set([...part.querySelectorAll("details[open]")].map((fold) => fold.id));
}

async function refresh(part) {
  const open = openFolds(part);
  const focused = document.activeElement?.closest("details")?.id;
  const response = await fetch(location.href, { headers: { Accept: "text/html" } });
  if (!response.ok) return;
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = page.getElementById(part.id);
  if (!fresh) return;
  for (const fold of fresh.querySelectorAll("details")) fold.open = open.has(fold.id);
  part.replaceWith(fresh);
  if (focused) document.getElementById(focused)?.querySelector("summary")?.focus();
  if (fresh.dataset.live !== "yes") refreshRest(page);
  watch(fresh);
}

// What is chosen in a part stays chosen: it is left as it is.
function refreshRest(page) {
  for (const fresh of page.querySelectorAll("[data-then]")) {
    const old = document.getElementById(fresh.id);
    if (old && !old.querySelector(":checked, :focus")) old.replaceWith(fresh);
  }
}

function watch(part) {
  if (part?.dataset.live !== "yes") return;
  setTimeout(() => {
    const later = () => watch(document.getElementById(part.id));
    if (document.hidden) later();
    else refresh(part).catch(later);
  }, EVERY_MS);
}

for (const part of document.querySelectorAll("[data-live]")) watch(part);
