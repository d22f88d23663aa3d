// The viewer of a document: goes to the page that is chosen, and shows the marked passage.
document.querySelector("#passage")?.scrollIntoView({ block: "center" });

document.addEventListener("keydown", (event) => {
  if (event.target.matches("input, textarea, select") || event.ctrlKey || event.metaKey || event.altKey) return;
  const rel = { ArrowLeft: "prev", ArrowRight: "next" }[event.key];
  const link = rel && document.querySelector(`.page-turns a[rel="${rel}"]`);
  if (link) window.location.assign(link.href);
});
