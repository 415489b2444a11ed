// One request of cohere-ai: settings as JSON on stdin, its answer or its error as JSON on stdout.
const { CohereClient, CohereClientV2, CohereError } = require("cohere-ai");

async function main() {
  const { url, key, query, documents, version, retries } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
  const client = new (version === 1 ? CohereClient : CohereClientV2)({ token: key, environment: url });
  try {
    return await client.rerank({ model: "any", query, documents }, retries === null ? {} : { maxRetries: retries });
  } catch (error) {
    if (!(error instanceof CohereError)) throw error;
    return { name: error.constructor.name, status: error.statusCode };
  }
}

main().then((said) => console.log(JSON.stringify(said)));
