// The source viewer: arrow keys turn pages, a button copies addresses that browsers can't open, failed images are removed.
document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (event.target.closest("input, textarea, select, .text table, pre")) return;
  const wanted = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const link = wanted && document.querySelector(`.turn a[rel="${wanted}"]`);
  if (link) link.click();
});

for (const button of document.querySelectorAll("[data-copy]")) {
  button.hidden = !navigator.clipboard;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = "Copied";
  });
}

for (const picture of document.querySelectorAll(".printed img")) {
  const stepAside = () => {
    picture.closest(".printed").hidden = true;
    picture.closest(".viewer").classList.remove("pictured");
  };
  if (picture.complete && picture.naturalWidth === 0) stepAside();
  picture.addEventListener("error", stepAside);
}
