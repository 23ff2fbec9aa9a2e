// A sample agent that was really killed inside its card charge, and what it did outside the store: each executed step
// and each effect is a line in a file of its own.
import { randomUUID } from "node:crypto";
import { mkdtemp, readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect } from "@playwright/test";

import type { Agent } from "./agent.ts";
import type { Server } from "./server.ts";
import { startWorker, type Worker } from "./worker.ts";

export const CHARGE = "charge:INV-2214";

export interface Crash {
  id: string;
  /** What was executed before it was killed; the charge is the last one. */
  before: string[];
  /** The keys of the steps that were executed, in order. */
  executed(): Promise<string[]>;
  /** The idempotency keys that the provider saw, in order; it keeps one effect per key. */
  effects(): Promise<string[]>;
  /** A worker that takes whatever runs of this agent are released. */
  goOn(): Worker;
}

async function lines(path: string): Promise<string[]> {
  const text = await readFile(path, "utf8").catch(() => "");
  return text.split("\n").filter(Boolean);
}

export async function killedAgent(server: Server, agent: Agent): Promise<Crash> {
  const directory = await mkdtemp(join(tmpdir(), "step47-crash-"));
  const [counts, effects] = [join(directory, "counts"), join(directory, "effects")];
  const id = `e2e-${randomUUID()}`;
  const files = ["--count-file", counts, "--effects-file", effects];
  const args = ["--run", id, "--speed", "4000", "--ttl-ms", "6000", "--die-at", "47", ...files];
  const worker = startWorker(server, agent, "invoice-reconciler", args);
  expect(await worker.ended).toBe("SIGKILL");
  // As a supervisor that saw it die would. That a lease also ends by itself is what live.spec.ts waits for.
  const { run } = await agent.get<{ run: { epoch: number } }>(`/runs/${id}`);
  await agent.die({ id, epoch: run.epoch });
  await expect.poll(() => statusOf(agent, id), { timeout: 40_000 }).toBe("crashed");
  return {
    id,
    before: await lines(counts),
    executed: () => lines(counts),
    effects: () => lines(effects),
    goOn: () => startWorker(server, agent, "invoice-reconciler", ["--poll", "--speed", "200", ...files]),
  };
}

export async function statusOf(agent: Agent, id: string): Promise<string> {
  const answer = await agent.get<{ run: { status: string } }>(`/runs/${id}`);
  return answer.run.status;
}

/** No step before the crash was executed again, but for these. */
export async function expectNothingAgain(crash: Crash, but = [CHARGE]): Promise<void> {
  const executed = await crash.executed();
  const times = (keys: string[], key: string) => keys.filter((it) => it === key).length;
  const kept = [...new Set(crash.before)].filter((key) => !but.includes(key));
  expect(kept.length).toBeGreaterThanOrEqual(45);
  for (const key of kept) expect(times(executed, key), key).toBe(times(crash.before, key));
}
