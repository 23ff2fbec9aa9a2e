//! Where the sample agents perform: how fast, what is counted, and where one of them dies.

use serde_json::{Value, json};
use std::{
    fs::OpenOptions,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
    sync::Arc,
    time::Duration,
};

use super::line::Line;
use crate::client::{Error, Kind, Session, State, StepCtx, StepError};

/// A model's answer is told in about so many parts while it is written.
const PARTS: usize = 4;

#[derive(Debug, Clone)]
pub struct Stage(Arc<Props>);

#[derive(Debug)]
pub struct Props {
    pub speed: f64,
    pub die_at: Option<String>,
    pub count_file: Option<PathBuf>,
    pub effects_file: Option<PathBuf>,
}

impl Stage {
    pub fn new(props: Props) -> Self {
        Self(Arc::new(props))
    }

    /// Takes the step that a line describes, and folds its output into the state.
    pub async fn play<S: State>(
        &self,
        session: &Session<S>,
        line: Line,
        fold: impl FnOnce(&mut S, &Value),
    ) -> Result<Value, Error> {
        let mut step = session
            .step(&line.key, &line.name)
            .input(&line.input)
            .refs(line.refs.clone());
        if let Some(tool) = line.tool {
            step = step.tool(tool);
        }
        step = step.kind(line.kind);
        if let Some(effect) = line.effect.clone() {
            step = step.effect(effect);
        }
        if let Some(fails) = &line.fails {
            step = step.retry(fails.of, self.time(2.0));
        }
        if line.checks {
            let (stage, output) = (self.clone(), line.output.clone());
            step = step.check(move |ctx| {
                let found = stage.happened(ctx.idempotency_key());
                let output = found.map(|found| found.then(|| output.clone()));
                async move { Ok(output?) }
            });
        }
        let line = Arc::new(line);
        step.run(
            |ctx| {
                let (stage, line) = (self.clone(), line.clone());
                async move { stage.perform(&ctx, &line).await }
            },
            fold,
        )
        .await
    }

    /// Called by the work of every step: it is executed, not replayed.
    pub fn count(&self, ctx: &StepCtx) -> std::io::Result<()> {
        append(self.0.count_file.as_deref(), ctx.key().as_str())
    }

    async fn perform(&self, ctx: &StepCtx, line: &Line) -> Result<Value, StepError> {
        self.count(ctx)?;
        for message in &line.log {
            ctx.log("info", message).await;
        }
        if let Some(usage) = line.usage {
            ctx.usage(usage);
        }
        if let Some(fails) = line.fails.as_ref().filter(|f| ctx.attempt() <= f.times) {
            self.rest(line.seconds).await;
            ctx.log("error", fails.message).await;
            return Err(StepError::new(fails.kind, fails.message).nothing_happened());
        }
        match line.kind {
            Kind::Llm => self.write(ctx, line).await,
            _ => self.rest(line.seconds / 2.0).await,
        }
        if line.effect.is_some() {
            ctx.progress("request sent, waiting").await;
            append(self.0.effects_file.as_deref(), ctx.idempotency_key())?;
        }
        self.die_if_told(ctx).await;
        if let Some(seconds) = line.hangs.filter(|_| ctx.attempt() == 1) {
            self.rest(seconds).await;
        }
        self.rest(line.seconds / 2.0).await;
        Ok(line.output.clone())
    }

    /// Tells a model's answer part by part, as it would stream.
    async fn write(&self, ctx: &StepCtx, line: &Line) {
        let text = line.output["content"].as_str().unwrap_or_default();
        let words: Vec<&str> = text.split_inclusive(' ').collect();
        let pause = line.seconds / 2.0 / PARTS as f64;
        for part in 1..PARTS {
            self.rest(pause).await;
            let so_far: String = words[..words.len() * part / PARTS].concat();
            // Too fast for anybody to read along: not worth a request.
            if self.time(pause) > Duration::from_millis(50) {
                ctx.progress(json!({ "content": so_far })).await;
            }
        }
    }

    /// The real kill, from which no destructor is called.
    async fn die_if_told(&self, ctx: &StepCtx) {
        let Some(place) = &self.0.die_at else { return };
        if *place == ctx.seq().to_string() || place == ctx.key().as_str() {
            let kill = format!("kill -KILL {}", std::process::id());
            let _ = Command::new("sh").args(["-c", &kill]).status();
            std::future::pending::<()>().await;
        }
    }

    fn happened(&self, key: &str) -> std::io::Result<bool> {
        let Some(path) = &self.0.effects_file else {
            return Ok(false);
        };
        match std::fs::read_to_string(path) {
            Ok(keys) => Ok(keys.lines().any(|line| line == key)),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn time(&self, seconds: f64) -> Duration {
        Duration::from_secs_f64(seconds / self.0.speed)
    }

    pub async fn rest(&self, seconds: f64) {
        if seconds > 0.0 {
            tokio::time::sleep(self.time(seconds)).await;
        }
    }
}

fn append(path: Option<&Path>, line: &str) -> std::io::Result<()> {
    let Some(path) = path else { return Ok(()) };
    let mut file = OpenOptions::new().create(true).append(true).open(path)?;
    file.write_all(format!("{line}\n").as_bytes())
}
