// What waits for a person: asked once, answered once, with the keyboard or the mouse.
import type { Agent } from "../support/agent.ts";
import { waitingRun } from "../support/sample.ts";
import { expect, expectAccessible, expectLive, test } from "../support/test.ts";
import { startWorker } from "../support/worker.ts";

/** A gate with these ways to answer it. */
async function gate(agent: Agent, title: string, gate: Record<string, unknown>): Promise<string> {
  const id = await agent.create({ agent: "support-triage", title, state: { draft: "none" } });
  const run = await agent.lease(id);
  await agent.step(run, { key: "draft", name: "draft" }, { patch: [{ op: "replace", path: "/draft", value: "Dear customer" }] });
  await agent.begin(run, { key: "ask", name: "ask_person", kind: "gate", gate });
  await agent.die(run);
  return id;
}

const stepOf = async (agent: Agent, id: string, seq: number) =>
  (await agent.get<{ step: { status: string; decision: string; result: unknown } }>(`/runs/${id}/steps/${seq}`)).step;

test("choices are picked by digit and sent by Ctrl+Enter only", async ({ admin, agent, server }) => {
  const id = await gate(agent, "Pick a tone", { title: "Which tone?", choices: ["Formal", "Friendly", "Short"] });
  await admin.goto(server.url);
  await expectLive(admin);
  await admin.keyboard.press("g");
  await admin.keyboard.press("i");
  await expect(admin).toHaveURL(/\/inbox$/);
  const question = admin.getByRole("article", { name: "Which tone?" });
  await expect(question).toContainText("Pick a tone");
  await admin.keyboard.press("2");
  await expect(question.getByRole("radio", { name: "Friendly" })).toBeChecked();
  expect((await stepOf(agent, id, 2)).status, "a digit only selects").toBe("waiting");
  await expect(question.getByRole("button", { name: "Answer: Friendly" })).toBeVisible();
  await admin.keyboard.press("Control+Enter");
  await expect(question.getByRole("alert")).toContainText("A reason is missing");
  await question.getByLabel("Reason").fill("house style");
  await admin.keyboard.press("Control+Enter");
  await expect(question.getByRole("status")).toHaveText("You answered “Friendly”.");
  const step = await stepOf(agent, id, 2);
  expect(step.decision).toBe("answer");
  expect(step.result).toEqual({ choice: "Friendly" });
});

test("a form is made from the schema, and its errors are said", async ({ admin, agent, server, consoleErrors }) => {
  const schema = {
    type: "object",
    required: ["cents"],
    properties: {
      cents: { type: "integer", title: "Amount in cents", maximum: 20000 },
      note: { type: "string", maxLength: 80 },
      notify: { type: "boolean", title: "Tell the customer" },
    },
  };
  const id = await gate(agent, "Refund", { title: "How much goes back?", schema });
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  const question = admin.getByRole("article", { name: "How much goes back?" });
  await question.getByLabel("Amount in cents").fill("a lot");
  await question.getByLabel("Reason").fill("policy");
  await question.getByRole("button", { name: "Send answer" }).click();
  await expect(question.getByRole("alert")).toContainText("Amount in cents must be a whole number");
  await question.getByLabel("Amount in cents").fill("50000");
  await question.getByRole("button", { name: "Send answer" }).click();
  await expect(question.getByRole("alert")).toContainText("20000");
  expect((await stepOf(agent, id, 2)).status).toBe("waiting");
  await question.getByLabel("Amount in cents").fill("12000");
  await question.getByLabel("Tell the customer").check();
  await question.getByRole("button", { name: "Send answer" }).click();
  await expect(question.getByRole("status")).toHaveText('You answered “{"cents":12000,"notify":true}”.');
  expect((await stepOf(agent, id, 2)).result).toEqual({ cents: 12000, notify: true });
  consoleErrors.length = 0; // Chromium reports a refusal as an error
});

test("yes or no says what it does, also on the run's page", async ({ admin, agent, server }) => {
  const id = await waitingRun(agent);
  await admin.goto(`${server.url}/runs/${id}`);
  await expectLive(admin);
  const question = admin.getByRole("region", { name: "Question" });
  await question.getByLabel("Reason").fill("neighbour confirmed");
  await question.getByRole("button", { name: "Approve: Send €120.00 back to the customer" }).click();
  await expect(admin.locator(".run-head .pill")).toHaveText(/^Queued/);
  expect((await stepOf(agent, id, 13)).decision).toBe("approve");
});

test("oldest first, with the change that led there; what others answer says so in place", async ({ admin, agent, server }) => {
  const first = await gate(agent, "Older", { title: "First question?" });
  await gate(agent, "Newer", { title: "Second question?" });
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  await expect(admin.getByRole("article")).toHaveCount(2);
  await expect(admin.getByRole("article").first()).toContainText("First question?");
  const second = admin.getByRole("article", { name: "Second question?" });
  await second.getByText("What changed before it asked").click();
  await expect(second).toContainText("/draft");
  await expect(second).toContainText("Dear customer");
  await second.getByLabel("Reason").fill("half typed");
  const other = await admin.context().newPage();
  await other.goto(`${server.url}/runs/${first}`);
  await expectLive(other);
  await other.getByRole("region", { name: "Question" }).getByLabel("Reason").fill("no");
  await other.getByRole("button", { name: "Reject" }).click();
  const settled = admin.getByRole("article", { name: "First question?" });
  await expect(settled.getByRole("status")).toContainText(
    /No longer waiting: admin rejected step \d+ (a moment|\d+ seconds?) ago/,
  );
  await expect(second.getByLabel("Reason"), "nothing that is typed is lost").toHaveValue("half typed");
  await gate(agent, "Newest", { title: "Third question?" });
  await expect(admin.getByRole("article", { name: "Third question?" })).toBeVisible();
});

test("the sample agent goes on with the answer", async ({ admin, agent, server }) => {
  const worker = startWorker(server, agent, "support-triage", ["--speed", "4000"]);
  await worker.ended;
  await admin.goto(`${server.url}/inbox`);
  await expectLive(admin);
  const question = admin.getByRole("article", { name: "Send €120.00 back to the customer?" });
  await question.getByRole("radio", { name: "Refund €120.00" }).click();
  await question.getByLabel("Reason").fill("within policy");
  await question.getByRole("button", { name: /^Answer: Refund €120.00/ }).click();
  await expect(question.getByRole("status")).toHaveText("You answered “Refund €120.00”.");
  const next = startWorker(server, agent, "support-triage", ["--poll", "--speed", "4000"]);
  const done = async () => (await agent.get<{ runs: { status: string }[] }>("/runs?agent=support-triage")).runs[0]?.status;
  await expect.poll(done, { timeout: 20_000 }).toBe("done");
  next.kill("SIGKILL");
  await next.ended;
});

test("the inbox is accessible in both themes, wide and narrow, with and without questions", async ({ admin, agent, server }) => {
  test.slow();
  await admin.goto(`${server.url}/inbox`);
  await expect(admin.getByRole("heading", { name: "Nothing is waiting for an answer" })).toBeVisible();
  await expectAccessible(admin);
  await gate(agent, "Pick a tone", { title: "Which tone?", context: { customer: "Rheinwerk" }, choices: ["Formal", "Friendly"] });
  await waitingRun(agent);
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 390]) {
      await admin.emulateMedia({ colorScheme });
      await admin.setViewportSize({ width, height: 844 });
      await admin.goto(`${server.url}/inbox`);
      await expectLive(admin);
      await expect(admin.getByRole("article")).toHaveCount(2);
      await expectAccessible(admin, colorScheme);
      const over = await admin.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
      expect(over, `no sideways scrolling at ${width} px`).toBeLessThanOrEqual(0);
    }
  }
});
