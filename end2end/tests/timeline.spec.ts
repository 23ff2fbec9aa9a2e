// The timeline: a crash is found by looking, by mouse and by keyboard.
import type { Locator } from "@playwright/test";

import { decide } from "../support/decide.ts";
import { crashedRun, runningRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

test("a crash is hatched, named and one click away", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?step=3`);
  await expectLive(admin);
  const timeline = admin.getByRole("region", { name: "Timeline" });
  await expect(timeline.locator(".bar-hatched")).toHaveCount(1);
  await expect(timeline).toContainText("46 committed, 1 crashed, 5 announced");
  await expect(timeline).toContainText("nobody holds this run");
  await timeline.getByRole("link", { name: "47 crashed mid-flight" }).click();
  await expect(admin.getByRole("heading", { name: /^47 · charge_card/ })).toBeVisible();
  await expect(admin).toHaveURL(/step=47/);
  await expectAccessible(admin);
});

test("zoom, pan, fit and axis are in the URL", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?step=24`);
  await expectLive(admin);
  const timeline = admin.getByRole("region", { name: "Timeline" });
  await timeline.getByRole("link", { name: "Steps" }).click();
  await expect(admin).toHaveURL(/by=steps/);
  await expect(timeline).toContainText("steps 1–47");
  await timeline.getByRole("link", { name: "Zoom in" }).click();
  await expect(timeline).toContainText("steps 12–35");
  const hand = timeline.getByRole("slider");
  await hand.focus();
  await admin.keyboard.press("Shift+ArrowRight");
  await expect(timeline).toContainText("steps 15–38");
  await admin.reload();
  await expectLive(admin);
  await expect(timeline).toContainText("steps 15–38");
  await timeline.getByRole("link", { name: "fit" }).click();
  await expect(timeline).toContainText("steps 1–47");
});

test("dragging zooms to what was brushed, a click picks a step", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?by=steps`);
  await expectLive(admin);
  const timeline = admin.getByRole("region", { name: "Timeline" });
  const hand = timeline.getByRole("slider");
  const box = (await hand.boundingBox())!;
  const at = (share: number) => [box.x + box.width * share, box.y + 15] as const;
  await admin.mouse.click(...at(0.5));
  await expect(admin).toHaveURL(/step=2\d/);
  await admin.mouse.move(...at(0.2));
  await admin.mouse.down();
  await admin.mouse.move(...at(0.4), { steps: 4 });
  await admin.mouse.up();
  await expect(admin).toHaveURL(/from=\d+&to=\d+/);
  await expect(timeline).toContainText(/steps 1\d–2\d/);
});

test("the keyboard alone finds the crash and its neighbours", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}?step=1`);
  await expectLive(admin);
  await admin.keyboard.press("n");
  await expect(admin.getByRole("heading", { name: /^47 · charge_card/ })).toBeVisible();
  const hand = admin.getByRole("slider", { name: "Step on the timeline" });
  await hand.focus();
  await expect(hand).toHaveAttribute("aria-valuetext", /^47 · charge_card · crashed/);
  await admin.keyboard.press("ArrowLeft");
  await expect(admin.getByRole("heading", { name: /^46 · / })).toBeVisible();
  await admin.keyboard.press("Home");
  await expect(admin.getByRole("heading", { name: /^1 · / })).toBeVisible();
  await admin.keyboard.press("]");
  await expect(admin.getByRole("heading", { name: /^2 · / })).toBeVisible();
});

test("parallel steps get lanes and a child run is a bar that leads to it", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "researcher", title: "Parent" });
  const run = await agent.lease(id);
  for (const n of [1, 2, 3]) await agent.begin(run, { key: `p${n}`, name: `part_${n}` });
  const child = await agent.create({ agent: "researcher", title: "Child", parent: { run: id, seq: 2 } });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const timeline = admin.getByRole("region", { name: "Timeline" });
  const height = await timeline.locator(".timeline-svg").getAttribute("height");
  expect(Number(height)).toBeGreaterThan(120);
  await timeline.getByRole("link", { name: "child run Child" }).click({ force: true });
  await expect(admin).toHaveURL(`${server.url}/runs/${child}`);
  await admin.getByRole("link", { name: /step 2$/ }).click();
  await expect(admin.getByRole("heading", { level: 1, name: "Parent" })).toBeVisible();
});

test("a long run is drawn as few elements as a short one", async ({ admin, agent, server }) => {
  const short = await runningRun(agent, "Short", 40);
  const long = await runningRun(agent, "Long", 600);
  const elements = async (id: string) => {
    await admin.goto(`${server.url}/runs/${id}`);
    await expectLive(admin);
    return admin.locator(".timeline-svg *").count();
  };
  const few = await elements(short.id);
  const many = await elements(long.id);
  expect(many).toBeLessThan(few + 20);
});

interface Recorded {
  seq: number;
  begun_at: string;
  ended_at: string;
}

const ms = (from: string, to: string) => Date.parse(to) - Date.parse(from);

/** The bars of single steps, from left to right, in percent of the width. */
async function barsOf(timeline: Locator): Promise<{ x: number; width: number }[]> {
  const paths = await timeline.locator("path.bar-committed").evaluateAll((all) => all.map((it) => it.getAttribute("d") ?? ""));
  const bars = [...paths.join("").matchAll(/M(\d+) \d+h(\d+)/g)].map(([, x, width]) => ({ x: Number(x) / 100, width: Number(width) / 100 }));
  return bars.sort((a, b) => a.x - b.x);
}

test("an hour at a gate is a thin mark, and steps of milliseconds keep their width", async ({ admin, agent, server }) => {
  test.slow();
  const id = await agent.create({ agent: "support-triage", title: "Asks in between" });
  const run = await agent.lease(id);
  for (const n of [1, 2, 3]) await agent.step(run, { name: `before_${n}` });
  const gate = await agent.begin(run, { name: "approve", kind: "gate", gate: { title: "Go on?" } });
  const steps = () => agent.get<{ steps: Recorded[] }>(`/runs/${id}/steps`).then((it) => it.steps);
  const begun = await steps();
  // An hour beside minutes, in small: thirty times what the steps took.
  const worked = ms(begun[0]!.begun_at, begun[3]!.begun_at);
  await expect.poll(() => Date.now() - Date.parse(begun[3]!.begun_at), { timeout: 60_000 }).toBeGreaterThan(30 * worked);
  await decide(admin, server, agent, id, { kind: "approve", step: gate.seq });
  await agent.commit(run, gate);
  for (const n of [1, 2, 3]) await agent.step(run, { name: `after_${n}` });
  await agent.finish(run);

  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const timeline = admin.getByRole("region", { name: "Timeline" });
  const waited = timeline.getByRole("img", { name: /^waited .+ for a person$/ });
  await expect(waited).toHaveCount(1);
  await expect(timeline.locator("text.label-wait")).toHaveText(/^waited .+ for a person$/);
  expect((await waited.boundingBox())!.width, "the mark is thin").toBeLessThan(60);
  const recorded = await steps();
  const { run: ended } = await agent.get<{ run: { started_at: string; finished_at: string } }>(`/runs/${id}`);
  const all = ms(ended.started_at, ended.finished_at) - ms(recorded[3]!.begun_at, recorded[3]!.ended_at);
  const bars = await barsOf(timeline);
  expect(bars.length).toBe(7);
  for (const [n, { width }] of bars.entries()) {
    const own = ms(recorded[n]!.begun_at, recorded[n]!.ended_at);
    // Read here to the millisecond; the fold, the space between two bars and the end of the gate take a little.
    if (n !== 3) expect(width, `step ${n + 1}: ${own} of ${all} ms`).toBeGreaterThan((50 * (own - 1)) / all);
  }
  const places = bars.map(({ x, width }) => x + width / 2);
  const hand = (await timeline.getByRole("slider").boundingBox())!;
  const widest = bars.reduce((best, it, n) => (n !== 3 && it.width > bars[best]!.width ? n : best), 0);
  await admin.mouse.click(hand.x + (hand.width * places[widest]!) / 100, hand.y + 15);
  await expect(admin).toHaveURL(new RegExp(`step=${widest + 1}\\b`));
  await expectAccessible(admin);
  await timeline.getByRole("link", { name: "show idle" }).click();
  await expect(waited).toHaveCount(0);
  await timeline.getByRole("link", { name: "hide idle" }).click();
  await expect(waited).toHaveCount(1);
});

test("with idle time shown, zoom keeps the selected step in the middle, not the idle gap", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "researcher", title: "With two gaps" });
  const steps = () => agent.get<{ steps: Recorded[] }>(`/runs/${id}/steps`).then((it) => it.steps);
  const since = async () => Date.now() - Date.parse((await steps()).at(-1)!.ended_at);
  // The second gap is longer, so that the step between them is not in the middle of the whole.
  for (const [n, gap] of [1_500, 3_000, 0].entries()) {
    const run = await agent.lease(id);
    await agent.step(run, { key: `work-${n}`, name: `work_${n + 1}` });
    await (gap > 0 ? agent.die(run) : agent.finish(run));
    await expect.poll(since, { timeout: 30_000 }).toBeGreaterThan(gap);
  }
  await admin.goto(`${server.url}/runs/${id}?step=2`);
  await expectLive(admin);
  const timeline = admin.getByRole("region", { name: "Timeline" });
  await timeline.getByRole("link", { name: "show idle" }).click();
  await expect(timeline.getByRole("link", { name: "hide idle" })).toBeVisible();
  const recorded = await steps();
  const all = ms(recorded[0]!.begun_at, recorded[2]!.ended_at);
  const middle = (Date.parse(recorded[1]!.begun_at) + Date.parse(recorded[1]!.ended_at)) / 2;
  expect(Math.abs(middle - Date.parse(recorded[0]!.begun_at) - all / 2), "it is not in the middle by itself").toBeGreaterThan(all / 12);
  for (const times of [2, 4]) {
    const nearer = timeline.getByRole("link", { name: "Zoom in" });
    const way = (await nearer.getAttribute("href"))!;
    await nearer.click();
    // The next step goes from the picture that this one led to.
    await expect(nearer).not.toHaveAttribute("href", way);
    const shown = new URL(admin.url()).searchParams;
    const [from, to] = [Number(shown.get("from")) / 1_000, Number(shown.get("to")) / 1_000];
    expect(to - from).toBeLessThan((1.1 * all) / times);
    expect(Math.abs((from + to) / 2 - middle), `zoomed in ${times} times`).toBeLessThan(all / 50);
  }
});

test("of many parallel steps those under way are drawn, and child runs get a line each", async ({ admin, agent, server }) => {
  const id = await agent.create({ agent: "researcher", title: "Parent" });
  const run = await agent.lease(id);
  const begun = [];
  for (let n = 1; n <= 9; n++) begun.push(await agent.begin(run, { key: `p${n}`, name: `part_${n}` }));
  for (const it of begun.slice(0, 7)) await agent.commit(run, it);
  const children = [];
  for (let n = 1; n <= 8; n++) children.push(await agent.create({ agent: "child", title: `Child ${n}`, parent: { run: id, seq: 9 } }));
  await agent.lease(children[0]!);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const timeline = admin.getByRole("region", { name: "Timeline" });
  await expect(timeline).toContainText("+3 in parallel");
  const running = await timeline.locator("path.bar-running").getAttribute("d");
  expect([...running!.matchAll(/M/g)].length, "both that are under way").toBe(2);
  const lines = timeline.getByRole("link", { name: /^child run / });
  await expect(lines).toHaveCount(6);
  await expect(timeline.getByRole("link", { name: "child run Child 1", exact: true }), "the one that runs").toHaveCount(1);
  await expect(timeline).toContainText("+2 child runs");
  const tops = await timeline.locator(".child rect").evaluateAll((all) => all.map((it) => it.getAttribute("y")));
  expect(new Set(tops).size, "a line each").toBe(6);
  await expectAccessible(admin);
});
