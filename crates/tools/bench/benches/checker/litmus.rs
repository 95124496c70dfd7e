//! The folder of litmus files that may stand beside the repository.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use wattle::Model;
use wattle_litmus::{Expected, Options, Progress, Question, run_folder};

/// The lists, with the question of each.
const LISTS: [(&str, Model, Question); 9] = [
    ("ptx-outcome", Model::Ptx, Question::Outcome),
    ("ptx-liveness", Model::Ptx, Question::Liveness(Progress::Fair)),
    ("vulkan-outcome", Model::Vulkan, Question::Outcome),
    ("vulkan-race", Model::Vulkan, Question::Race),
    ("vulkan-liveness-fair", Model::Vulkan, Question::Liveness(Progress::Fair)),
    ("vulkan-liveness-hsa", Model::Vulkan, Question::Liveness(Progress::Hsa)),
    ("vulkan-liveness-obe", Model::Vulkan, Question::Liveness(Progress::Obe)),
    ("vulkan-liveness-lobe", Model::Vulkan, Question::Liveness(Progress::Lobe)),
    ("vulkan-liveness-hsa-obe", Model::Vulkan, Question::Liveness(Progress::HsaObe)),
];

/// The time and the answers of a list.
pub struct Judged {
    pub name: &'static str,
    pub passed: usize,
    pub failed: usize,
    pub time: Duration,
    /// The median time of the files alone.
    pub median: Duration,
}

/// Judges all lists; the result is empty where the folder is not there.
pub fn run() -> Vec<Judged> {
    let root = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../../shared/litmus"));
    let mut judged = Vec::new();
    for (name, model, question) in LISTS {
        let began = Instant::now();
        let Ok(expected) = Expected::read(&root.join(format!("{name}.csv"))) else { continue };
        let summary = run_folder(&root, model, question, &expected, &Options::default(), &mut |_| {});
        let time = began.elapsed();
        let mut times: Vec<Duration> = summary.cases.iter().map(|case| case.time).collect();
        times.sort_unstable();
        let median = times.get(times.len() / 2).copied().unwrap_or_default();
        judged.push(Judged { name, passed: summary.passed(), failed: summary.failed(), time, median });
    }
    judged
}
