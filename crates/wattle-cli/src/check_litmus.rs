//! Where `wattle check` meets litmus files.

use std::path::Path;

use wattle::Model;

use crate::args::CheckArgs;
use crate::check_report::Judged;
use crate::exit::{Exit, Input, Stop};
use crate::litmus::{self, LitmusArgs};
use crate::session::Session;

/// Judges a litmus file's claim, under the model of its dialect unless another was asked for.
pub fn check_file(session: &mut Session<'_>, file: &Path, args: &CheckArgs) -> Result<Exit, Stop> {
    let text = std::fs::read_to_string(file)
        .map_err(|error| Input::new("litmus", format!("{} could not be read: {error}", file.display())))?;
    let dialect = if text.trim_start().to_ascii_uppercase().starts_with("VULKAN") { Model::Vulkan } else { Model::Ptx };
    let model = args.model.or(args.target.map(|target| target.model())).unwrap_or(dialect);
    let asked = LitmusArgs {
        path: file.to_owned(),
        model,
        ask: "outcome".into(),
        progress: args.progress.unwrap_or_default(),
        expected: None,
        loop_bound: args.loop_bound,
        time: args.time,
    };
    litmus::litmus(session, &asked)
}

/// Writes what is emitted as litmus files.
pub fn emit(_session: &mut Session<'_>, judged: &Judged, _dialect: &str) -> Result<(), Stop> {
    Err(Input::new("emit_litmus", format!("`{}` cannot be written yet", judged.scenario.name)).into())
}
