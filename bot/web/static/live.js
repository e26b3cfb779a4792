// Updates part of a page: fetches [data-live] again until it is final.
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
  watch(fresh);
}

function watch(part) {
  if (part?.dataset.live !== "yes") return;
  setTimeout(() => {
    const later = () => watch(document.getElementById(part.id));
    if (document.hidden) later();
    else refresh(part).catch(later);
  }, EVERY_MS);
}

watch(document.querySelector("[data-live]"));
