// A store that looks like a working day: one run in every state that matters, made by real calls.
import type { Agent, Held } from "./agent.ts";

type Json = Record<string, unknown>;

const NAMES = ["plan_next", "fetch_invoice", "match_po", "compose_note"];

/** Commits `count` steps with a cost each, the last one with a change of state; each commit begins the next step, as agents in a hurry do. */
async function work(agent: Agent, run: Held, count: number, cost_usd = 0.4, last: Json[] = []): Promise<void> {
  const step = (n: number) => {
    const name = NAMES[n % NAMES.length]!;
    return { key: `${name}-${n}`, name, kind: name === "plan_next" ? "llm" : "tool" };
  };
  let begun = await agent.begin(run, step(1));
  for (let n = 1; n <= count; n++) {
    const next = n < count ? { next: step(n + 1) } : {};
    const patch = n < count ? [] : last;
    begun = (await agent.commit(run, begun, { usage: { cost_usd }, patch, ...next })) ?? begun;
  }
}

async function started(agent: Agent, run: Json, plan: number): Promise<Held> {
  const steps = Array.from({ length: plan }, (_, n) => ({ name: `announced_${n + 1}` }));
  const id = await agent.create({ version: "3.2.1", model: "gpt-large-2", plan: steps, ...run });
  return agent.lease(id);
}

/** The run of the pictures: 46 steps committed, the 47th lost with its card charge unknown. */
export async function crashedRun(agent: Agent, title = "Reconcile October invoices"): Promise<string> {
  const state = { note: "Charge after manual review", ledger: { pending_charge: null, charged: [] } };
  const run = await started(agent, { agent: "invoice-reconciler", title, state, labels: { team: "billing" } }, 5);
  await work(agent, run, 46, 0.4, [
    { op: "replace", path: "/ledger/pending_charge", value: { customer: "cus_R91", amount: 124900, currency: "eur" } },
    { op: "replace", path: "/note", value: "Charge after refund 43 cleared" },
  ]);
  const begun = await agent.begin(run, {
    key: "charge-INV-2214",
    name: "charge_card",
    kind: "tool",
    tool: "stripe.charges",
    input: { customer: "cus_R91", amount: 124900, currency: "eur" },
    effect: { target: "POST stripe /v1/charges", description: "charge €1,249.00 to cus_R91", dedupe_ms: 86_400_000 },
  });
  await agent.post(`/runs/${run.id}/steps/${begun.seq}/progress`, {
    epoch: run.epoch,
    attempt: begun.attempt,
    log: [{ level: "info", message: "request sent, waiting" }],
  });
  await agent.die(run);
  return run.id;
}

export async function waitingRun(agent: Agent): Promise<string> {
  const run = await started(agent, { agent: "support-triage", title: "Refund dispute #88121" }, 6);
  await work(agent, run, 12, 0.16);
  const gate = { title: "Send €120.00 back to the customer?", context: { parcel: "delivered to a neighbour" } };
  await agent.begin(run, { key: "approve", name: "send_refund", kind: "gate", gate });
  await agent.die(run);
  return run.id;
}

export async function failedRun(agent: Agent): Promise<string> {
  const run = await started(agent, { agent: "db-migrator", title: "Migrate tenant acme-eu" }, 9);
  for (let n = 1; n <= 8; n++) await agent.step(run, { key: `copy-${n}`, name: "copy_table", kind: "tool" });
  const begun = await agent.begin(run, { key: "copy-9", name: "copy_table", kind: "tool", tool: "pg.copy" });
  const error = { kind: "DiskFull", message: "disk quota exceeded on db-eu-2", stack: "at copy_table (migrate.py:88)" };
  await agent.post(`/runs/${run.id}/steps/${begun.seq}/fail`, {
    epoch: run.epoch,
    attempt: begun.attempt,
    error,
    retryable: false,
  });
  await agent.finish(run, "failed", { error });
  return run.id;
}

export async function runningRun(agent: Agent, title = "Weekly market brief", steps = 111): Promise<Held> {
  const run = await started(agent, { agent: "researcher", title }, 5);
  await work(agent, run, steps, 0.37);
  await agent.begin(run, { key: "now", name: "summarise_source", kind: "llm" });
  return run;
}

export async function readyRun(agent: Agent): Promise<string> {
  const run = await started(agent, { agent: "proposal-writer", title: "Draft RFP response" }, 8);
  await work(agent, run, 11, 0.47);
  await agent.die(run);
  return run.id;
}

export async function doneRun(agent: Agent, title: string, name = "invoice-reconciler", steps = 20): Promise<string> {
  const run = await started(agent, { agent: name, title }, 0);
  await work(agent, run, steps, 0.33);
  await agent.finish(run);
  return run.id;
}

/** Five collected items, two of them effects, then a payment whose worker is gone. */
export async function payingRun(agent: Agent): Promise<string> {
  const id = await agent.create({ agent: "collector", title: "Collect and pay", state: { note: "before" } });
  const run = await agent.lease(id);
  for (let n = 1; n <= 5; n++) {
    const effect = n === 2 ? { effect: { target: "crm.notes", description: "write a note to the CRM" } } : {};
    await agent.step(run, { name: `collect_${n}`, kind: "tool", ...effect }, { usage: { cost_usd: 0.1 } });
  }
  const effect = { target: "POST stripe /v1/charges", description: "charge €80.00 to cus_R77", dedupe_ms: 86_400_000 };
  await agent.begin(run, { name: "pay", kind: "tool", tool: "stripe.charges", effect });
  await agent.die(run);
  return id;
}

/** Three runs that stopped at the same step of the same code. */
async function oneCause(agent: Agent): Promise<void> {
  for (let n = 1; n <= 3; n++) {
    const run = await started(agent, { agent: "support-triage", title: `Ticket ${n}`, version: "2.0.4", on_crash: "hold" }, 0);
    await work(agent, run, 2, 0.1);
    await agent.begin(run, { key: "embed", name: "embed_query" });
    await agent.die(run);
  }
}

/** The run with this title. */
export async function runOf(agent: Agent, title: string): Promise<string> {
  const { runs } = await agent.get<{ runs: { id: string; title?: string }[] }>("/runs?limit=100");
  const found = runs.find((it) => it.title === title);
  if (!found) throw new Error(`there is no run called ${title}`);
  return found.id;
}

/** Everything at once. */
export async function workingDay(agent: Agent): Promise<{ crashed: string }> {
  const [crashed] = await Promise.all([
    crashedRun(agent),
    doneRun(agent, "Summarise board pack", "proposal-writer", 14),
    doneRun(agent, "Weekly market brief", "researcher", 44),
    doneRun(agent, "Reconcile September invoices", "invoice-reconciler", 30),
    agent.create({ agent: "crm-sync", title: "Backfill CRM notes" }),
    readyRun(agent),
    runningRun(agent, "Index legal archive", 130),
    runningRun(agent, "Nightly dependency upgrade", 30),
    runningRun(agent),
    oneCause(agent),
    failedRun(agent),
    waitingRun(agent),
  ]);
  return { crashed };
}
