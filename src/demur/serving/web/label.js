import { api, at, el, finished, marked, number, percent, promised, put, say, send, source } from "./common.js";

let task = null; // the question that is shown
let skipped = [];
let before = []; // questions that were labelled in this sitting, the last one last
let busy = false;

function shown(next) {
  task = next;
  at("part").hidden = !next.question;
  at("help").hidden = !next.question;
  at("none").disabled = at("skip").disabled = !next.question;
  at("undo").disabled = !before.length;
  if (!next.question) {
    put(at("question"), "There are no questions to label. Add some below.");
    put(at("passages"));
    return;
  }
  const use = next.part === "fit" ? "This one helps to place the threshold." : "This one counts for the promise.";
  put(at("part"), `${number(next.waiting)} questions wait. ${use}`);
  put(at("question"), next.question);
  const items = next.passages.map((one, place) => {
    const key = String(place + 1);
    const tick = el("input", { type: "checkbox", id: `tick${key}`, "aria-label": `Passage ${key} answers too` });
    const button = el("button", { type: "button", "aria-label": `Passage ${key} answers` }, key);
    button.addEventListener("click", () => choose(place));
    return el("li", {}, button, el("div", {}, el("blockquote", {}, ...marked(one.text, one.span)), source(one)), el("span", { class: "tick" }, tick));
  });
  put(at("passages"), ...(items.length ? items : [el("li", {}, el("span"), el("p", {}, "Nothing was found for it."))]));
}

async function following() {
  const query = skipped.map((each) => `skip=${encodeURIComponent(each)}`).join("&");
  shown(await api("GET", `/v1/labels/next?${query}`));
}

async function standing() {
  const all = await api("GET", "/v1/labels");
  const parts = `${number(all.certify)} count for the promise, ${number(all.fit)} place the threshold`;
  const stale = all.stale ? ` ${number(all.stale)} are stale, as their passages are gone, and wait again.` : "";
  put(at("count"), `${number(all.labelled)} questions are labelled: ${parts}.${stale}`);
  put(at("levels"), ...all.levels.map((level) => el("tr", {}, el("td", {}, percent(level.risk)), el("td", {}, carried(level)))));
  put(at("promise"), promised(await api("GET", "/info")));
}

function carried(level) {
  if (level.promised) return el("span", { class: "kept" }, `can be promised; about ${percent(level.coverage)} of questions would be answered`);
  if (level.more === null) return "cannot be promised at the present rate of wrong answers";
  return `about ${number(level.more)} more labels`;
}

async function doing(work) {
  if (busy) return;
  busy = true;
  say(null);
  try {
    await work();
  } catch (error) {
    say(error);
  } finally {
    busy = false;
  }
}

function choose(place) {
  return doing(async () => {
    if (!task?.question || place >= task.passages.length) return;
    const right = task.passages.filter((_, n) => n === place || at(`tick${n + 1}`).checked);
    await keep(right, place < 0 ? "none answers" : `passage ${right.map((each) => task.passages.indexOf(each) + 1).join(" and ")} answers`);
  });
}

function none() {
  return doing(async () => {
    if (task?.question) await keep([], "none answers");
  });
}

async function keep(right, words) {
  const question = task.question;
  const numbers = right.map((each) => each.passage);
  const wrong = task.passages.map((each) => each.passage).filter((each) => !numbers.includes(each));
  await api("POST", "/v1/labels", { question, right: numbers, wrong });
  before.push(question);
  put(at("said"), `Kept: ${words}.`);
  await following();
  at("question").focus();
  standing().catch(say);
}

function undo() {
  return doing(async () => {
    const question = before.pop();
    if (!question) return;
    await api("DELETE", `/v1/labels?question=${encodeURIComponent(question)}`);
    put(at("said"), "Taken back.");
    shown(await api("GET", `/v1/labels/next?question=${encodeURIComponent(question)}`));
    at("question").focus();
    standing().catch(say);
  });
}

function skip() {
  return doing(async () => {
    if (!task?.question) return;
    skipped = [...skipped, task.question].slice(-20);
    put(at("said"), "Skipped for now.");
    await following();
    at("question").focus();
  });
}

at("none").addEventListener("click", none);
at("undo").addEventListener("click", undo);
at("skip").addEventListener("click", skip);

document.addEventListener("keydown", (event) => {
  if (!at("keys").checked || event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.closest("input:not([type=checkbox]), textarea, select")) return;
  if (/^[1-9]$/.test(event.key)) choose(Number(event.key) - 1);
  else if (event.key === "0") none();
  else if (event.key === "u") undo();
  else if (event.key === "s") skip();
});

at("calibrate").addEventListener("submit", (event) => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  button.disabled = true;
  put(at("promise"), "Asking all labelled questions …");
  doing(async () => {
    try {
      let told = await api("POST", "/v1/calibrate", { risk: Number(at("risk").value) });
      if (told.state) told = await finished(told);
      put(at("promise"), el("span", { class: "kept" }, "In force now. "), told.promise);
    } catch (error) {
      await standing();
      throw error;
    }
  }).finally(() => {
    button.disabled = false;
  });
});

at("questions").addEventListener("submit", (event) => {
  event.preventDefault();
  doing(async () => {
    const questions = at("lines").value.split("\n").map((each) => each.trim()).filter(Boolean);
    if (!questions.length) return;
    const told = await api("POST", "/v1/questions", { questions });
    put(at("kept"), `${number(told.kept)} of ${number(questions.length)} are new.`);
    at("lines").value = "";
    if (!task?.question) await following();
    standing().catch(say); // keys count as soon as the question is there
  });
});

at("export").addEventListener("click", () => {
  doing(async () => {
    const answer = await send("GET", "/v1/labels/export");
    if (!answer.ok) throw new Error((await answer.json()).message);
    const place = URL.createObjectURL(await answer.blob());
    el("a", { href: place, download: "labels.jsonl" }).click();
    URL.revokeObjectURL(place);
  });
});

following()
  .then(standing)
  .catch((error) => {
    say(error);
    for (const each of document.querySelectorAll("main section")) each.hidden = true;
  });
