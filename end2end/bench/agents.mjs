// Agents at full speed: node agents.mjs URL TOKEN AGENTS SECONDS RUN. The first works on RUN, which may be watched.
// Prints the steps committed per second.
import { caller, open, work } from "./wire.mjs";

const [url, token, agents, seconds, watched] = process.argv.slice(2);
const WARM_UP_MS = 1_000;
const post = caller(url, token, Number(agents));
const note = "invoice matches the purchase order of October and was paid; ".repeat(17); // 1 KB
const run = (_, n) => open(post, { state: { note: "" }, ...(n === 0 ? { id: watched } : {}) });
const runs = await Promise.all(Array.from({ length: Number(agents) }, run));
const from = Date.now() + WARM_UP_MS;
const until = from + Number(seconds) * 1_000;
let committed = 0;
const more = () => {
  const now = Date.now();
  if (now >= from && now < until) committed += 1;
  return now < until;
};
const body = (n) => ({ patch: [{ op: "replace", path: "/note", value: `${n} ${note}` }] });
await Promise.all(runs.map((run) => work(post, run, more, body)));
await Promise.all(runs.map((run) => post(`/runs/${run.id}/finish`, { epoch: run.epoch, outcome: "done" })));
console.log(String(committed / Number(seconds)));
process.exit(0);
