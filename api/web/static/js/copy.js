// Copies what stands beside a [data-copy] button, or its own data-copy text, and says so.
const SHOWN_FOR_MS = 1600;

export async function copyText(button) {
  const source = button.parentElement.querySelector("[data-copy-source]") ?? button.closest(".code")?.querySelector("code");
  const text = button.dataset.copy || source?.textContent || "";
  const done = await write(text);
  const label = button.querySelector("[data-copy-label]") ?? button;
  const before = label.dataset.before ?? label.textContent;
  label.dataset.before = before;
  label.textContent = done ? "Copied" : "Press Ctrl+C";
  window.setTimeout(() => { label.textContent = before; }, SHOWN_FOR_MS);
}

// The clipboard API needs https or loopback; elsewhere a selected field does it.
async function write(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const field = document.createElement("textarea");
    field.value = text;
    field.className = "visually-hidden";
    document.body.append(field);
    field.select();
    const done = document.execCommand("copy");
    field.remove();
    return done;
  }
}
