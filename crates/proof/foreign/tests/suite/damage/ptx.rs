//! The texts of PTX that are damaged, and the launches of their kernel `right`.

use wattle_foreign::{Launch, Source};

/// The texts of a folder's `tests/cuda`, and those that are there to be damaged.
pub struct Texts;

impl Texts {
    /// Each with the name of its file.
    pub fn of(root: &str) -> Vec<(String, String)> {
        let mut texts = Vec::new();
        for folder in ["cuda", "damage"] {
            for entry in std::fs::read_dir(format!("{root}/tests/{folder}")).expect("the folder is there") {
                let path = entry.expect("an entry").path();
                if path.extension().is_some_and(|extension| extension == "ptx") {
                    let text = std::fs::read_to_string(&path).expect("a file");
                    texts.push((path.display().to_string(), text));
                }
            }
        }
        texts.sort();
        texts
    }
}

pub fn source_of(text: &str) -> Source {
    Source { file: "damaged.ptx".into(), text: text.to_owned() }
}

/// The arguments of `right`: a buffer for each wide parameter, and 4 for the others.
pub fn launch_of(text: &str) -> Launch {
    let parameters = text.split(".visible .entry right(").nth(1).and_then(|rest| rest.split(')').next());
    let parameters: Vec<&str> = parameters.map(|list| list.split(',').collect()).unwrap_or_default();
    let buffers = ["a=i32[4]:1", "b=i32[4]:0", "c=i32[4]:0", "d=i32[4]:0"];
    let arguments = parameters
        .iter()
        .filter(|parameter| parameter.contains(".param"))
        .zip(buffers)
        .map(|(parameter, buffer)| if parameter.contains(".u64") { buffer } else { "n=4" });
    let arguments = arguments.map(|text| text.parse().expect("an argument")).collect();
    Launch { grid: [1; 3], block: [2, 1, 1], arguments, dynamic_shared: 64 }
}
