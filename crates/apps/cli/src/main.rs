//! The `wattle` command over the scenarios of `wattle-kernels`.

use std::process::ExitCode;

fn main() -> ExitCode {
    wattle_cli::run(wattle_kernels::all())
}
