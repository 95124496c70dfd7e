//! The `wattle` command over this crate's scenarios.

// Names the library, so that it is linked and its scenarios are known.
use gallery as _;

fn main() -> std::process::ExitCode {
    wattle_cli::main()
}
