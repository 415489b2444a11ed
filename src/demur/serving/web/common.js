// What all pages share: elements, requests, the key if one is needed, and quotes counted in code points.

export const at = (id) => document.getElementById(id);

// What there is of some parts: `condition && part` leaves false, null or an empty text.
const there = (parts) => parts.filter((each) => each !== false && each != null && each !== "");

export function el(tag, facts = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(facts)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...there(inside));
  return made;
}

export function put(where, ...inside) {
  where.replaceChildren(...there(inside));
}

export const percent = (share) => `${+(100 * share).toFixed(1)} %`;

export const number = (value) => value.toLocaleString("en-GB");

export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export function say(error) {
  put(at("problem"), error ? el("p", { class: "problem" }, error.message || String(error)) : null);
}

export async function send(method, path, body = null, raw = false) {
  const headers = {};
  const key = sessionStorage.getItem("key");
  if (key) headers.Authorization = `Bearer ${key}`;
  if (body !== null && !raw) headers["Content-Type"] = "application/json";
  if (raw) headers["Content-Type"] = "application/octet-stream";
  let answer;
  try {
    answer = await fetch(path, { method, headers, body: body === null || raw ? body : JSON.stringify(body) });
  } catch {
    throw new Problem(0, "The server cannot be reached. Is it still running?");
  }
  if (answer.status === 401) {
    await askForKey(Boolean(key));
    return send(method, path, body, raw);
  }
  return answer;
}

export async function api(method, path, body = null, raw = false) {
  const answer = await send(method, path, body, raw);
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Problem(answer.status, told.message || `The server answered ${answer.status}.`);
  return told;
}

let asking = null;

function askForKey(wrong) {
  asking ??= new Promise((known) => {
    const field = el("input", { id: "key", type: "password", autocomplete: "off", required: true });
    const form = el(
      "form",
      { class: "card" },
      el("label", { for: "key" }, wrong ? "That key is not right; try another" : "This server asks for a key"),
      el("div", { class: "row" }, field, el("button", {}, "Use it")),
    );
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      sessionStorage.setItem("key", field.value.trim());
      form.remove();
      asking = null;
      known();
    });
    at("main").prepend(form);
    field.focus();
  });
  return asking;
}

export const pause = (seconds) => new Promise((done) => setTimeout(done, 1000 * seconds));

export async function finished(job) {
  while (job.state === "running") {
    await pause(0.5);
    job = await api("GET", `/v1/jobs/${job.id}`);
  }
  if (job.state === "failed") throw new Problem(422, job.error);
  return job.result;
}

// The text with a stretch marked; the server counts code points, and strings here have UTF-16 units.
export function marked(text, span) {
  if (!span) return [text];
  const points = Array.from(text);
  const cut = (start, end) => points.slice(start, end).join("");
  return [cut(0, span.start), el("mark", {}, cut(span.start, span.end)), cut(span.end)];
}

// What is promised, and whether that is about these documents.
export function promised(info) {
  if (info.promise_waits) return `Nothing is promised until more passages can be found by meaning: ${number(info.embedded)} of ${number(info.passages)} so far.`;
  if (!info.promise) return info.documents === null ? "" : "Nothing is promised: there is no gate for these documents. Label some questions to make one.";
  const promise = info.faq_promise ? `${info.promise} For entries of an FAQ: ${info.faq_promise}` : info.promise;
  if (info.calibrated_on !== null || !info.knowledge_base) return promise;
  return `${promise} They were not about your documents: label some questions of your own to have a promise about these.`;
}

export function source(passage) {
  const place = passage.line ? `${passage.source}:${passage.line}` : passage.source;
  return el("p", { class: "source" }, passage.heading ? `${place} · ${passage.heading}` : place);
}
