//! The configuration by environment variables; see the crate's documentation.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use wattle_modules::ptx::Limits;

use super::status::Status;
use crate::machine::grid::Pace;

/// The configuration, which is read once.
#[derive(Debug)]
pub struct Config {
    /// The number of devices.
    pub devices: u32,
    /// The devices' compute capability, for instance 90.
    pub sm: u32,
    /// The driver's version, for instance 12090.
    pub driver: i32,
    /// The memory of each device in bytes.
    pub memory: u64,
    /// The result of `cuInit`.
    pub init_error: Status,
    /// The launch that fails, counted from 1, and its error.
    pub launch_error: Option<(u64, Status)>,
    /// The number of multiprocessors of each device.
    pub sms: u32,
    /// The places for blocks on each multiprocessor.
    pub blocks_per_sm: u32,
    /// The length and order of the threads' turns.
    pub pace: Pace,
    /// Whether a module is loaded only when nothing runs in the context, while other calls wait for that.
    pub load_waits: bool,
    /// Whether a call after the process has begun to end aborts the process.
    pub end_aborts: bool,
    /// Whether calls are printed on stderr.
    pub trace: bool,
    /// The folder where linked texts are kept; `None` to keep none.
    pub keep: Option<PathBuf>,
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    let parsed = text.trim().parse().ok();
    if parsed.is_none() {
        eprintln!("soft-cuda: {name}={text} is no number, and is ignored");
    }
    parsed
}

impl Config {
    /// The configuration of this process.
    pub fn get() -> &'static Config {
        static CONFIG: OnceLock<Config> = OnceLock::new();
        CONFIG.get_or_init(Config::read)
    }

    fn read() -> Config {
        let or = |name, default| number(name).unwrap_or(default);
        let launch_error = env::var("SOFT_CUDA_LAUNCH_ERROR").ok().and_then(|text| {
            let (launch, error) = text.split_once(':')?;
            Some((launch.parse().ok()?, Status(error.parse().ok()?)))
        });
        Config {
            devices: or("SOFT_CUDA_DEVICES", 1).min(64) as u32,
            sm: or("SOFT_CUDA_SM", 90) as u32,
            driver: or("SOFT_CUDA_DRIVER", 12090) as i32,
            memory: or("SOFT_CUDA_MEMORY", 1 << 30),
            init_error: Status(or("SOFT_CUDA_INIT_ERROR", 0) as u32),
            launch_error,
            sms: or("SOFT_CUDA_SMS", 8).max(1) as u32,
            blocks_per_sm: or("SOFT_CUDA_BLOCKS_PER_SM", 4).clamp(1, 32) as u32,
            pace: Pace {
                quantum: or("SOFT_CUDA_QUANTUM", 128).clamp(1, 1 << 20) as u32,
                seed: number("SOFT_CUDA_SEED"),
                strict: or("SOFT_CUDA_STRICT", 1) != 0,
            },
            load_waits: or("SOFT_CUDA_LOAD_WAITS", 0) != 0,
            end_aborts: or("SOFT_CUDA_END_ABORTS", 0) != 0,
            trace: or("SOFT_CUDA_TRACE", 0) != 0,
            keep: env::var_os("SOFT_CUDA_KEEP").filter(|folder| !folder.is_empty()).map(PathBuf::from),
        }
    }

    /// The limits of the PTX that a driver of this version understands (PTX ISA 13 "Release Notes").
    pub fn accepts(&self, sm: u32) -> Limits {
        let version = match (self.driver / 1000, self.driver % 1000 / 10) {
            (major @ ..11, _) => (major.max(1) as u32 - 4.min(major.max(1) as u32 - 1), 0),
            (11, minor) => (7, minor as u32),
            (12, minor @ ..6) => (8, minor as u32),
            (12, 6) => (8, 5),
            (12, minor) => (8, minor as u32 - 1),
            (major, minor) => (major as u32 - 4, minor as u32),
        };
        Limits { version, sm }
    }
}
