// `cargo xtask bench ui`: the console in a real browser against the release, as ratios within one run.
import { readFile, writeFile } from "node:fs/promises";
import { test } from "@playwright/test";

import { Agent } from "../support/agent.ts";
import { startServer } from "../support/server.ts";
import { expectLive, signIn } from "../support/test.ts";
import { clicksToPaint, seedLargeStates } from "./diff.ts";
import { Viewers, commitSteadily, latencies, node, noteSteps } from "./live.ts";
import { type Frames, type Load, fly, frames, jump, load, wheel } from "./load.ts";
import { PLACES } from "./places.ts";

const setting = (name: string, usual: number) => Number(process.env[`STEP47_BENCH_${name}`] ?? usual);
const SHORT = 1_000;
const LONG = setting("STEPS", 100_000);
const LOADS = setting("LOADS", 9);
const VIEWERS = setting("VIEWERS", 500);
const AGENTS = 16;
const AGENT_SECONDS = setting("SECONDS", 5);
const ROUNDS = setting("ROUNDS", 5);
const COMMITS = setting("COMMITS", 200);

const median = (all: number[]) => percentile(all, 0.5);
const percentile = (all: number[], p: number) =>
  [...all].sort((a, b) => a - b)[Math.min(all.length - 1, Math.floor(all.length * p))] ?? Number.NaN;

interface Line {
  what: string;
  measured: string;
  aim: string;
  met?: boolean;
}

test("ui", async ({ page, browser }) => {
  const lines: Line[] = [];
  const say = (what: string, measured: string, aim = "", met?: boolean) => {
    lines.push({ what, measured, aim, met });
    console.log(`${what}: ${measured}${aim && `  (aim ${aim}: ${met ? "met" : "not met"})`}`);
  };
  const server = await startServer();
  try {
    const agent = await Agent.with(server);
    const seed = async (title: string, steps: number) => {
      const began = Date.now();
      const id = await node("seed.mjs", server.url, agent.token, title, String(steps));
      console.log(`seeded ${steps} steps in ${((Date.now() - began) / 1e3).toFixed(1)} s`);
      return id;
    };
    const short = await seed("A thousand steps", SHORT);
    const long = await seed("A hundred thousand steps", LONG);
    await signIn(page, server.signInLink);
    const storageState = await page.context().storageState();

    // Loads, alternating.
    const loads: Record<"short" | "long", Load[]> = { short: [], long: [] };
    await load(browser, storageState, `${server.url}/runs/${short}`);
    for (let n = 0; n < LOADS; n++) {
      loads.short.push(await load(browser, storageState, `${server.url}/runs/${short}`));
      loads.long.push(await load(browser, storageState, `${server.url}/runs/${long}`));
    }
    const of = (which: "short" | "long", what: Exclude<keyof Load, "code">) => median(loads[which].map((it) => it[what]));
    const ratio = of("long", "usable_ms") / of("short", "usable_ms");
    const ms = (which: "short" | "long") => `${of(which, "usable_ms").toFixed(0)} ms`;
    say(`usable, ${LONG} steps ÷ ${SHORT} steps`, `${ms("long")} ÷ ${ms("short")} = ${ratio.toFixed(2)}`, "≤ 1.3", ratio <= 1.3);
    const elements = [of("short", "elements"), of("long", "elements")] as const;
    const same = Math.abs(elements[0] - elements[1]) <= 0.05 * elements[0];
    say("elements", `${elements[1]} and ${elements[0]}`, "the same, ≤ 1,500", same && Math.max(...elements) <= 1_500);
    say("nodes with text and comments", `${of("long", "nodes")} and ${of("short", "nodes")}`);
    const bytes = of("long", "data_bytes") / of("short", "data_bytes");
    const kb = (n: number) => `${(n / 1e3).toFixed(1)} KB`;
    say(
      "bytes of the run (document and data)",
      `${kb(of("long", "data_bytes"))} ÷ ${kb(of("short", "data_bytes"))} = ${bytes.toFixed(2)}`,
      "≤ 2",
      bytes <= 2,
    );
    say("bytes of a first visit, all files", kb(of("long", "bytes")));

    // The first HTML, and what follows it.
    const html = await (await page.request.get(`${server.url}/runs/${long}`)).text();
    const parsed = await page.evaluate(
      ([html, places]) => {
        const document = new DOMParser().parseFromString(html, "text/html");
        const has = (selector: string) => document.querySelector(selector) !== null;
        return { title: document.title, timeline: has(places.timeline), steps: document.querySelectorAll(places.step).length };
      },
      [html, PLACES] as const,
    );
    const complete = parsed.title.includes("A hundred thousand steps") && parsed.timeline && parsed.steps > 10;
    say("first HTML", `title ${parsed.title.length > 0}, timeline ${parsed.timeline}, ${parsed.steps} steps`, "complete before WASM", complete);
    const list = await load(browser, storageState, `${server.url}/`, [PLACES.now]);
    for (const [of, { code }] of [["a run", loads.long[0]!], ["the list", list]] as const) {
      let bytes = 0;
      for (const file of code) {
        const answer = await page.request.fetch(`${server.url}${file}`, { method: "HEAD", headers: { "accept-encoding": "br" } });
        bytes += Number(answer.headers()["content-length"]);
      }
      say(`WASM + JS of ${of}, brotli`, `${kb(bytes)} in ${code.length} files`, "≤ 300 KB", bytes <= 300_000);
    }

    // Scrolling, beside what the machine can do at all.
    const blank = await page.context().newPage();
    await blank.goto("about:blank");
    const idle = await frames(blank, () => blank.waitForTimeout(3_000));
    await blank.close();
    const percent = (part: number) => `${(100 * part).toFixed(1)} %`;
    say("frames on time, blank page", `${percent(idle.on_time)} of ${idle.frames}`);
    await page.goto(`${server.url}/runs/${long}`);
    await expectLive(page);
    const scrolled: Record<string, Frames> = {};
    for (const [how, act] of [["wheel, notch by notch", wheel], ["flying through the run", fly], ["jumps", jump]] as const) {
      const seen = (scrolled[how] = await frames(page, () => act(page)));
      say(`frames on time, ${how}`, `${percent(seen.on_time)} of ${seen.frames}, p99 ${seen.p99_ms.toFixed(1)} ms`, "≥ 95 %", seen.on_time >= 0.95);
    }

    // What changed between two states of 1 MB.
    const large = await seedLargeStates(agent, LOADS);
    const paints = await clicksToPaint(page, server, large, LOADS);
    const paint = median(paints);
    say("click to paint, diff of two states of 1 MB with 1 % changed", `median ${paint.toFixed(0)} ms, longest ${Math.max(...paints).toFixed(0)} ms`, "≤ 100 ms", paint <= 100);

    // From a commit to the screen.
    const latency: Record<string, { p50: number; p99: number }> = {};
    for (const count of [1, VIEWERS]) {
      const run = await agent.lease(await agent.create({ agent: "researcher", title: `Live before ${count}` }), 600_000);
      const seat = await page.context().newPage();
      await page.goto(`${server.url}/runs/${run.id}`);
      await seat.goto(`${server.url}/?agent=researcher`);
      for (const [it, place] of [[page, PLACES.headline], [seat, PLACES.now]] as const) {
        await expectLive(it);
        await noteSteps(it, place);
      }
      const others = count > 1 ? await Viewers.open(server, agent, count - 1, run.id) : undefined;
      const { sent, end } = await commitSteadily(agent, run, COMMITS);
      for (const [it, where] of [[page, "run"], [seat, "list"]] as const) {
        const times = await latencies(it, sent);
        const [p50, p99] = [percentile(times, 0.5), percentile(times, 0.99)];
        latency[`${where}, ${count}`] = { p50, p99 };
        const viewers = `${count} viewer${count > 1 ? "s" : ""}`;
        say(`commit to DOM, ${where} page, ${viewers}`, `p50 ${p50} ms, p99 ${p99} ms`, "p99 ≤ 250 ms", p99 <= 250);
      }
      await end();
      await others?.close();
      await seat.close();
      await agent.finish(run);
    }

    // What viewers cost agents; the browser rests.
    await page.goto("about:blank");
    const rates: Record<"alone" | "viewed", number[]> = { alone: [], viewed: [] };
    const cost: Record<"alone" | "viewed", number[]> = { alone: [], viewed: [] };
    const reads: unknown[] = [];
    for (let n = 0; n < ROUNDS; n++) {
      for (const which of ["alone", "viewed"] as const) {
        const watched = `bench-${which}-${n}`;
        const viewers = which === "viewed" ? await Viewers.open(server, agent, VIEWERS, watched) : undefined;
        const before = await processorSeconds(server.pid());
        const rate = Number(await node("agents.mjs", server.url, agent.token, String(AGENTS), String(AGENT_SECONDS), watched));
        rates[which].push(rate);
        cost[which].push(((await processorSeconds(server.pid())) - before) / (rate * (AGENT_SECONDS + 1)));
        if (viewers) reads.push(await viewers.close());
      }
    }
    const kept = median(rates.viewed) / median(rates.alone);
    const per = (n: number) => `${n.toFixed(0)} steps/s`;
    say(
      `${AGENTS} agents, ${VIEWERS} viewers ÷ none`,
      `${per(median(rates.viewed))} ÷ ${per(median(rates.alone))} = ${percent(kept)}`,
      "≥ 90 %",
      kept >= 0.9,
    );
    const micro = (all: number[]) => `${(1e6 * median(all)).toFixed(0)} µs`;
    say("the server's processor time per step", `${micro(cost.viewed)} with viewers, ${micro(cost.alone)} without`);

    const report = { lines, loads, idle, scrolled, paints, latency, rates, cost, reads, at: new Date().toISOString() };
    const path = process.env.STEP47_BENCH_OUT;
    if (path) await writeFile(path, JSON.stringify(report, null, 2));
    console.log(["", "| measure | result | aim | met |", "|---|---|---|---|", ...lines.map(row)].join("\n"));
    if (path) console.log(`\nsaved as ${path}`);
  } finally {
    await server.stop();
  }
});

function row({ what, measured, aim, met }: Line): string {
  return `| ${what} | ${measured} | ${aim} | ${met === undefined ? "" : met ? "yes" : "no"} |`;
}

/** Processor time that a process has used so far. */
async function processorSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8");
  const [user, system] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").slice(11, 13);
  return (Number(user) + Number(system)) / 100;
}
