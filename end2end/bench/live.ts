// What viewers cost: how late a commit is on the screen, and how many steps agents still take.
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";

import type { Agent, Held } from "../support/agent.ts";
import type { Server } from "../support/server.ts";
import { AT_STEP } from "./places.ts";

const script = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Runs a script of this folder and answers what it printed. */
export async function node(name: string, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [script(name), ...args], { maxBuffer: 1 << 26 });
  return stdout.trim();
}

export interface Read {
  bytes: number;
  chunks: number;
  lost: number;
  cpu_s: number;
}

/** Viewers in a process of their own. */
export class Viewers {
  readonly #child: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  private constructor(child: ChildProcess) {
    this.#child = child;
    this.#lines = createInterface({ input: child.stdout! })[Symbol.asyncIterator]();
  }

  static async open(server: Server, agent: Agent, count: number, run: string): Promise<Viewers> {
    const args = [script("viewers.mjs"), server.url, agent.token, String(count), run];
    const viewers = new Viewers(spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] }));
    await viewers.#lines.next();
    return viewers;
  }

  async close(): Promise<Read> {
    const exited = once(this.#child, "exit");
    this.#child.stdin!.end();
    const { value } = await this.#lines.next();
    await exited;
    return JSON.parse(value as string) as Read;
  }
}

export interface Committed {
  /** When each commit was sent, by the number of the step that it began. */
  sent: Map<number, number>;
  /** Ends the last step; before that every page still shows that it runs. */
  end: () => Promise<unknown>;
}

/** Commits about ten steps a second. */
export async function commitSteadily(agent: Agent, run: Held, commits: number): Promise<Committed> {
  const sent = new Map<number, number>();
  let begun = await agent.begin(run, { key: `${Date.now()}`, name: "first" });
  for (let n = 0; n < commits; n++) {
    await pause(70 + Math.random() * 60);
    const at = Date.now();
    begun = (await agent.commit(run, begun, { patch: [], next: { key: `${at}-${n}`, name: "next" } }))!;
    sent.set(begun.seq, at);
  }
  return { sent, end: () => agent.commit(run, begun, { patch: [] }) };
}

/** Notes in the page when the element first shows that the run is at each step. */
export async function noteSteps(page: Page, selector: string): Promise<void> {
  await page.evaluate(
    ([selector, pattern]) => {
      const shown: [number, number][] = [];
      const at = new RegExp(pattern);
      const look = () => {
        const text = document.querySelector(selector)?.textContent ?? "";
        const step = Number(at.exec(text)?.[1]?.replaceAll(",", "") ?? 0);
        if (step > (shown.at(-1)?.[0] ?? 0)) shown.push([step, Date.now()]);
      };
      look();
      new MutationObserver(look).observe(document.body, { subtree: true, childList: true, characterData: true });
      Object.assign(window, { shownSteps: shown });
    },
    [selector, AT_STEP] as const,
  );
}

/** From the commit's request to the page, for each commit; steps that came in one frame share their moment. */
export async function latencies(page: Page, sent: Map<number, number>): Promise<number[]> {
  const last = Math.max(...sent.keys());
  const arrived = (last: number) => {
    const shown = (window as unknown as { shownSteps: [number, number][] }).shownSteps;
    return (shown.at(-1)?.[0] ?? 0) >= last;
  };
  await page.waitForFunction(arrived, last, { timeout: 30_000 });
  const shown = await page.evaluate(() => (window as unknown as { shownSteps: [number, number][] }).shownSteps);
  return [...sent].map(([step, at]) => shown.find(([it]) => it >= step)![1] - at);
}
