//! Two reports side by side.

use serde::Serialize;

use crate::columns::{BELOW, aligned, number};
use crate::report::{Cost, Report, Row};

/// Two reports, row by row.
#[derive(Debug, Serialize)]
pub struct Comparison<'r> {
    /// The machines on which the first report and the second were measured.
    pub machines: [&'r crate::Machine; 2],
    /// The rows that both have.
    pub rows: Vec<Pair<'r>>,
    /// The number of rows that one of them has alone.
    pub unmatched: usize,
    #[serde(skip)]
    unit: &'static str,
}

/// A case that both reports have.
#[derive(Debug, Serialize)]
pub struct Pair<'r> {
    /// The case; its cost is that of the first.
    #[serde(flatten)]
    pub row: &'r Row,
    /// The cost in the second.
    pub second: &'r Cost,
    /// The second's median by the first's, where both were measurable.
    pub ratio: Option<f64>,
}

impl<'r> Comparison<'r> {
    /// Sets two reports side by side.
    ///
    /// # Errors
    /// They answer different questions, in different units, or have no row in common; a sentence that says so.
    pub fn of(first: &'r Report, second: &'r Report) -> Result<Comparison<'r>, String> {
        if first.question != second.question {
            return Err("the reports answer different questions: one of `fences`, one of `interference`".to_owned());
        }
        // A figure of each that both have: nanoseconds where one has no cycles.
        let has_cycles = |report: &Report| report.unit() == "cycles";
        let in_cycles = has_cycles(first) && has_cycles(second);
        let median = |cost: &Cost| if in_cycles { cost.cycles } else { cost.nanoseconds }.map(|figure| figure.median);
        let rows: Vec<Pair<'r>> = first
            .rows
            .iter()
            .filter_map(|row| {
                let second = &second.rows.iter().find(|other| row.is_like(other))?.cost;
                let ratio = median(&row.cost).zip(median(second)).map(|(first, second)| second / first);
                Some(Pair { row, second, ratio })
            })
            .collect();
        if rows.is_empty() {
            return Err("the reports have no row in common".to_owned());
        }
        let unmatched = first.rows.len() + second.rows.len() - 2 * rows.len();
        let machines = [&first.machine, &second.machine];
        Ok(Comparison { machines, rows, unmatched, unit: if in_cycles { "cycles" } else { "ns" } })
    }

    /// Formats the comparison as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let [first, second] = self.machines.map(crate::Machine::line);
        let mut lines = vec![format!("first   {first}"), format!("second  {second}"), String::new()];
        let head = ["", "writes", "to", "blocks", "beside", "first", "second", "ratio"];
        let mut table = vec![head.map(str::to_owned).to_vec()];
        for Pair { row, second, ratio } in &self.rows {
            let cell = |cost: &Cost| {
                let figure = if self.unit == "cycles" { cost.cycles } else { cost.nanoseconds };
                figure.map_or(BELOW.to_owned(), |figure| number(figure.median))
            };
            table.push(vec![
                row.operation.clone(),
                row.writes.to_string(),
                row.memory.map_or("-", |memory| memory.name()).to_owned(),
                row.blocks.to_string(),
                row.beside.as_ref().map_or("-".to_owned(), ToString::to_string),
                cell(&row.cost),
                cell(second),
                ratio.map_or(String::new(), |ratio| format!("{ratio:.2}")),
            ]);
        }
        lines.extend(aligned(&table));
        lines.push(String::new());
        let unit = self.unit;
        lines.push(format!("{unit} per operation; ratio: the second by the first; {BELOW}: not measurable"));
        if self.unmatched > 0 {
            lines.push(format!("{} rows are in one of the reports alone.", self.unmatched));
        }
        lines
    }
}
