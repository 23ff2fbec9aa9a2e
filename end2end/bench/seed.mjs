// Seeds a finished run: node seed.mjs URL TOKEN TITLE STEPS. One agent with several steps in flight, as agents that
// call tools side by side do: their commits share a transaction.
import { caller, open, step } from "./wire.mjs";

const [url, token, title, steps] = process.argv.slice(2);
const LANES = 6;
const post = caller(url, token, LANES);
const run = await open(post, { title });
let begun = 0;
const lane = async () => {
  begun += 1;
  let at = await post(`/runs/${run.id}/steps`, { epoch: run.epoch, ...step(begun) });
  for (;;) {
    const last = begun >= Number(steps);
    if (!last) begun += 1;
    const next = last ? {} : { next: step(begun) };
    const body = { epoch: run.epoch, attempt: at.attempt, usage: { cost_usd: 0.01 }, patch: [], ...next };
    const answer = await post(`/runs/${run.id}/steps/${at.seq}/commit`, body);
    if (!answer.next) return;
    at = answer.next;
  }
};
await Promise.all(Array.from({ length: LANES }, lane));
await post(`/runs/${run.id}/finish`, { epoch: run.epoch, outcome: "done" });
console.log(run.id);
process.exit(0);
