//! The `wattle` command, over anyone's scenarios.
//!
//! Here live its arguments, its printing, its JSON and its exit codes; clap parses, the modules named after the
//! commands print, and every answer comes from a call of the `wattle` library. What never will live here: an answer
//! that the library cannot give.
//!
//! A crate with kernels of its own has the same command over its own scenarios, which `#[scenario]` registers:
//!
//! ```no_run
//! fn main() -> std::process::ExitCode {
//!     wattle_cli::main()
//! }
//! ```
//!
//! Scenarios that are in a library, the package's own included, are linked only where the program names it:
//! `use my_library as _;`. Without default features this crate leaves out the scenarios of the binary `wattle`:
//!
//! ```toml
//! wattle-cli = { version = "0.1", default-features = false }
//! ```

mod args;
mod attempt;
mod check;
mod check_litmus;
mod check_module;
mod check_report;
mod choice;
mod cost;
mod devices;
mod emit;
mod exit;
mod findings;
mod kept;
mod limits;
mod list;
mod listed;
mod litmus;
mod misplaced;
mod module_launch;
mod modules;
mod near;
mod orders;
mod output;
mod panics;
mod progress;
mod report;
mod run;
mod session;
mod shape;
mod stress;
mod text;
mod tour;
mod values;

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;
use std::sync::Arc;

use clap::Parser;
use wattle::{Scenario, interrupt};
use wattle_check::keep::Keeper;

pub use exit::Exit;

use args::{Cli, Command};
use exit::{Input, Stop};
use limits::Limits;
use session::Session;
use text::Style;

/// The command over all scenarios that are linked ([`Scenario::all`]): the whole `main` of a crate with scenarios of
/// its own. It takes the arguments of the process, and ends as [`run`].
pub fn main() -> ExitCode {
    match Scenario::all() {
        Ok(scenarios) => run(scenarios),
        Err(error) => {
            let json = std::env::args_os().any(|arg| arg == "--json");
            say(Input::new(error.kind().name(), error.to_string()), None, json, &mut io::stdout()).into()
        }
    }
}

/// The command over these scenarios, with the arguments of the process. Ctrl-C, or SIGTERM, which job schedulers and
/// `timeout` send, ends the launch that is running, and what was found so far is printed; a second one ends the process
/// at once.
pub fn run(scenarios: &[Scenario]) -> ExitCode {
    heed_signals();
    let style = Style::of(io::stdout().is_terminal());
    let exit = execute_styled(scenarios, std::env::args_os(), &mut io::stdout(), style, kept::Files::of_user);
    if limits::work_was_left_behind() {
        exit::at_once(exit);
    }
    exit.into()
}

/// Lets Ctrl-C and SIGTERM end what runs. A process that has a handler of its own for Ctrl-C keeps it.
fn heed_signals() {
    fn end() {
        if interrupt::requested() {
            exit::at_once(Exit::Unanswered);
        }
        interrupt::request();
        let _ = writeln!(
            io::stderr(),
            "interrupted: what was found so far follows, if anything was; Ctrl-C again ends at once"
        );
    }
    let _ = ctrlc::set_handler(end);
    #[cfg(unix)]
    if let Ok(mut signals) = signal_hook::iterator::Signals::new([signal_hook::consts::SIGTERM]) {
        std::thread::spawn(move || signals.forever().for_each(|_| end()));
    }
}

/// The command with these arguments, the first of which is its own name; what it reports goes to `out`, without
/// colours, and what went wrong goes to standard error, or with `--json` to `out` as well. No verdict is kept for later
/// runs, nor taken from earlier ones.
pub fn execute<A: Into<OsString>>(
    scenarios: &[Scenario],
    args: impl IntoIterator<Item = A>,
    out: &mut dyn Write,
) -> Exit {
    execute_styled(scenarios, args.into_iter().map(Into::into), out, Style::PLAIN, || None)
}

fn execute_styled(
    scenarios: &[Scenario],
    args: impl IntoIterator<Item = OsString>,
    out: &mut dyn Write,
    style: Style,
    keeper: impl FnOnce() -> Option<Arc<kept::Files>>,
) -> Exit {
    let args: Vec<_> = args.into_iter().collect();
    let (cli, json) = match Cli::try_parse_from(&args) {
        Ok(cli) => {
            let json = cli.json;
            (cli, json)
        }
        Err(asked) if !asked.use_stderr() => {
            // Help or the version: clap knows whether it writes to a terminal.
            let _ = asked.print();
            return Exit::Holds;
        }
        Err(refused) => {
            if args.iter().any(|arg| arg == "--json") {
                let message = refused.to_string();
                let message = message.trim_start_matches("error: ").trim_end();
                return say(Input::new("arguments", message), None, true, out);
            }
            let _ = refused.print();
            return Exit::Unanswered;
        }
    };
    let command = cli.command.name();
    let limits = Limits::new(cli.command.limits());
    if json {
        // The standard output is one document.
        wattle::print_to_stderr();
    }
    let keeper = if cli.command.keeps() { keeper() } else { None };
    let keeper = keeper.map(|files| files as Arc<dyn Keeper>);
    let mut session = Session { scenarios, out, style, json, limits, keeper };
    let done = match cli.command {
        Command::Tour(args) => tour::tour(&mut session, &args),
        Command::Devices => devices::devices(&mut session),
        Command::List(args) => list::list(&mut session, &args),
        Command::Run(args) => run::run(&mut session, &args),
        Command::Orders(args) => orders::orders(&mut session, &args),
        Command::Check(args) => check::check(&mut session, &args),
        Command::Litmus(args) => litmus::litmus(&mut session, &args),
        Command::Modules(args) => modules::modules(&mut session, &args),
        Command::Emit(args) => emit::emit(&mut session, &args),
        Command::Stress(args) => stress::stress(&mut session, &args),
        Command::Cost(command) => cost::cost(&mut session, &command),
    };
    match done.and_then(|exit| session.out.flush().map(|()| exit).map_err(Stop::from)) {
        Ok(exit) => exit,
        // The reader has closed the output: that is no failure, and there is nowhere to report it.
        Err(Stop::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => Exit::Holds,
        Err(Stop::Output(error)) => {
            let _ = writeln!(io::stderr(), "error: the output could not be written: {error}");
            Exit::Unanswered
        }
        Err(Stop::Input(input)) => say(input, Some(command), json, out),
    }
}

fn say(input: Input, command: Option<&'static str>, json: bool, out: &mut dyn Write) -> Exit {
    let said = if json {
        report::write(out, command, Exit::Unanswered, &report::Refused { error: &input })
    } else {
        writeln!(io::stderr(), "error: {input}")
    };
    match said {
        Err(error) if json && error.kind() == io::ErrorKind::BrokenPipe => Exit::Holds,
        // The exit code reports the result where the output is closed.
        _ => Exit::Unanswered,
    }
}
