//! The arguments, as clap takes them.

use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::limits::LimitArgs;
use crate::values;

const EXIT_CODES: &str = "\
Exit codes:
  0  it holds (tour: all is as expected)
  1  it does not hold
  2  it could not be answered: bad input, a device that cannot, an interruption
Of several things, 1 where one does not hold, else 2 where one could not be answered.
A reader that closes the pipe ends the command quietly, with 0.";

/// Runs scenarios of Wattle kernels on every device there is, and proves them
#[derive(Debug, Parser)]
#[command(name = "wattle", version, after_help = EXIT_CODES, arg_required_else_help = true)]
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
    Run(crate::run::RunArgs),
    /// Proves scenarios: runs each through every execution that the memory models permit
    #[command(after_help = EXIT_CODES)]
    Check(CheckArgs),
    /// Judges litmus files: one, or a directory's against a list of expected answers
    #[command(after_help = EXIT_CODES)]
    Litmus(crate::litmus::LitmusArgs),
    /// Judges a directory's SPIR-V modules against a list of expected answers
    #[command(after_help = EXIT_CODES)]
    Modules(crate::modules::ModulesArgs),
    /// Counts the orders in which a scenario's accesses can happen, without and with its fences
    Orders(crate::orders::OrdersArgs),
    /// Prints the code that is made of a scenario's kernels
    Emit(EmitArgs),
    /// Runs litmus files and scenarios in many instances on a device, and compares what is seen with what is allowed
    #[command(after_help = EXIT_CODES)]
    Stress(crate::stress::StressArgs),
    /// Measures what fences, atomics and barriers cost on a device
    #[command(subcommand)]
    Cost(crate::cost::CostCommand),
}

impl Command {
    /// The name, as reports have it.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Tour(_) => "tour",
            Command::Devices => "devices",
            Command::List(_) => "list",
            Command::Run(_) => "run",
            Command::Check(_) => "check",
            Command::Orders(_) => "orders",
            Command::Litmus(_) => "litmus",
            Command::Modules(_) => "modules",
            Command::Emit(_) => "emit",
            Command::Stress(_) => "stress",
            Command::Cost(_) => "cost",
        }
    }

    /// Whether the command keeps its verdicts, and takes those that were kept.
    pub fn keeps(&self) -> bool {
        let keep = match self {
            Command::Check(args) => args.keep,
            Command::Litmus(args) => args.keep,
            Command::Modules(args) => args.keep,
            Command::Tour(_)
            | Command::Devices
            | Command::List(_)
            | Command::Run(_)
            | Command::Orders(_)
            | Command::Emit(_)
            | Command::Stress(_)
            | Command::Cost(_) => return false,
        };
        !keep.no_cache
    }

    /// The limits that end the command early.
    pub fn limits(&self) -> LimitArgs {
        match self {
            Command::Tour(args) => args.limits,
            Command::Devices | Command::List(_) => LimitArgs::default(),
            Command::Run(args) => args.limits,
            Command::Check(args) => args.limits,
            Command::Orders(args) => args.limits,
            Command::Litmus(args) => args.limits,
            Command::Modules(args) => args.limits,
            Command::Emit(args) => args.limits,
            Command::Stress(args) => args.limits,
            Command::Cost(command) => command.args().limits,
        }
    }
}

#[derive(Args, Debug)]
pub struct TourArgs {
    /// Only on this device; may be given several times
    #[arg(long, short)]
    pub device: Vec<String>,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Args, Debug)]
pub struct ListArgs {
    /// The scenarios to explain
    #[arg(value_name = "NAME")]
    pub names: Vec<String>,
}

#[derive(Args, Debug)]
pub struct CheckArgs {
    /// The scenarios, by name (`wattle list` has them), litmus files, or a PTX or SPIR-V module
    #[arg(value_name = "NAME|FILE.litmus|FILE.ptx|FILE.spv", required = true)]
    pub names: Vec<String>,
    /// Under this model alone: portable, ptx, vulkan, rust, sc or unordered [default: portable, and what is emitted for
    /// each target under its own]
    #[arg(long, short, value_name = "MODEL")]
    pub model: Option<wattle::memory::Model>,
    /// What is emitted for this target alone, under the target's own model: portable, ptx:sm_90, ptx:sm_80, vulkan,
    /// host
    #[arg(long, short, value_name = "TARGET", conflicts_with = "model")]
    pub target: Option<wattle::memory::Target>,
    /// Which threads are promised to run: fair, lobe, obe, hsa or hsa-obe [default: lobe, as Wattle's devices promise;
    /// of modules: fair]
    #[arg(long, value_name = "PROGRESS")]
    pub progress: Option<wattle::checker::Progress>,
    /// How often a loop without a bound, whose iterations change something, is gone through
    #[arg(long, value_name = "N", default_value = "4", value_parser = values::iterations, allow_negative_numbers = true)]
    pub loop_bound: u32,
    /// The size of the work [default: the scenario's own for proofs]
    #[arg(long, short = 'n', value_parser = values::size, allow_negative_numbers = true)]
    pub size: Option<usize>,
    /// Takes plain accesses of `Shared` memory for relaxed atomics: the textbooks' own question
    #[arg(long)]
    pub plain_as_relaxed: bool,
    /// Judges the PTX or SPIR-V that is emitted: reads it back, and searches it instruction by instruction
    #[arg(long, conflicts_with_all = ["plain_as_relaxed", "sample", "emit_litmus"])]
    pub emitted: bool,
    /// Distinguishes executions that differ only in which of several like threads does what
    #[arg(long)]
    pub no_symmetry: bool,
    /// Gives no advice
    #[arg(long)]
    pub no_advice: bool,
    /// Draws the execution that shows what is wrong, or one that is right
    #[arg(long, value_name = "FILE")]
    pub svg: Option<std::path::PathBuf>,
    /// Writes what is emitted for ptx or vulkan as a litmus file to standard output, for others' tools to judge
    #[arg(long, value_name = "ptx|vulkan", value_parser = ["ptx", "vulkan"])]
    pub emit_litmus: Option<String>,
    /// Which of several litmus files: a scenario has one for each launch shape, and for each of its launches
    #[arg(long, value_name = "K", default_value = "1", requires = "emit_litmus")]
    pub part: usize,
    /// Draws this many executions at random instead of building all: for what is beyond exhaustive reach
    #[arg(long, value_name = "N", value_parser = values::executions)]
    pub sample: Option<u64>,
    /// The same seed draws the same executions
    #[arg(long, value_name = "S", default_value = "0", requires = "sample", value_parser = values::seed, allow_negative_numbers = true)]
    pub seed: u64,
    #[command(flatten)]
    pub module: crate::module_launch::ModuleArgs,
    #[command(flatten)]
    pub keep: crate::kept::KeepArgs,
    #[command(flatten)]
    pub findings: crate::findings::FindingArgs,
    #[command(flatten)]
    pub limits: LimitArgs,
}

#[derive(Args, Debug)]
pub struct EmitArgs {
    /// The scenario
    #[arg(value_name = "NAME")]
    pub name: String,
    /// What to print
    #[arg(long, short, default_value = "ir")]
    pub target: CodeForm,
    /// Only the kernels of this name
    #[arg(long, short)]
    pub kernel: Option<String>,
    /// The compute capability that PTX is for, from sm_70 to sm_120 [default: sm_90]
    #[arg(long, value_parser = values::arch)]
    pub arch: Option<u32>,
    /// The version of PTX [default: 8.6, or the first that knows the compute capability]
    #[arg(long, value_name = "VERSION", value_parser = values::ptx_version)]
    pub ptx: Option<(u32, u32)>,
    /// Where to write it [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    pub output: Option<std::path::PathBuf>,
    #[command(flatten)]
    pub limits: LimitArgs,
}

/// The forms in which kernels can be printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum CodeForm {
    /// The intermediate representation, with source lines
    Ir,
    /// SPIR-V with the Vulkan memory model, disassembled, with names and source lines
    Spirv,
    /// The SPIR-V module itself, of one kernel
    SpirvBin,
    /// PTX for the compute capability of `--arch`
    Ptx,
}

impl CodeForm {
    /// The name that the option takes.
    pub fn name(self) -> &'static str {
        match self {
            CodeForm::Ir => "ir",
            CodeForm::Spirv => "spirv",
            CodeForm::SpirvBin => "spirv-bin",
            CodeForm::Ptx => "ptx",
        }
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn arguments_are_well_formed() {
        use clap::CommandFactory;
        super::Cli::command().debug_assert();
    }
}
