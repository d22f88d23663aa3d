// Small behaviours that every page shares. Pages work without them.
import { copyText } from "./copy.js";

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element && event.target.closest("[data-copy]");
  if (button) copyText(button);
});

// A form that makes something is sent once, however often its button is pressed.
document.addEventListener("submit", (event) => {
  const form = event.target;
  // Not sent when its question was answered with no.
  if (!form.matches("[data-once]") || event.defaultPrevented) {
    return;
  }
  if (form.dataset.sent) {
    event.preventDefault();
    return;
  }
  form.dataset.sent = "yes";
  window.addEventListener("pageshow", () => delete form.dataset.sent, { once: true });
});

document.addEventListener("submit", (event) => {
  const question = event.target.dataset.confirm;
  if (question && !window.confirm(question)) event.preventDefault();
}, { capture: true });

// A filter that changes is applied at once; without scripts its form has a button.
for (const control of document.querySelectorAll("[data-submit-on-change]")) {
  control.addEventListener("change", () => control.form.requestSubmit());
}

const zoneField = document.querySelector('input[name="timezone"]:not([data-chosen])');
if (zoneField && !zoneField.value) {
  zoneField.value = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";
}

// "/" jumps to the search field, as people who live in keyboards expect.
document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, textarea, select, [contenteditable]");
  if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
  const field = document.querySelector('input[type="search"]');
  event.preventDefault();
  if (field) field.focus();
  else if (document.body.classList.contains("app")) window.location.assign("/search");
});
