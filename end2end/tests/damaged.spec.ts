// Bits flipped on disk: what they hit is shown as damaged, everything beside it goes on.
import { crashedRun, waitingRun } from "../support/sample.ts";
import { damage, marker } from "../support/tamper.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

test("a damaged state is not shown, and the last good one is a click away", async ({ admin, agent, server, consoleErrors }) => {
  const word = marker();
  const id = await agent.create({ agent: "support-triage", title: "Dispute", state: { n: 0 } });
  const run = await agent.lease(id);
  await agent.step(run, { key: "one", name: "first_look" }, { state: { n: 1 } });
  await agent.step(run, { key: "two", name: "second_look" }, { state: { n: 2, m: word } });
  await agent.die(run);
  await damage(admin, server, [word]);
  await admin.goto(`${server.url}/runs/${id}/diff?from=1&to=2`);
  await expect(admin.getByText("This is damaged in the store")).toBeVisible();
  await expect(admin.locator("main")).not.toContainText(word.slice(1));
  await expectAccessible(admin);
  await admin.getByRole("link", { name: "Show snapshot 1, the last good one" }).click();
  await expect(admin).toHaveURL(/from=0&to=1/);
  await expect(admin.locator("main")).not.toContainText("This is damaged in the store");
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  await admin.getByRole("button", { name: "Verify" }).click();
  await expect(admin.getByText(/snapshot 2/).first()).toBeVisible();
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("a damaged step is a damaged row and a damaged bar, and the others stay what they are", async ({ admin, agent, server }) => {
  const word = marker();
  const id = await agent.create({ agent: "support-triage", title: "Dispute" });
  const run = await agent.lease(id);
  await agent.step(run, { key: "one", name: "first_look" });
  await agent.step(run, { key: "two", name: word });
  await agent.step(run, { key: "three", name: "third_look" });
  await agent.die(run);
  await damage(admin, server, [word]);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const steps = admin.getByRole("table", { name: "Steps" });
  await expect(steps.getByRole("row", { name: /^2 / }).getByLabel("damaged in the store")).toBeVisible();
  for (const seq of [1, 3]) {
    await expect(steps.getByRole("row", { name: new RegExp(`^${seq} `) }).getByLabel("committed")).toBeVisible();
  }
  await expect(admin.locator(".timeline-svg .bar-damaged")).toHaveCount(1);
  await steps.getByRole("row", { name: /^3 / }).getByRole("link").click();
  await expect(admin.getByRole("heading", { name: /^3 · third_look/ })).toBeVisible();
});

test("a damaged question is named in the inbox, and the next one is answered", async ({ admin, agent, server, consoleErrors }) => {
  const word = marker();
  const id = await agent.create({ agent: "support-triage", title: "Damaged dispute" });
  const run = await agent.lease(id);
  await agent.begin(run, { key: "ask", name: "ask_person", kind: "gate", gate: { title: word, choices: ["yes", "no"] } });
  await agent.die(run);
  await waitingRun(agent);
  await crashedRun(agent);
  await damage(admin, server, [word]);
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  const note = admin.getByRole("note");
  await expect(note).toContainText("A question is damaged in the store: step 1 of run");
  await expect(admin.locator("main")).not.toContainText(word.slice(1));
  await expectAccessible(admin);
  const question = admin.getByRole("article", { name: "Send €120.00 back to the customer?" });
  await question.getByLabel("Reason").fill("neighbour confirmed");
  await question.getByRole("button", { name: /^Approve/ }).click();
  await expect(question.getByRole("status")).toHaveText("You approved.");
  await note.getByRole("link", { name: /^step 1 of run/ }).click();
  await expect(admin).toHaveURL(new RegExp(`/runs/${id}\\?step=1$`));
  consoleErrors.length = 0; // Chromium reports the refused question as an error
});
