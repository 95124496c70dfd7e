//! The `wattle` command over the scenarios of `wattle-kernels`.

use std::process::ExitCode;

use wattle_kernels as _;

fn main() -> ExitCode {
    wattle_cli::main()
}
