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
  // A page test on a machine that stalls may be tried again; it is then reported as flaky, not as passed.
  retries: process.env.CI ? 2 : 0,
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
    trace: process.env.STEP47_TRACE ? "retain-on-failure" : "on-first-retry",
    launchOptions: {
      executablePath: process.env.STEP47_CHROMIUM ?? "/usr/bin/chromium",
      args: flags,
    },
  },
});
