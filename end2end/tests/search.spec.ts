// Search: what a page shows can be typed, and what cannot be found is said.
import { crashedRun, doneRun, readyRun } from "../support/sample.ts";
import { expect, expectLive, test } from "../support/test.ts";

test("a status is found by its word on the page, and an unknown one says which there are", async ({ admin, agent, server }) => {
  await readyRun(agent);
  await doneRun(agent, "Summarise board pack");
  await admin.goto(server.url);
  await expectLive(admin);
  const search = admin.getByRole("searchbox", { name: "Search runs" });
  const list = admin.getByRole("table", { name: "Runs", exact: true });
  for (const word of ["released", "ready", "queued"]) {
    await search.fill(`status:${word}`);
    await search.press("Enter");
    await expect(list.getByRole("link", { name: "Draft RFP response" })).toBeVisible();
    await expect(list.getByRole("row")).toHaveCount(2);
  }
  await search.fill("status:broken");
  await search.press("Enter");
  await expect(admin.getByRole("note")).toContainText("There is no status “broken”. It can be pending, running,");
  await expect(admin.getByRole("note")).toContainText("queued");
  await search.fill("label:team");
  await search.press("Enter");
  await expect(admin.getByRole("note")).toContainText("A label is found by its key and value: label:team:billing.");
  await admin.goto(`${server.url}/?status=broken`);
  await expect(admin.getByRole("note")).toContainText("There is no status “broken”. It can be pending, running,");
});

test("what cannot be found among a run's steps is told what is possible", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const find = admin.getByRole("searchbox", { name: "Find steps" });
  await find.fill("status:broken");
  await find.press("Enter");
  await expect(admin.getByRole("note")).toContainText("There is no step status “broken”. It can be pending, running, committed,");
});

test("a short id, as the page shows it, opens the run", async ({ admin, agent, server }) => {
  const id = await doneRun(agent, "Summarise board pack");
  await admin.goto(server.url);
  await expectLive(admin);
  const short = (await admin.locator(`tr[data-run="${id}"] .run-id`).textContent())!;
  expect(short.length).toBeLessThan(id.length);
  const search = admin.getByRole("searchbox", { name: "Search runs" });
  await search.fill(short);
  await search.press("Enter");
  await expect(admin).toHaveURL(`${server.url}/runs/${id}`);
});

test("verifying a run does not push its page", async ({ admin, agent, server }) => {
  const id = await crashedRun(agent);
  await admin.setViewportSize({ width: 1280, height: 800 });
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const place = async () => (await admin.locator(".timeline").boundingBox())!.y;
  const before = await place();
  await admin.getByRole("button", { name: "Verify" }).click();
  await expect(admin.locator(".verification-said")).toContainText("Verified to event");
  expect(await place()).toBe(before);
});
