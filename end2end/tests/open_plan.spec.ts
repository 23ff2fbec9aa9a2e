// What is open while its run moves: the plan is renewed in place, and news stays with the page that it is about.
import { decide } from "../support/decide.ts";
import { plan } from "../support/plan.ts";
import { crashedRun, failedRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";

for (const path of ["/resume", "?step=47&ask=resume"]) {
  test(`an open plan says that its run moved and is renewed in place, before anything is sent: ${path}`, async ({ admin, agent, server }) => {
    const id = await crashedRun(agent);
    const reads: string[] = [];
    admin.on("request", (request) => {
      if (request.url().endsWith("/api/plan/read")) reads.push(request.url());
    });
    await admin.goto(`${server.url}/runs/${id}${path}`);
    await expectLive(admin);
    const way = plan(admin).getByRole("radio", { name: /^Retry with the same key/ });
    await way.click();
    await plan(admin).getByText("Change one value of the state").click();
    await plan(admin).getByLabel("Path").fill("/note");
    await plan(admin).getByLabel("Reason").fill("Stripe deduplicates");
    await expect(plan(admin).getByText(/^Now: /)).toBeVisible();
    expect(reads, "the plan came with the page").toEqual([]);

    const said = plan(admin).getByRole("status").filter({ hasText: "The plan changed while you looked." });
    await decide(admin, server, agent, id, { kind: "edit", patch: [{ op: "replace", path: "/note", value: "by hand" }] });
    await expect(said).toBeVisible();
    await expect(said).toContainText("admin: state edited, at");
    await expect(plan(admin).getByText("state edited by admin")).toBeVisible();
    await expect(way, "the step asks the same").toBeChecked();
    await expect(plan(admin).getByLabel("Path")).toHaveValue("/note");
    await expect(plan(admin).getByLabel("New value (JSON)"), "nobody typed it: it follows what stands there").toHaveValue('"by hand"');
    await expect(plan(admin)).not.toContainText("also changes the state");
    await expect(plan(admin).getByLabel("Reason")).toHaveValue("Stripe deduplicates");
    await expect(plan(admin).getByLabel("Reason")).toBeFocused();
    await expectAccessible(admin);

    await decide(admin, server, agent, id, { kind: "cancel" });
    await expect(plan(admin)).toContainText("It cannot be resumed now: it is cancelled");
    await expect(plan(admin).getByRole("button", { name: "Resume run" })).toHaveCount(0);
  });
}

test("what was said about a run stays with its page, and goes with the reader", async ({ admin, agent, server }) => {
  const id = await failedRun(agent);
  await admin.clock.install();
  await admin.goto(`${server.url}/runs/${id}?ask=note`);
  await expectLive(admin);
  const toast = admin.locator(".toast");
  const note = async (text: string) => {
    await admin.getByRole("dialog").getByRole("textbox").fill(text);
    await admin.getByRole("dialog").getByRole("button", { name: "Add note" }).click();
    await expect(toast).toHaveText(/^Note/);
  };
  await note("asked the database team");
  await toast.hover();
  await admin.clock.fastForward(7_000);
  await expect(toast, "while someone points at it").toBeVisible();
  await admin.mouse.move(200, 200);
  await admin.clock.fastForward(7_000);
  await expect(toast).toHaveCount(0);

  await admin.goto(`${server.url}/runs/${id}?ask=note`);
  await expectLive(admin);
  await note("they are on it");
  await toast.hover();
  await admin.keyboard.press("g");
  await admin.keyboard.press("r");
  await expect(admin).toHaveURL(`${server.url}/`);
  await expect(toast, "news of another page").toHaveCount(0);
});
