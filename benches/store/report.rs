//! The figures as ratios: printed as a table, saved as JSON.

use serde::Serialize;
use std::time::Duration;

#[derive(Serialize, Clone, Copy)]
pub struct Rate {
    pub per_second: f64,
    pub p50_us: f64,
    pub p99_us: f64,
}

impl Rate {
    pub fn new(mut times: Vec<Duration>, elapsed: Duration) -> Self {
        times.sort_unstable();
        let at = |q: f64| times[((times.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e6;
        Self {
            per_second: times.len() as f64 / elapsed.as_secs_f64(),
            p50_us: at(0.5),
            p99_us: at(0.99),
        }
    }
}

/// One number of agents on one engine.
#[derive(Serialize)]
pub struct Level {
    pub agents: usize,
    pub alone: Rate,
    pub grouped: Rate,
    pub ours: Rate,
}

/// Medians of steps 100–200 and 10,000–10,100 of one run.
#[derive(Serialize)]
pub struct Depth {
    pub early: Duration,
    pub late: Duration,
}

/// Eight agents without and with somebody who forks and resumes a run of `long` steps.
#[derive(Serialize)]
pub struct Beside {
    pub long: usize,
    pub without: Rate,
    pub with: Rate,
    pub forks: usize,
    pub fork_p50: Duration,
}

/// A commit's p99 may grow so many times while operators fork and resume.
const BESIDE_MAX: f64 = 2.0;

#[derive(Serialize)]
pub struct Report {
    fsync: Rate,
    levels: Vec<(String, Level)>,
    depths: Vec<(String, Depth)>,
    beside: Vec<(String, Beside)>,
}

impl Report {
    pub fn new(fsync: Rate) -> Self {
        Self {
            fsync,
            levels: Vec::new(),
            depths: Vec::new(),
            beside: Vec::new(),
        }
    }

    pub fn level(&mut self, engine: &str, level: Level) {
        eprintln!(
            "{engine}, {} agents: {:.0} steps/s",
            level.agents, level.ours.per_second
        );
        self.levels.push((engine.into(), level));
    }

    pub fn depth(&mut self, engine: &str, depth: Depth) {
        self.depths.push((engine.into(), depth));
    }

    pub fn beside(&mut self, engine: &str, beside: Beside) {
        self.beside.push((engine.into(), beside));
    }

    pub fn print(&self) {
        println!(
            "\nbare append + fsync of 1 KB: p50 {:.0} µs, p99 {:.0} µs\n",
            self.fsync.p50_us, self.fsync.p99_us
        );
        println!(
            "| engine | agents | steps/s | p50 ms | p99 ms | raw alone/s | ours ÷ alone | raw grouped/s | ours ÷ grouped | p50 ÷ fsync |"
        );
        println!("|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|");
        for (engine, level) in &self.levels {
            let Level {
                agents,
                alone,
                grouped,
                ours,
            } = level;
            println!(
                "| {engine} | {agents} | {:.0} | {:.2} | {:.2} | {:.0} | {:.0} % | {:.0} | {:.0} % | {:.1} × |",
                ours.per_second,
                ours.p50_us / 1e3,
                ours.p99_us / 1e3,
                alone.per_second,
                100.0 * ours.per_second / alone.per_second,
                grouped.per_second,
                100.0 * ours.per_second / grouped.per_second,
                ours.p50_us / self.fsync.p50_us,
            );
        }
        for (engine, depth) in &self.depths {
            println!(
                "\n{engine}: step 100–200 p50 {:.2} ms, step 10,000–10,100 p50 {:.2} ms: {:.2} ×",
                depth.early.as_secs_f64() * 1e3,
                depth.late.as_secs_f64() * 1e3,
                depth.late.as_secs_f64() / depth.early.as_secs_f64(),
            );
        }
        self.print_beside();
    }

    fn print_beside(&self) {
        for (engine, it) in &self.beside {
            let times = it.with.p99_us / it.without.p99_us;
            println!(
                "\n{engine}: commit p99 of 8 agents {:.2} ms; {:.2} ms while a run of {} steps is forked ({} times, p50 \
                 {:.0} ms) and resumed: {times:.2} × ({} {BESIDE_MAX} ×)",
                it.without.p99_us / 1e3,
                it.with.p99_us / 1e3,
                it.long,
                it.forks,
                it.fork_p50.as_secs_f64() * 1e3,
                if times <= BESIDE_MAX {
                    "within"
                } else {
                    "ABOVE"
                },
            );
        }
    }

    pub fn save(&self) {
        let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/bench-store.json");
        let json = serde_json::to_string_pretty(self).expect("JSON");
        std::fs::write(path, json).expect("the report is saved");
        println!("\nsaved as {path}");
    }
}
