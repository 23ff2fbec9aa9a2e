// What a working day does not have in it: decisions and what came of them, forms, children, a long run, workers of every kind.
import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { expect, type Page } from "@playwright/test";

import { type Agent, type Held, newToken } from "../support/agent.ts";
import { decide } from "../support/decide.ts";
import { ask, REFUND } from "../support/question.ts";
import { crashedRun, failedRun, payingRun, runningRun, waitingRun } from "../support/sample.ts";
import type { Server } from "../support/server.ts";

const SEED = fileURLToPath(new URL("../bench/seed.mjs", import.meta.url));
const LONG = 10_000;

export interface Stories {
  decided: string;
  rewound: string;
  fork: string;
  gate: string;
  long: string;
  done: string;
}

/** Everything at once, by the person whose page it is. */
export async function stories(page: Page, server: Server, agent: Agent): Promise<Stories> {
  const long = longRun(server);
  const decided = await crashedRun(agent);
  const reason = "Stripe shows no charge, and the worker's host is gone";
  await decide(page, server, agent, decided, { kind: "resume", choices: [{ kind: "retry", step: 47, new_key: true }], reason });

  const rewound = await payingRun(agent);
  const fork = `${rewound}-fork`;
  const again = { step: 2, again: [2, 6], reason: "the second item was another customer's" };
  await decide(page, server, agent, rewound, { kind: "fork", new_run_id: fork, ...again });
  await decide(page, server, agent, rewound, { kind: "rewind", ...again });

  const noted = await failedRun(agent);
  await decide(page, server, agent, noted, { kind: "note", text: "asked the database team", reason: undefined, if_version: undefined });
  await waitingRun(agent);
  const done = await parentRun(agent);
  const gate = await ask(agent, "How is it paid back?", REFUND);
  await workers(agent);
  return { decided, rewound, fork, gate, done, long: await long };
}

/** A run of many steps, made as for the measurements: several steps in flight, so that their commits share a transaction. */
async function longRun(server: Server): Promise<string> {
  const args = [SEED, server.url, await newToken(server.store), "Index legal archive", String(LONG)];
  const { stdout } = await promisify(execFile)("node", args);
  return stdout.trim();
}

/** A run with input, result and two children, one of which failed. */
async function parentRun(agent: Agent): Promise<string> {
  const input = { order: "A-1", customer: "cus_R91" };
  const id = await agent.create({ agent: "researcher", title: "Compare three suppliers", input, labels: { team: "purchasing" } });
  const run = await agent.lease(id);
  await agent.step(run, { name: "read_offers", kind: "tool" }, { usage: { cost_usd: 0.1 } });
  const begun = await agent.begin(run, { name: "delegate" });
  for (const [title, outcome] of [["Offers from Bonn", "done"], ["Offers from Lyon", "failed"]] as const) {
    const child = await agent.create({ agent: "offer-reader", title, parent: { run: id, seq: begun.seq } });
    const held = await agent.lease(child);
    await agent.step(held, { name: "read_page" }, { usage: { cost_usd: 0.25 } });
    await agent.finish(held, outcome);
  }
  await agent.commit(run, begun);
  await agent.finish(run, "done", { result: { supplier: "Bonn", total: 47_000, currency: "eur" } });
  return id;
}

/** One at work, one that waits for work, one whose write was refused. */
async function workers(agent: Agent): Promise<void> {
  await runningRun(agent, "Weekly market brief", 30);
  await stayAtWork(agent);
  // It waits until the server stops, or a minute.
  agent.post("/claims", { worker: "w-idle", agents: ["crm-sync"], version: "2.0.4", wait_ms: 60_000 }).catch(() => {});
  const other = await agent.create({ agent: "db-migrator", title: "Migrate tenant acme-us" });
  const zombie = await agent.lease(other, 60_000, "w-zombie");
  await agent.die(zombie);
  const late = agent.post(`/runs/${other}/heartbeat`, { epoch: zombie.epoch });
  await expect(late).rejects.toThrow("lease_lost");
}

/** Runs that run keep their leases for as long as pictures are taken. */
export async function stayAtWork(agent: Agent): Promise<void> {
  const { runs } = await agent.get<{ runs: Held[] }>("/runs?status=running&limit=100");
  for (const { id, epoch } of runs) await agent.post(`/runs/${id}/heartbeat`, { epoch, ttl_ms: 600_000 });
}
