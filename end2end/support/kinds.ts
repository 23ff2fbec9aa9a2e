// A store with a run of every kind: every status, and what people and disks do to runs.
import type { Page } from "@playwright/test";

import type { Agent, Held } from "./agent.ts";
import { decide } from "./decide.ts";
import { crashedRun, doneRun, failedRun, readyRun, runningRun, waitingRun } from "./sample.ts";
import type { Server } from "./server.ts";
import { damage, marker } from "./tamper.ts";

/** Longer than any test takes: a lease that ends meanwhile would change what is shown. */
const LONG_MS = 3_600_000;

async function stay(agent: Agent, run: Held): Promise<string> {
  await agent.post(`/runs/${run.id}/heartbeat`, { epoch: run.epoch, ttl_ms: LONG_MS });
  return run.id;
}

export const pendingRun = (agent: Agent) => agent.create({ agent: "crm-sync", title: "Backfill CRM notes", plan: [{ name: "read_notes" }] });

export async function liveRun(agent: Agent): Promise<string> {
  return stay(agent, await runningRun(agent, "Weekly market brief", 8));
}

/** Its agent waits at the gate and keeps the lease. */
export async function askingRun(agent: Agent): Promise<string> {
  const id = await agent.create({ agent: "support-triage", title: "Which tone?" });
  const run = await agent.lease(id);
  await agent.step(run, { key: "read", name: "read_ticket" });
  await agent.begin(run, { key: "ask", name: "ask_person", kind: "gate", gate: { title: "Which tone?", choices: ["Formal", "Friendly"] } });
  return stay(agent, run);
}

/** It crashed without an effect, and is held because it says so. */
export async function heldRun(agent: Agent): Promise<string> {
  const id = await agent.create({ agent: "bookkeeper", title: "Close the books", state: { total: 7 }, on_crash: "hold" });
  const run = await agent.lease(id);
  await agent.step(run, { key: "count", name: "count" }, { patch: [{ op: "replace", path: "/total", value: 8 }] });
  await agent.begin(run, { key: "close", name: "close" });
  await agent.die(run);
  return id;
}

/** A short run whose second step charged a card: that is not undone by what goes back before it. */
export async function chargedRun(agent: Agent, title: string): Promise<string> {
  const id = await agent.create({ agent: "shop", title, state: { charged: 0 } });
  const run = await agent.lease(id);
  await agent.step(run, { key: "cart", name: "read_cart" });
  const effect = { target: "POST stripe /v1/charges", description: "charge €12.00" };
  await agent.step(run, { key: "charge", name: "charge_card", kind: "tool", effect }, { patch: [{ op: "replace", path: "/charged", value: 12 }] });
  await agent.step(run, { key: "mail", name: "send_receipt" });
  await agent.die(run);
  return id;
}

/** A run that waits for the run which it began. */
async function parentRun(agent: Agent): Promise<string> {
  const id = await agent.create({ agent: "planner", title: "Plan the launch" });
  const run = await agent.lease(id);
  await agent.step(run, { key: "outline", name: "outline" });
  const { seq } = await agent.begin(run, { key: "delegate", name: "delegate" });
  const child = await agent.create({ agent: "researcher", title: "Launch: research", parent: { run: id, seq } });
  const held = await agent.lease(child);
  await agent.step(held, { key: "look", name: "look" });
  await agent.finish(held);
  return stay(agent, run);
}

async function damagedRun(agent: Agent, word: string): Promise<string> {
  const id = await agent.create({ agent: "support-triage", title: "Dispute" });
  const run = await agent.lease(id);
  await agent.step(run, { key: "one", name: "first_look" });
  await agent.step(run, { key: "two", name: word });
  await agent.step(run, { key: "three", name: "third_look" });
  await agent.die(run);
  return id;
}

/** The addresses of the runs, by what they are. The page is one of somebody who may decide. */
export async function everyKind(page: Page, server: Server, agent: Agent): Promise<Map<string, string>> {
  const word = marker();
  const made: Record<string, Promise<string>> = {
    crashed: crashedRun(agent),
    waiting: waitingRun(agent),
    failed: failedRun(agent),
    ready: readyRun(agent),
    done: doneRun(agent, "Board pack", "proposal-writer", 8),
    pending: pendingRun(agent),
    running: liveRun(agent),
    "asking under a lease": askingRun(agent),
    held: heldRun(agent),
    paused: readyRun(agent),
    cancelled: readyRun(agent),
    rewound: chargedRun(agent, "Order 17"),
    forked: chargedRun(agent, "Order 18"),
    "with a child": parentRun(agent),
    damaged: damagedRun(agent, word),
  };
  const kinds = new Map<string, string>();
  for (const [kind, id] of Object.entries(made)) kinds.set(kind, await id);
  const on = (kind: string, body: Record<string, unknown>) => decide(page, server, agent, kinds.get(kind)!, body);
  await on("paused", { kind: "pause" });
  await on("cancelled", { kind: "cancel" });
  await on("rewound", { kind: "rewind", step: 2, again: [2] });
  await on("forked", { kind: "fork", step: 2, again: [2], new_run_id: "order-18-again" });
  kinds.set("a fork", "order-18-again");
  await damage(page, server, [word]);
  return kinds;
}
