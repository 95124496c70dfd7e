//! The JSON that `wattle --json` writes of a check, under the feature `serde`. Existing names stay; new ones may be
//! added.

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};
use wattle_ir::Site;
use wattle_memory::Model;

use super::changes::Change;
use crate::report::{Orders, Report, Violation};
use crate::story::tell;

/// The report without the graphs of its executions, which appear as stories.
impl Serialize for Report {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let with_story =
            |violation: &Violation| ViolationStory { kind: violation.kind(), story: tell(violation, self).to_string() };
        let texts = |all: &[_]| all.iter().map(ToString::to_string).collect::<Vec<String>>();
        let lines = |pairs: &[(Site, Site)]| -> Vec<_> {
            pairs.iter().map(|(read, write)| [read.to_string(), write.to_string()]).collect()
        };
        let (rests_on, rests_on_progress) = (lines(&self.rests_on), lines(&self.rests_on_progress));
        let mut report = serializer.serialize_struct("Report", 27)?;
        report.serialize_field("target", &self.name())?;
        report.serialize_field("verdict", &self.verdict.to_string())?;
        report.serialize_field("model", self.model.name())?;
        report.serialize_field("emitted", &self.emitted)?;
        report.serialize_field("progress", self.progress.name())?;
        report.serialize_field("shapes", &self.shapes)?;
        report.serialize_field("violated_in", &self.violated_in)?;
        report.serialize_field("executions", &self.statistics.complete)?;
        report.serialize_field("abandoned", &self.statistics.abandoned)?;
        report.serialize_field("events", &self.events)?;
        report.serialize_field("covered", &self.covered)?;
        report.serialize_field("runs", &self.runs)?;
        report.serialize_field("loop_bound", &(self.statistics.bounded > 0).then_some(self.loop_bound))?;
        report.serialize_field("violations", &self.violations.iter().map(with_story).collect::<Vec<_>>())?;
        report.serialize_field("rests_on", &rests_on)?;
        report.serialize_field("rests_on_progress", &rests_on_progress)?;
        report.serialize_field("may_rest_on", &lines(&self.may_rest_on))?;
        report.serialize_field("rests_unfinished", &self.rests_unfinished)?;
        report.serialize_field("rests_on_warps", &self.rests_on_warps())?;
        let assumes: Vec<_> = self.assumes.iter().map(ToString::to_string).collect();
        report.serialize_field("assumes", &assumes)?;
        report.serialize_field("notes", &self.notes)?;
        report.serialize_field("unknown", &texts(&self.unknown))?;
        report.serialize_field("outcomes", &self.outcomes.keys().collect::<Vec<_>>())?;
        report.serialize_field("checks", &self.checks)?;
        report.serialize_field("nothing_asserted", &self.nothing_asserted())?;
        report.serialize_field("searches", &self.searches)?;
        report.serialize_field("kept", &self.kept)?;
        report.serialize_field("milliseconds", &(self.elapsed.as_secs_f64() * 1e3))?;
        report.end()
    }
}

#[derive(Serialize)]
struct ViolationStory {
    kind: &'static str,
    story: String,
}

impl Serialize for Change {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut change = serializer.serialize_struct("Change", 4)?;
        change.serialize_field("file", self.site.file)?;
        change.serialize_field("line", &self.site.line)?;
        change.serialize_field("kernel", &self.kernel)?;
        change.serialize_field("change", &self.text)?;
        change.end()
    }
}

/// Writes the orders as rows, each with its outcome.
pub(super) fn orders<'a, S: Serializer>(
    orders: impl IntoIterator<Item = (&'a String, &'a Orders)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        outcome: &'a str,
        #[serde(flatten)]
        orders: &'a Orders,
    }
    serializer.collect_seq(orders.into_iter().map(|(outcome, orders)| Row { outcome, orders }))
}

/// Writes the outcomes as rows, each with its model.
pub(super) fn models<S: Serializer>(outcomes: &[(Model, Vec<String>)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        model: &'a str,
        outcomes: &'a [String],
    }
    serializer.collect_seq(outcomes.iter().map(|(model, outcomes)| Row { model: model.name(), outcomes }))
}

/// Writes why models are refused.
pub(super) fn refused<S: Serializer>(refused: &[(Model, String)], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Row<'a> {
        model: &'a str,
        why: &'a str,
    }
    serializer.collect_seq(refused.iter().map(|(model, why)| Row { model: model.name(), why }))
}

/// Writes the names of models.
pub(super) fn names<S: Serializer>(models: &[Model], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(models.iter().map(|model| model.name()))
}

/// Writes each value as its text.
pub(super) fn texts<S: Serializer, T: ToString>(values: &[T], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(values.iter().map(ToString::to_string))
}
