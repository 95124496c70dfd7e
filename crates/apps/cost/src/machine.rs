//! The machine that was measured on.

use std::process::Command;

use serde::{Deserialize, Serialize};
use wattle::memory::Target;
use wattle::{Device, DeviceKind};

/// A machine, as far as it describes itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Machine {
    /// The device's name.
    pub device: String,
    /// The device's description.
    pub description: String,
    /// The processor of the host.
    pub processor: String,
    /// The processors that the process has.
    pub processors: u32,
    /// The operating system's kernel.
    pub system: String,
    /// Whether the device is the host's cores.
    #[serde(default)]
    pub is_host: bool,
    /// Whether the device is a driver that computes on the host's processor.
    pub is_software: bool,
    /// What the clock that its kernels read counts; `None` in a report that was written before reports had this field.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub clock_unit: Option<ClockUnit>,
}

/// What the clock that kernels read counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClockUnit {
    /// Cycles of the multiprocessor or of the core.
    Cycles,
    /// Ticks whose length is the driver's own matter (Vulkan 1.3, `VK_KHR_shader_clock`): on an H100 they are
    /// nanoseconds.
    Ticks,
}

impl ClockUnit {
    /// The name in tables and pictures.
    pub fn name(self) -> &'static str {
        match self {
            ClockUnit::Cycles => "cycles",
            ClockUnit::Ticks => "ticks",
        }
    }
}

impl Machine {
    /// The machine of a device.
    pub fn of(device: &Device) -> Machine {
        let properties = device.properties();
        Machine {
            device: properties.name.clone(),
            description: properties.description.clone(),
            processor: processor().unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            processors: std::thread::available_parallelism().map_or(1, |count| count.get() as u32),
            system: output("uname", &["-sr"]).unwrap_or_else(|| std::env::consts::OS.to_owned()),
            is_host: properties.kind == DeviceKind::Host,
            is_software: properties.kind == DeviceKind::Software,
            clock_unit: Some(match properties.target {
                Some(Target::Vulkan) => ClockUnit::Ticks,
                Some(Target::Portable | Target::Ptx { .. } | Target::Host) | None => ClockUnit::Cycles,
            }),
        }
    }

    /// The unit in which the clock of the machine's kernels counts. In a report of an earlier version, which has no
    /// such field, it follows from the device's name: the names of Vulkan devices begin with `vulkan`
    /// (`Device::select`).
    pub(crate) fn clock_unit(&self) -> ClockUnit {
        let is_vulkan = self.device.starts_with("vulkan");
        self.clock_unit.unwrap_or(if is_vulkan { ClockUnit::Ticks } else { ClockUnit::Cycles })
    }

    /// The machine in a line.
    pub fn line(&self) -> String {
        let host = format!("{}, {} processors, {}", self.processor, self.processors, self.system);
        if self.is_host {
            format!("{}: {host}", self.device)
        } else {
            format!("{}: {} ({host})", self.device, self.description)
        }
    }
}

/// The processor's model, with its family, model and stepping where the model's name has no number that would identify
/// it.
fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let name = field("model name")?;
    match (field("cpu family"), field("model"), field("stepping")) {
        (Some(family), Some(model), Some(stepping)) if !name.contains(|c: char| c.is_ascii_digit()) => {
            Some(format!("{name} (family {family}, model {model}, stepping {stepping})"))
        }
        _ => Some(name),
    }
}

fn output(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// The bytes of the second-level cache of a core, where Linux says.
pub fn second_level_cache() -> Option<u64> {
    let of = |index: u32, what: &str| {
        std::fs::read_to_string(format!("/sys/devices/system/cpu/cpu0/cache/index{index}/{what}")).ok()
    };
    let index = (0..8).find(|&index| of(index, "level").is_some_and(|level| level.trim() == "2"))?;
    let size = of(index, "size")?;
    let (number, unit) = size.trim().split_at(size.trim().find(|c: char| !c.is_ascii_digit())?);
    let scale = match unit {
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    Some(number.parse::<u64>().ok()? * scale)
}
