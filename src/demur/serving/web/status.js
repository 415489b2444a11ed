import { api, at, el, number, percent, promised, put, say, send } from "./common.js";

const pairs = (facts) => facts.filter(([, value]) => value !== null && value !== undefined).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, String(value))]);

// The sum of all lines of a figure in Prometheus's text.
function sum(text, name, also = "") {
  const lines = text.split("\n").filter((line) => line.startsWith(name) && "{ ".includes(line[name.length]) && line.includes(also));
  return lines.reduce((total, line) => total + Number(line.slice(line.lastIndexOf(" "))), 0);
}

async function look() {
  const info = await api("GET", "/info");
  put(at("promise"), promised(info) || "Nothing is promised: there is no gate.");
  put(
    at("list"),
    ...pairs([
      ["Documents", info.documents ?? "none; texts come with each request"],
      ["Passages", info.passages === null ? null : number(info.passages)],
      ["Found by meaning", info.embedded === null ? null : number(info.embedded)],
      ["Generation", info.generation],
      ["Calibrated on", info.calibrated_on === null ? null : `generation ${info.calibrated_on}`],
      ["Changed since", info.changed_since === null ? null : percent(info.changed_since)],
      ["Threshold", info.threshold === null ? null : info.threshold.toFixed(3)],
      ["Threshold for FAQs", info.faq_threshold === null ? null : info.faq_threshold.toFixed(3)],
      ["Changes over HTTP", info.knowledge_base ? (info.read_only ? "refused" : "allowed") : null],
      ["Ranker of documents", info.ranker],
      ["Ranker of texts that are sent", info.model_id],
      ["Reader", info.reader],
      ["demur", info.version],
      ["Largest body", `${number(info.limits.body_bytes)} bytes`],
      ["Longest wait", `${info.limits.deadline_seconds} s`],
    ]),
  );
  const text = await (await send("GET", "/metrics")).text();
  put(
    at("counts"),
    ...pairs([
      ["Requests", number(sum(text, "demur_requests_total"))],
      ["Questions asked", number(sum(text, "demur_requests_total", 'path="/v1/ask"'))],
      ["Answers withheld", number(sum(text, "demur_abstentions_total"))],
      ["Refused or failed", number(sum(text, "demur_refusals_total"))],
      ["Pairs waiting now", number(sum(text, "demur_queue_pairs"))],
    ]),
  );
}

look().catch(say);
