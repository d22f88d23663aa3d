// Sends export files and goes to the import's report. XMLHttpRequest, because fetch does not tell
// how much of an upload has been sent.
import { csrfToken, size } from "./format.js";

const READABLE = /\.(zip|json|jsonl|ndjson|zst|html?|md|csv|vscdb)$/i;
const NAMES_SHOWN = 5;

class Upload {
  constructor(form) {
    this.form = form;
    this.idle = form.querySelector("[data-idle]");
    this.busy = form.querySelector("[data-busy]");
    this.error = form.querySelector("[data-error]");
    this.progress = form.querySelector("[data-progress]");
    const files = form.querySelector("[data-files]");
    const folder = form.querySelector("[data-folder]");
    files.addEventListener("change", () => this.send([...files.files]));
    folder.addEventListener("change", () => this.send([...folder.files], { fromFolder: true }));
    form.querySelector("[data-pick-folder]").addEventListener("click", () => folder.click());
    form.querySelector("[data-stop]").addEventListener("click", () => this.request?.abort());
    form.addEventListener("submit", (event) => event.preventDefault());
    for (const name of ["dragenter", "dragover"]) form.addEventListener(name, (event) => this.over(event, true));
    form.addEventListener("dragleave", (event) => this.over(event, form.contains(event.relatedTarget)));
    form.addEventListener("drop", (event) => this.drop(event));
    // A file dropped beside the zone must not replace the page.
    for (const name of ["dragover", "drop"]) window.addEventListener(name, (event) => event.preventDefault());
    window.addEventListener("beforeunload", (event) => { if (this.request) event.preventDefault(); });
    // Chosen while the page was still loading, before anything listened.
    if (files.files.length) this.send([...files.files]);
  }

  over(event, isOver) {
    event.preventDefault();
    this.form.classList.toggle("is-over", isOver);
  }

  async drop(event) {
    this.over(event, false);
    const entries = [...event.dataTransfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
    if (!entries.some((entry) => entry.isDirectory)) {
      this.send([...event.dataTransfer.files]);
      return;
    }
    const files = [];
    for (const entry of entries) await collect(entry, files);
    this.send(files, { fromFolder: true });
  }

  send(files, { fromFolder = false } = {}) {
    const wanted = fromFolder ? files.filter((file) => READABLE.test(file.name)) : files;
    if (!wanted.length) {
      if (files.length) this.fail("No file in this folder can be imported.", "Choose the folder that holds conversations.json, or the ZIP as it came.");
      return;
    }
    this.error.hidden = true;
    this.show(wanted);
    const body = new FormData();
    for (const file of wanted) body.append("files", file, file.path || file.webkitRelativePath || file.name);
    const request = new XMLHttpRequest();
    this.request = request;
    request.open("POST", this.form.dataset.url);
    request.responseType = "json";
    request.setRequestHeader("X-CSRF-Token", csrfToken());
    request.setRequestHeader("Accept", "application/json");
    request.upload.addEventListener("progress", (event) => this.advance(event.loaded, event.total));
    request.addEventListener("load", () => this.answered(request));
    request.addEventListener("error", () => this.fail("The connection to the server broke.", "Nothing was imported. Check that Backread is running and drop the file again."));
    request.addEventListener("abort", () => this.reset());
    request.send(body);
  }

  show(files) {
    this.idle.hidden = true;
    this.busy.hidden = false;
    const names = files.slice(0, NAMES_SHOWN).map((file) => file.name);
    if (files.length > NAMES_SHOWN) names.push(`and ${files.length - NAMES_SHOWN} more`);
    this.form.querySelector("[data-names]").replaceChildren(...names.map((name) => {
      const line = document.createElement("li");
      line.textContent = name;
      return line;
    }));
    this.advance(0, files.reduce((sum, file) => sum + file.size, 0));
  }

  advance(sent, total) {
    this.progress.max = Math.max(total, 1);
    this.progress.value = sent;
    this.form.querySelector("[data-amount]").textContent = `${size(sent)} of ${size(total)}`;
    this.form.querySelector("[data-status]").textContent = total && sent >= total ? "Looking into it…" : "Uploading…";
  }

  answered(request) {
    this.request = null;
    const answer = request.response ?? {};
    if (request.status === 201 || request.status === 202) {
      window.location.assign(`/imports/${encodeURIComponent(answer.id)}`);
      return;
    }
    if (request.status === 401) {
      window.location.assign(`/sign-in?next=${encodeURIComponent(window.location.pathname)}`);
      return;
    }
    this.fail(answer.detail ?? "The server did not accept the upload.", answer.hint ?? "");
  }

  fail(message, hint) {
    this.reset();
    this.error.querySelector("[data-error-message]").textContent = message;
    this.error.querySelector("[data-error-hint]").textContent = hint;
    this.error.hidden = false;
  }

  reset() {
    this.request = null;
    this.busy.hidden = true;
    this.idle.hidden = false;
    for (const input of this.form.querySelectorAll('input[type="file"]')) input.value = "";
  }
}

async function collect(entry, files) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    file.path = entry.fullPath.replace(/^\//, "");
    files.push(file);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (!batch.length) return;
    for (const child of batch) await collect(child, files);
  }
}

for (const form of document.querySelectorAll("[data-upload]")) new Upload(form);
