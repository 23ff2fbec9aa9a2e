// The timeline: a crash is found by looking, by mouse and by keyboard.
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
