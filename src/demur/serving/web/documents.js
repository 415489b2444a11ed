import { api, at, el, finished, number, pause, percent, put, say } from "./common.js";

const PAGE = 200;
let shownAt = "";

function row(one) {
  const button = el("button", { type: "button", class: "danger", "aria-label": `Remove ${one.name}` }, "Remove");
  let sure = false;
  button.addEventListener("click", async () => {
    if (!sure) {
      sure = true;
      button.textContent = "Really remove?";
      button.setAttribute("aria-label", `Really remove ${one.name}?`);
      setTimeout(() => {
        sure = false;
        button.textContent = "Remove";
        button.setAttribute("aria-label", `Remove ${one.name}`);
      }, 4000);
      return;
    }
    await doing(async () => {
      let told = await api("DELETE", `/v1/documents?name=${encodeURIComponent(one.name)}`);
      if (told.id) told = await finished(told);
      put(at("state"), told.note ? `Removed ${one.name}; ${told.note}.` : `Removed ${one.name}.`);
      at("listed").scrollIntoView({ block: "nearest" });
      at("again").focus();
    });
  });
  return el(
    "tr",
    {},
    el("td", {}, one.name),
    el("td", {}, one.kind),
    el("td", { class: "number" }, number(one.passages)),
    el("td", {}, button),
  );
}

async function look() {
  const all = await api("GET", `/v1/documents?limit=${PAGE}`);
  put(at("words"), `Words: all ${number(all.passages)} passages of ${number(all.total)} ${all.total === 1 ? "document" : "documents"}.`);
  const share = all.passages ? all.embedded / all.passages : 1;
  at("meaning").value = share;
  put(at("meant"), `Meaning: ${number(all.embedded)} of ${number(all.passages)} passages (${percent(share)}).`);
  const now = JSON.stringify(all.documents);
  if (now !== shownAt) {
    shownAt = now;
    put(at("documents"), ...all.documents.map(row));
  }
  put(at("more"), all.total > PAGE ? `The first ${PAGE} of ${number(all.total)}.` : "");
  return share < 1 || all.jobs.length > 0;
}

async function doing(work) {
  say(null);
  try {
    await work();
  } catch (error) {
    say(error);
  }
  await look().catch(say);
}

async function sent(file) {
  const line = el("li", {}, `${file.name}: being read …`);
  at("sent").append(line);
  try {
    let told = await api("POST", `/v1/documents?name=${encodeURIComponent(file.name)}`, file, true);
    if (told.id) told = await finished(told);
    put(line, el("span", { class: "kept" }, file.name), `: ${number(told.passages)} passages, found by their words now.`);
  } catch (error) {
    put(line, el("span", { class: "problem" }, `${file.name}: ${error.message}`));
  }
}

async function take(files) {
  await doing(async () => {
    for (const file of files) await sent(file);
  });
}

at("files").addEventListener("change", async (event) => {
  await take([...event.target.files]);
  event.target.value = "";
});
at("drop").addEventListener("submit", (event) => event.preventDefault());
for (const name of ["dragenter", "dragover"]) {
  at("drop").addEventListener(name, (event) => {
    event.preventDefault();
    at("drop").classList.add("over");
  });
}
for (const name of ["dragleave", "drop"]) {
  at("drop").addEventListener(name, (event) => {
    event.preventDefault();
    at("drop").classList.remove("over");
  });
}
at("drop").addEventListener("drop", (event) => take([...event.dataTransfer.files]));

at("again").addEventListener("click", async () => {
  at("again").disabled = true;
  put(at("state"), "Reading again what has changed …");
  await doing(async () => {
    const told = await finished(await api("POST", "/v1/documents/update"));
    const words = ["added", "changed", "removed", "unchanged", "skipped"].filter((each) => told[each]);
    const counts = words.map((each) => `${told[each]} ${each}`).join(", ");
    put(at("state"), counts ? `Files: ${counts}.` : "There are no files on the server's disk to read again. Send uploads again.");
    if (told.why_skipped.length) throw new Error(told.why_skipped.join("; "));
  });
  at("again").disabled = false;
});

async function watch() {
  for (;;) {
    const moving = await look();
    await pause(moving ? 1 : 5);
  }
}

watch().catch((error) => {
  say(error);
  for (const each of document.querySelectorAll("main form, main section")) each.hidden = true;
});
