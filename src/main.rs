//! Parse the command line, run it.

fn main() -> std::process::ExitCode {
    step47::cli::main()
}
