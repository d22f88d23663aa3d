// Passkeys: adding one, and signing in with one. Pages work without them.
const box = document.querySelector("[data-passkeys]");
const isAtHome = box?.dataset.origin === location.origin;

if (box) {
  // Browsers hide all of it from pages that are neither https nor on this machine.
  const state = !isAtHome ? "elsewhere" : window.PublicKeyCredential ? "ready" : "unsupported";
  for (const name of ["ready", "elsewhere", "unsupported"]) {
    box.querySelector(`[data-passkeys-${name}]`)?.toggleAttribute("hidden", name !== state);
  }
}

document.querySelector("[data-add-passkey]")?.addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = event.target;
  const csrf = document.querySelector('meta[name="csrf-token"]').content;
  await attempt(form, async () => {
    const asked = await post("/settings/passkeys/options", csrf, { current_password: form.elements.current_password.value });
    const credential = await navigator.credentials.create({ publicKey: decoded(asked.options) });
    return post("/settings/passkeys", csrf, { token: asked.token, name: form.elements.name.value, credential: encoded(credential) });
  });
});

document.querySelector("[data-passkey-sign-in]")?.addEventListener("click", async (event) => {
  const button = event.currentTarget;
  const { csrf, next } = button.dataset;
  await attempt(button.parentElement, async () => {
    const asked = await post("/sign-in/passkey/options", csrf, {});
    const credential = await navigator.credentials.get({ publicKey: decoded(asked.options) });
    return post("/sign-in/passkey", csrf, { token: asked.token, next, credential: encoded(credential) });
  });
});

// Does it, goes where the server says, or shows what went wrong.
async function attempt(place, work) {
  const problem = place.querySelector("[data-problem]");
  const button = place.querySelector("button");
  problem.hidden = true;
  button.disabled = true;
  try {
    const answer = await work();
    location.assign(answer.location);
  } catch (error) {
    button.disabled = false;
    problem.textContent = inWords(error);
    problem.hidden = false;
  }
}

function inWords(error) {
  if (error.name === "NotAllowedError") return "Nothing was confirmed on your device. Try again when you are ready.";
  if (error.name === "InvalidStateError") return "This device has a passkey for your account already.";
  if (error.name === "SecurityError") return "Passkeys need a host name, such as backread.example.org; this server's address has none.";
  return error.message;
}

async function post(address, csrf, body) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json", "X-CSRF-Token": csrf },
    body: JSON.stringify(body),
  });
  const result = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error([result.detail, result.hint].filter(Boolean).join(" ") || "The server did not answer as it should. Reload the page.");
  return result;
}

// WebAuthn speaks bytes, JSON speaks base64url.
function decoded(options) {
  const listed = (credentials) => credentials?.map((each) => ({ ...each, id: bytes(each.id) }));
  return {
    ...options,
    challenge: bytes(options.challenge),
    ...(options.user && { user: { ...options.user, id: bytes(options.user.id) } }),
    ...(options.excludeCredentials && { excludeCredentials: listed(options.excludeCredentials) }),
    ...(options.allowCredentials && { allowCredentials: listed(options.allowCredentials) }),
  };
}

function encoded(credential) {
  const given = credential.response;
  const fields = {};
  for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (given[name]) fields[name] = text(given[name]);
  }
  if (given.getTransports) fields.transports = given.getTransports();
  return {
    id: credential.id,
    rawId: text(credential.rawId),
    type: credential.type,
    authenticatorAttachment: credential.authenticatorAttachment,
    clientExtensionResults: credential.getClientExtensionResults(),
    response: fields,
  };
}

function bytes(value) {
  const plain = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(plain, (character) => character.charCodeAt(0));
}

function text(buffer) {
  const plain = String.fromCharCode(...new Uint8Array(buffer));
  return btoa(plain).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
