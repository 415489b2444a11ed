import { api, at, el, marked, number, percent, promised, put, say, source } from "./common.js";

const SVG = "http://www.w3.org/2000/svg";

function shape(tag, facts) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(facts)) made.setAttribute(name, value);
  return made;
}

// How sure it is, beside the least at which anything is answered.
function meter(sure, least) {
  if (sure === null) return null;
  const top = Math.max(1, sure, least ?? 0);
  const x = (value) => `${100 * Math.max(0, value / top)}%`;
  const told = sure.toFixed(2) === "1.00" ? "above 0.99" : sure.toFixed(2); // never rounded up to certainty
  const words = least === null ? `Confidence ${told}` : `Confidence ${told}, threshold ${least.toFixed(2)}`;
  const drawn = shape("svg", { role: "img", "aria-label": words });
  drawn.append(shape("rect", { class: "track", x: 0, y: "30%", width: "100%", height: "40%", rx: 4 }));
  drawn.append(shape("rect", { class: "sure", x: 0, y: "30%", width: x(sure), height: "40%", rx: 4 }));
  if (least !== null) drawn.append(shape("line", { class: "least", x1: x(least), x2: x(least), y1: "5%", y2: "95%" }));
  return el("div", { class: "meter" }, drawn, el("p", { class: "source" }, words));
}

function passage(one, title) {
  return el("div", { class: "card" }, title && el("h3", {}, title), el("blockquote", {}, ...marked(one.text, one.span)), source(one));
}

function others(count) {
  return count === 1 ? "Another passage answers" : `${count} other passages answer`;
}

function shown(said) {
  const least = said.certificate ? said.threshold : null;
  const rest = said.ranking.slice(1);
  const more = rest.length
    ? el("details", {}, el("summary", {}, said.abstained ? "What else was found" : "What came next"), ...rest.map((one) => passage(one)))
    : null;
  if (said.abstained) {
    const why = el(
      "div",
      { class: "card unsaid" },
      el("h2", {}, "No answer"),
      el("p", {}, `demur says nothing, because ${said.reason}.`),
      said.certificate &&
        el("p", {}, `Answering all the same would break the promise that at most ${percent(said.certificate.risk)} of answers are wrong.`),
      meter(said.confidence, least),
    );
    return [why, said.nearest && passage(said.nearest, "What came nearest – it may not answer the question"), more];
  }
  const best = said.answer;
  return [
    el(
      "div",
      { class: "card said" },
      el("h2", { class: "hidden" }, "Answer"),
      best.span && best.span.text !== best.text && el("p", { class: "short" }, best.span.text),
      el("blockquote", {}, ...marked(best.text, best.span)),
      source(best),
      meter(best.confidence, least),
      best.also_answered_by > 0 && el("p", {}, `${others(best.also_answered_by)} the same question otherwise.`),
    ),
    more,
  ];
}

let info = null;

async function look() {
  info = await api("GET", "/info");
  const has = info.documents !== null;
  const many = has ? `${number(info.passages)} passages of ${info.documents}` : "";
  const start = "This server ranks texts that programs send, and has no documents of its own. Start it with demur serve --kb BASE.";
  put(at("where"), has ? many : start);
  put(at("promise"), promised(info));
}

at("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = event.target.querySelector("button");
  const question = at("question").value.trim();
  if (!question) return;
  button.disabled = true;
  say(null);
  try {
    const said = await api("POST", "/v1/ask", { question, top: 5 });
    await look();
    put(at("answer"), ...shown(said));
    history.replaceState(null, "", `/#${encodeURIComponent(question)}`);
  } catch (error) {
    put(at("answer"));
    say(error);
  } finally {
    button.disabled = false;
  }
});

look()
  .then(() => {
    const asked = decodeURIComponent(location.hash.slice(1));
    if (!asked || asked === "main") return;
    at("question").value = asked;
    at("form").requestSubmit();
  })
  .catch(say);
