// Memories to review: choosing many at once, and where they go. Without scripts every suggestion
// still has its own box.
const form = document.querySelector("[data-review]");

function boxes() {
  return [...form.querySelectorAll('input[name="id"]:not(:disabled)')];
}

function setAll(box, members) {
  const chosen = members.filter((each) => each.checked).length;
  box.checked = members.length > 0 && chosen === members.length;
  box.indeterminate = chosen > 0 && chosen < members.length;
}

function refresh() {
  const all = boxes();
  const chosen = all.filter((each) => each.checked).length;
  const every = form.querySelector("[data-every]")?.checked ?? false;
  const main = form.querySelector("[data-all]");
  if (!main) return;
  setAll(main, all);
  form.querySelector("[data-count]").textContent = chosen ? `${chosen} chosen` : "Choose all";
  for (const group of form.querySelectorAll("[data-group]")) {
    setAll(group, [...group.closest("[data-members]").querySelectorAll('input[name="id"]:not(:disabled)')]);
  }
  for (const button of form.querySelectorAll("[data-decide]")) button.disabled = !chosen && !every;
}

function showName() {
  const select = form.querySelector("[data-bucket]");
  const name = form.querySelector("[data-bucket-name]");
  if (!select) return;
  const isNew = select.value === "new";
  name.hidden = !isNew;
  name.required = isNew;
}

if (form) {
  for (const element of form.querySelectorAll("[data-needs-script]")) element.hidden = false;
  form.addEventListener("change", (event) => {
    const target = event.target;
    if (target.matches("[data-all]")) for (const box of boxes()) box.checked = target.checked;
    if (target.matches("[data-group]")) {
      for (const box of target.closest("[data-members]").querySelectorAll('input[name="id"]:not(:disabled)')) box.checked = target.checked;
    }
    if (target.matches("[data-bucket]")) showName();
    refresh();
  });
  form.addEventListener("click", (event) => {
    // A new bucket needs its name only when something goes into it.
    const button = event.target.closest("[data-decide]");
    if (button && button.value !== "accept") form.querySelector("[data-bucket-name]").required = false;
  });
  // The edited one goes into the bucket that is chosen above.
  document.querySelector("#edit:has([data-edit-bucket])")?.addEventListener("submit", (event) => {
    event.target.querySelector("[data-edit-bucket]").value = form.querySelector("[data-bucket]").value;
    event.target.querySelector("[data-edit-bucket-name]").value = form.querySelector("[data-bucket-name]").value;
  });
  window.addEventListener("pageshow", () => { showName(); refresh(); });
}
