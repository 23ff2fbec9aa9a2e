// Plain HTTP on kept connections, for processes that must cost little beside the server they measure.
import http from "node:http";

/** A caller of /v1 with one kept connection per request under way. */
export function caller(url, token, connections) {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections, noDelay: true });
  const { hostname, port } = new URL(url);
  return (path, body) =>
    new Promise((resolve, reject) => {
      const text = JSON.stringify(body);
      const headers = {
        authorization: `Bearer ${token}`,
        "content-type": "application/json",
        "content-length": Buffer.byteLength(text),
      };
      const request = http.request({ agent, hostname, port, path: `/v1${path}`, method: "POST", headers }, (response) => {
        const chunks = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("error", reject);
        response.on("end", () => {
          const answer = Buffer.concat(chunks).toString();
          if (response.statusCode < 300) resolve(answer ? JSON.parse(answer) : {});
          else reject(new Error(`POST ${path}: ${response.statusCode} ${answer}`));
        });
      });
      request.on("error", reject);
      request.end(text);
    });
}

/** Creates and leases a run; answers its id and epoch. */
export async function open(post, run) {
  const { run: made } = await post("/runs", { agent: "bench", state: {}, ...run });
  const { epoch } = await post(`/runs/${made.id}/lease`, { worker: "w-bench", ttl_ms: 600_000 });
  return { id: made.id, epoch };
}

const NAMES = ["plan_next", "fetch_page", "read_page", "compose_note"];

/** The step number `n` of a run. */
export function step(n) {
  const name = NAMES[n % NAMES.length];
  return { key: `${name}-${n}`, name, kind: name === "plan_next" ? "llm" : "tool" };
}

/** Takes steps one after the other until `more` says no; each commit begins the next. Answers how many. */
export async function work(post, { id, epoch }, more, body = () => ({ patch: [] })) {
  let n = 1;
  let begun = await post(`/runs/${id}/steps`, { epoch, ...step(n) });
  for (;;) {
    const next = more(n) ? { next: step(n + 1) } : {};
    const path = `/runs/${id}/steps/${begun.seq}/commit`;
    const answer = await post(path, { epoch, attempt: begun.attempt, usage: { cost_usd: 0.01 }, ...body(n), ...next });
    if (!answer.next) return n;
    begun = answer.next;
    n += 1;
  }
}
