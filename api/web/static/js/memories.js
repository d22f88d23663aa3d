// The name of a new bucket is asked for only when one is wanted. Without scripts it always stands
// there, and counts only if "New bucket…" is chosen.
function show(choice) {
  const name = choice.querySelector("[data-bucket-name]");
  const isNew = choice.querySelector("[data-bucket]").value === "new";
  name.hidden = !isNew;
  name.required = isNew;
}

for (const choice of document.querySelectorAll("[data-bucket-choice]")) {
  choice.addEventListener("change", () => show(choice));
  window.addEventListener("pageshow", () => show(choice));
}
