//! The `wattle` command over the scenarios of `wattle-kernels`.

use std::process::ExitCode;

use mimalloc::MiMalloc;
use wattle_kernels as _;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> ExitCode {
    wattle_cli::main()
}
