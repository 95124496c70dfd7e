//! The steps that the script has run besides the measurements.

use std::path::Path;

use serde_json::{Value, json};

/// How many of a failed step's last lines are kept.
const LINES: usize = 30;

/// Adds the steps of a file with lines `name<tab>exit status<tab>seconds` to a report, or makes one of them alone. Of a
/// step that failed, the end of `name.log` beside that file is kept too.
///
/// # Errors
/// A file cannot be read or written.
pub fn add(steps: &Path, report: &Path) -> std::io::Result<()> {
    let folder = steps.parent().unwrap_or(Path::new("."));
    let lines = std::fs::read_to_string(steps)?;
    let steps: Vec<Value> = lines.lines().map(|line| step(line, folder)).collect();
    let measured = std::fs::read(report).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let mut all = match measured {
        Some(Value::Object(object)) => object,
        _ => serde_json::Map::new(),
    };
    all.insert("steps".to_owned(), steps.into());
    std::fs::write(report, serde_json::to_string_pretty(&all)?)
}

fn step(line: &str, folder: &Path) -> Value {
    let mut parts = line.split('\t');
    let (name, status, seconds) = (parts.next().unwrap_or_default(), parts.next(), parts.next());
    let status: Option<i32> = status.and_then(|status| status.parse().ok());
    let seconds: Option<f64> = seconds.and_then(|seconds| seconds.parse().ok());
    let mut step = json!({ "name": name, "exit_status": status, "seconds": seconds });
    if status != Some(0) {
        let log = std::fs::read_to_string(folder.join(format!("{name}.log"))).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        step["last_lines"] = lines[lines.len().saturating_sub(LINES)..].join("\n").into();
    }
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_stand_beside_what_was_measured_and_failures_tell_why() {
        let folder = std::env::temp_dir().join(format!("gpu-bench-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let (steps, report) = (folder.join("steps.tsv"), folder.join("gpu.json"));
        std::fs::write(&steps, "tour\t0\t3.5\nfuzz\t124\t60\n").unwrap();
        std::fs::write(folder.join("fuzz.log"), "one\ntwo\n").unwrap();
        for before in ["{\"measurements\": [1]}", "not JSON"] {
            std::fs::write(&report, before).unwrap();
            add(&steps, &report).unwrap();
            let all: Value = serde_json::from_slice(&std::fs::read(&report).unwrap()).unwrap();
            assert_eq!(all["measurements"].is_array(), before.starts_with('{'));
            assert_eq!((&all["steps"][0]["seconds"], &all["steps"][0]["last_lines"]), (&json!(3.5), &Value::Null));
            assert_eq!(
                (&all["steps"][1]["exit_status"], &all["steps"][1]["last_lines"]),
                (&json!(124), &json!("one\ntwo"))
            );
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
