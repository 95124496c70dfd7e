//! The arguments, as clap takes them.

use clap::{Args, Parser, Subcommand, ValueEnum};

const EXIT_CODES: &str = "\
Exit codes:
  0  it holds (tour: all is as expected)
  1  it does not hold
  2  it could not be answered: bad input, a device that cannot, an interruption";

/// Kernels written once in Rust, run on every device there is.
#[derive(Debug, Parser)]
#[command(name = "wattle", version, about, after_help = EXIT_CODES, arg_required_else_help = true)]
#[command(max_term_width = 110)]
pub struct Cli {
    #[command(subcommand)]
    pub command: Command,
    /// One JSON document on standard output, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Runs every scenario on every device, and says at the end whether all is as it should be
    Tour(TourArgs),
    /// Shows the devices there are, and why others are not
    Devices,
    /// Lists the scenarios; with a name, shows what that one is about
    #[command(visible_alias = "explain")]
    List(ListArgs),
    /// Runs scenarios by name
    #[command(after_help = EXIT_CODES)]
    Run(RunArgs),
    /// Prints the code that is made of a scenario's kernels
    Emit(EmitArgs),
}

impl Command {
    /// The name, as reports have it.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Tour(_) => "tour",
            Command::Devices => "devices",
            Command::List(_) => "list",
            Command::Run(_) => "run",
            Command::Emit(_) => "emit",
        }
    }
}

#[derive(Args, Debug)]
pub struct TourArgs {
    /// Only on this device; may be given several times
    #[arg(long, short)]
    pub device: Vec<String>,
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// The scenarios to explain
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
}

#[derive(Args, Debug)]
pub struct RunArgs {
    /// The scenarios, by name (`wattle list` has them)
    #[arg(value_name = "NAME", required = true)]
    pub names: Vec<String>,
    /// On this device, or on `all`; may be given several times [default: host]
    #[arg(long, short)]
    pub device: Vec<String>,
    /// The size of the work: 1000, 1_000 or 2^24 [default: the scenario's own for the device]
    #[arg(long, short = 'n', value_parser = size)]
    pub size: Option<usize>,
    /// At most so many blocks, in launches that leave the choice to the device (FrameSpec)
    #[arg(long, value_name = "B", value_parser = clap::value_parser!(u32).range(1..))]
    pub blocks: Option<u32>,
    /// At most so many threads per block, in launches that leave the choice to the device (FrameSpec)
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u32).range(1..))]
    pub threads: Option<u32>,
    /// So many times; on the simulated device, each with the next seed
    #[arg(long, short, value_name = "R", default_value = "1", value_parser = clap::value_parser!(u64).range(1..))]
    pub repeat: u64,
}

#[derive(Args, Debug)]
pub struct EmitArgs {
    /// The scenario
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What to print
    #[arg(long, short, default_value = "ir")]
    pub target: Target,
    /// Only the kernels of this name
    #[arg(long, short)]
    pub kernel: Option<String>,
}

/// What kernels can be printed as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Target {
    /// The intermediate representation, with source lines
    Ir,
}

fn size(text: &str) -> Result<usize, String> {
    let number = |text: &str| text.replace('_', "").parse::<usize>().map_err(|error| error.to_string());
    let size = match text.split_once('^') {
        None => number(text)?,
        Some((base, exponent)) => u32::try_from(number(exponent)?)
            .ok()
            .and_then(|exponent| number(base).ok()?.checked_pow(exponent))
            .ok_or("it is not a number of this machine")?,
    };
    if size == 0 { Err("a size is at least 1".to_owned()) } else { Ok(size) }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes() {
        assert_eq!(size("17"), Ok(17));
        assert_eq!(size("1_000"), Ok(1000));
        assert_eq!(size("2^24"), Ok(1 << 24));
        for wrong in ["", "0", "-1", "2^", "^2", "2^64", "2^99999999999", "0^3", "1e3", "99999999999999999999"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn arguments_are_well_formed() {
        use clap::CommandFactory;
        super::Cli::command().debug_assert();
    }
}
