//! The most memory that this process has held.

use std::fs;

/// Resets the peak to what is held now, where the system permits it.
pub fn forget_peak() {
    // 5: "reset the peak resident set size to the current value" (proc_pid_clear_refs(5)).
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// The most memory held since the last reset, in bytes; `None` where the system does not say.
pub fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}
