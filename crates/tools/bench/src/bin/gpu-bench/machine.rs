//! The machine that measurements are made on.

use std::fmt;
use std::process::Command;

use serde::Serialize;
use wattle::Device;

/// A machine, as far as its driver describes it.
#[derive(Serialize)]
pub struct Machine {
    device: String,
    description: String,
    memory_bytes: u64,
    multiprocessors: u32,
    /// `nvidia-smi`'s name, driver, clocks and power limit, if it is there.
    nvidia_smi: Option<String>,
    nvcc: Option<String>,
    processor: Option<String>,
    kernel: Option<String>,
    /// The clock that cycles are counted in, in Hz: the most that the streaming multiprocessors may run at. A note
    /// records what they ran at when fences had been measured.
    pub clock_hz: Option<f64>,
}

/// Describes the machine and the device.
pub fn describe(device: &Device) -> Machine {
    let properties = device.properties();
    let query = "--query-gpu=name,driver_version,clocks.max.sm,clocks.sm,clocks.mem,power.limit,ecc.mode.current";
    let nvidia_smi = output("nvidia-smi", &[query, "--format=csv,noheader"]);
    let clock = output("nvidia-smi", &["--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits"]);
    let processor = std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    Machine {
        device: properties.name.clone(),
        description: properties.description.clone(),
        memory_bytes: properties.memory,
        multiprocessors: properties.workers,
        nvidia_smi,
        nvcc: output("nvcc", &["--version"])
            .or_else(|| output("/usr/local/cuda/bin/nvcc", &["--version"]))
            .and_then(|text| text.lines().rev().nth(1).map(str::to_owned)),
        processor,
        kernel: output("uname", &["-srm"]),
        clock_hz: clock.and_then(|text| text.lines().next()?.trim().parse::<f64>().ok()).map(|mhz| mhz * 1e6),
    }
}

/// The clock that the streaming multiprocessors run at now, in Hz.
pub fn clock_now() -> Option<f64> {
    let text = output("nvidia-smi", &["--query-gpu=clocks.sm", "--format=csv,noheader,nounits"])?;
    text.lines().next()?.trim().parse::<f64>().ok().map(|mhz| mhz * 1e6)
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.device, self.description)?;
        [&self.nvidia_smi, &self.nvcc, &self.processor].into_iter().flatten().try_for_each(|line| write!(f, "\n{line}"))
    }
}
