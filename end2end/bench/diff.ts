// How long the change between two large states takes from the click to the screen.
import { setTimeout as pause } from "node:timers/promises";
import type { Page } from "@playwright/test";

import type { Agent } from "../support/agent.ts";
import type { Server } from "../support/server.ts";
import { expectLive } from "../support/test.ts";
import { PLACES } from "./places.ts";

const DOCUMENTS = 1_000;

/** A run with a state of 1 MB, of which each step changes one document in a hundred. */
export async function seedLargeStates(agent: Agent, steps: number): Promise<string> {
  const text = (of: string) => `${of} `.repeat(Math.ceil(1_000 / (of.length + 1)));
  const documents = Array.from({ length: DOCUMENTS }, (_, n) => ({ id: n, text: text(`document ${n}`) }));
  const run = await agent.lease(await agent.create({ agent: "researcher", title: "Large states", state: { documents } }), 600_000);
  for (let step = 1; step <= steps; step++) {
    for (let n = step; n < DOCUMENTS; n += 100) documents[n] = { id: n, text: text(`rewritten by step ${step}`) };
    await agent.step(run, { key: `${step}`, name: "rewrite" }, { state: { documents } });
  }
  await agent.finish(run);
  return run.id;
}

/** Milliseconds from the click on "State diff" until the change of that step is painted, for each step. */
export async function clicksToPaint(page: Page, server: Server, id: string, steps: number): Promise<number[]> {
  const all: number[] = [];
  for (let step = 1; step <= steps; step++) {
    await page.goto(`${server.url}/runs/${id}?step=${step}`);
    await expectLive(page);
    const painted = page.evaluate(
      ([row, expected]) =>
        new Promise<number>((done) => {
          let clicked: number | undefined;
          addEventListener("click", (event) => (clicked = event.timeStamp), { capture: true, once: true });
          const look = () => {
            const there = document.querySelector(row)?.closest("section, ol, ul")?.textContent?.includes(expected);
            if (clicked === undefined || !there) return;
            watcher.disconnect();
            // After the next frame's own work: the frame with the change is painted.
            requestAnimationFrame(() => setTimeout(() => done(performance.now() - clicked!)));
          };
          const watcher = new MutationObserver(look);
          watcher.observe(document.body, { subtree: true, childList: true, characterData: true });
        }),
      [PLACES.change, `step ${step} `] as const,
    );
    await page.getByRole("navigation", { name: "Parts of the step" }).getByRole("link", { name: "State diff" }).click();
    const late = pause(30_000, undefined, { ref: false }).then(() => Promise.reject(new Error(`no diff of step ${step} after 30 s`)));
    all.push(await Promise.race([painted, late]));
  }
  return all;
}
