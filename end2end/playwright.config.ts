// How the browser tests run. `cargo xtask test --only e2e` sets STEP47_BIN and STEP47_CHROMIUM.
import { defineConfig } from "@playwright/test";

// Debian's Chromium: without these it looks for a GPU, a sandbox (not available to root) and Google's hosts.
const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const report = process.env.STEP47_E2E_REPORT;

export default defineConfig({
  testDir: "tests",
  outputDir: "test-results",
  fullyParallel: true,
  forbidOnly: !!process.env.CI,
  // A test that passes at the second try hides a race, in it or in the console: it is reported as flaky, not as passed.
  retries: process.env.STEP47_E2E_REPORT ? 1 : 0,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 10_000 },
  // `cargo xtask test` reads the slowest tests from the second.
  reporter: report ? [["list"], ["json", { outputFile: report }]] : [["list"]],
  use: {
    browserName: "chromium",
    viewport: { width: 1440, height: 900 },
    screenshot: "only-on-failure",
    // A trace records the page at each step, which takes time in every test: only where a failure is looked into.
    trace: process.env.STEP47_TRACE ? "retain-on-failure" : "off",
    launchOptions: {
      executablePath: process.env.STEP47_CHROMIUM ?? "/usr/bin/chromium",
      args: flags,
    },
  },
});
