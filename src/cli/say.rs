//! What commands print. A reader that has seen enough (`step47 show RUN | head`) ends the command, and quietly.

use std::{
    fmt::Arguments,
    io::{ErrorKind, Write as _},
};

/// What a shell reports of a program that ended because nobody reads on: 128 and the number of SIGPIPE. It is not 0,
/// because what was left unsaid may be that something is damaged.
const NOBODY_READS: i32 = 141;

/// One line of a command's answer; without a reader the command ends.
macro_rules! say {
    ($($text:tt)*) => { $crate::cli::say::answer(format_args!($($text)*)) };
}
pub(crate) use say;

/// One line of a process that goes on, whoever reads it.
macro_rules! tell {
    ($($text:tt)*) => { $crate::cli::say::aside(format_args!($($text)*)) };
}
pub(crate) use tell;

pub fn answer(line: Arguments<'_>) {
    let Err(error) = writeln!(std::io::stdout(), "{line}") else {
        return;
    };
    if error.kind() == ErrorKind::BrokenPipe {
        std::process::exit(NOBODY_READS);
    }
    eprintln!("step47: cannot print: {error}");
    std::process::exit(1);
}

pub fn aside(line: Arguments<'_>) {
    // The process has more to do than to be read; its log has what matters.
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// Agents' and people's text on a terminal: no control characters.
pub fn clean(text: &str) -> String {
    text.chars().filter(|it| !it.is_control()).collect()
}

/// The same, no more than fits.
pub fn clip(text: &str, max: usize) -> String {
    let plain = clean(text);
    match plain.chars().count() > max {
        true => plain.chars().take(max - 1).chain(['…']).collect(),
        false => plain,
    }
}
