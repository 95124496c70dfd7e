//! What Wattle's kernels take on one device, beside CUDA C++ in the same process where its peers were built.
//!
//! `gpu-bench DEVICE [--peers libpeers.so] [--n ELEMENTS] [--turns N] --json FILE`
//! `gpu-bench add-steps STEPS --json FILE`
//!
//! The second adds to the file what else the script has run. `gpu.sh`, which `cargo xtask pack` writes, runs it on a
//! machine with a GPU. Wattle and the peer take turns; reported are medians and their ratio, above 1 where Wattle is
//! faster.

mod fences;
mod machine;
mod peers;
mod report;
mod steps;
mod tiles;
mod transfer;

use std::path::PathBuf;
use std::process::ExitCode;

use wattle::Device;

use peers::Peers;
use report::Report;

const USAGE: &str = "\
gpu-bench DEVICE [--peers libpeers.so] [--n ELEMENTS] [--turns N] --json FILE
gpu-bench add-steps STEPS --json FILE";

/// The arguments of the command.
struct Wanted {
    device: String,
    peers: Option<PathBuf>,
    json: PathBuf,
    elements: usize,
    turns: usize,
}

impl Wanted {
    fn parse(arguments: &[String]) -> Option<Wanted> {
        let after = |name: &str| arguments.iter().skip_while(|argument| *argument != name).nth(1);
        let number = |name: &str, otherwise: usize| after(name).map_or(Some(otherwise), |text| text.parse().ok());
        Some(Wanted {
            device: arguments.first().filter(|first| !first.starts_with('-'))?.clone(),
            peers: after("--peers").map(PathBuf::from),
            json: after("--json")?.into(),
            elements: number("--n", 1 << 28)?,
            turns: number("--turns", 11)?,
        })
    }
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, steps, json_option, json] = &arguments[..]
        && (command.as_str(), json_option.as_str()) == ("add-steps", "--json")
    {
        return match steps::add(steps.as_ref(), json.as_ref()) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::from(2)
            }
        };
    }
    let Some(wanted) = Wanted::parse(&arguments) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    match run(&wanted) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn run(wanted: &Wanted) -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::select(&wanted.device)?;
    let mut report = Report::new(machine::describe(&device), wanted.json.clone());
    let peers = match &wanted.peers {
        None => None,
        Some(file) => match Peers::load(file) {
            Ok(peers) => Some(peers),
            Err(why) => {
                report.note(format!("no peers: {why}"));
                None
            }
        },
    };
    let peers = peers.as_ref();
    type Part = fn(&Device, Option<&Peers>, &Wanted, &mut Report) -> wattle::Result<()>;
    let parts: [(&str, Part); 10] = [
        ("copy", transfer::copy),
        ("triad", transfer::triad),
        ("sum", transfer::sum),
        ("scan", transfer::scan),
        ("transposition", tiles::transposition),
        ("stencil", tiles::spreading),
        ("histogram", tiles::counting),
        ("product", tiles::product),
        ("launches", transfer::launches),
        ("fences", fences::fences),
    ];
    for (name, part) in parts {
        // A part that cannot be measured is reported, and the others are measured.
        if let Err(error) = part(&device, peers, wanted, &mut report) {
            report.note(format!("{name}: {error}"));
        }
        if let Some(peers) = peers {
            peers.release();
            if let Some(error) = peers.error() {
                report.note(format!("{name}: the peer says: {error}"));
            }
        }
    }
    transfer::code(&mut report);
    println!("{report}");
    Ok(())
}
