//! Running other programs: a heading before, the time after, an error that names the command; Ctrl-C ends the program
//! that runs, and xtask then cleans up instead of dying in the middle.

use std::{
    io::{BufRead as _, BufReader},
    mem,
    process::{Child, Command, Stdio},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The program that runs now, 0 if none.
static CHILD: AtomicU32 = AtomicU32::new(0);
/// What each step so far was called, and how long it took.
static STEPS: Mutex<Vec<(String, Duration)>> = Mutex::new(Vec::new());

/// From here on, SIGINT and SIGTERM let the running program end and make the next [`run`] fail, so that every `Drop`
/// still happens. A terminal sends Ctrl-C to the program too; one that is still there after a moment gets a SIGTERM.
pub fn finish_on_signals() -> Result<()> {
    ctrlc::set_handler(|| {
        INTERRUPTED.store(true, Ordering::SeqCst);
        let child = CHILD.load(Ordering::SeqCst);
        thread::sleep(Duration::from_secs(2));
        if child != 0 && CHILD.load(Ordering::SeqCst) == child {
            let _ = Command::new("kill").arg(child.to_string()).status();
        }
    })
    .context("cannot handle signals")
}

pub fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Announces a step and tells how long it took.
pub fn step<T>(title: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!(
        "\n── {title} {}",
        "─".repeat(100_usize.saturating_sub(title.chars().count() + 4))
    );
    let start = Instant::now();
    let result = work();
    let word = if result.is_ok() { "done" } else { "failed" };
    let took = start.elapsed();
    eprintln!("   {word} in {}", seconds(took));
    steps().push((title.to_owned(), took));
    result
}

/// Every step since the last call, in the order in which they ended.
pub fn take_steps() -> Vec<(String, Duration)> {
    mem::take(&mut *steps())
}

fn steps() -> MutexGuard<'static, Vec<(String, Duration)>> {
    STEPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs `command` with the terminal's input and output.
pub fn run(command: &mut Command) -> Result<()> {
    wait(command, |_| Ok(()))
}

/// Runs `command` and hands over each line that it prints; what it complains about goes to the terminal.
pub fn run_reading(command: &mut Command, mut line: impl FnMut(&str)) -> Result<()> {
    wait(command.stdout(Stdio::piped()), |child| {
        let printed = child.stdout.take().context("its output is piped")?;
        for read in BufReader::new(printed).lines() {
            line(&read?);
        }
        Ok(())
    })
}

fn wait(command: &mut Command, meanwhile: impl FnOnce(&mut Child) -> Result<()>) -> Result<()> {
    if interrupted() {
        bail!("interrupted");
    }
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    CHILD.store(child.id(), Ordering::SeqCst);
    let read = meanwhile(&mut child);
    let status = child.wait();
    CHILD.store(0, Ordering::SeqCst);
    if interrupted() {
        bail!("interrupted");
    }
    let status = status?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    read
}

/// Runs `command` and returns what it printed; what it complained about goes into the error.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {}", shown(command)))?;
    if !output.status.success() {
        let complaint = String::from_utf8_lossy(&output.stderr);
        bail!(
            "{} ended with {}\n{}",
            shown(command),
            output.status,
            complaint.trim_end()
        );
    }
    Ok(String::from_utf8(output.stdout)?)
}

pub fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0..60 => format!("{:.1} s", time.as_secs_f64()),
        whole => format!("{} min {:02} s", whole / 60, whole % 60),
    }
}

fn shown(command: &Command) -> String {
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or(&program).to_owned();
    command.get_args().fold(format!("`{name}"), |line, arg| {
        line + " " + &arg.to_string_lossy()
    }) + "`"
}
