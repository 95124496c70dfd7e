//! Reports as text.

use wattle::checker::wrap;

use crate::columns::{self, BELOW, aligned, number};
use crate::interference;
use crate::report::{Memory, Question, Report, Row};

/// The widest line of a report, in columns.
const WIDTH: usize = 110;

impl Report {
    /// Formats the report as lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![self.machine.line(), String::new()];
        match self.question {
            Question::Fences => lines.extend(self.fences()),
            Question::Interference => lines.extend(interference::lines(self)),
        }
        for note in &self.notes {
            lines.push(String::new());
            lines.extend(wrap(note, WIDTH));
        }
        if self.is_partial {
            lines.extend([
                String::new(),
                "Stopped before its end: rows are missing, or have fewer rounds than others.".to_owned(),
            ]);
        }
        lines
    }

    fn fences(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for blocks in self.crowds() {
            let rows: Vec<&Row> = self.rows.iter().filter(|row| row.blocks == blocks).collect();
            let columns = self::columns(&rows);
            if columns.len() < 2 && self.crowds().len() > 2 {
                continue;
            }
            let crowd = if blocks == 1 { "one block".to_owned() } else { format!("{blocks} blocks at once") };
            let unit = self.unit();
            lines.push(format!(
                "{unit} per operation, {crowd}; by the thread's own writes before it, and where they go"
            ));
            lines.push(String::new());
            lines.extend(grid(&rows, &columns, unit));
            lines.push(String::new());
        }
        lines.extend(self.by_blocks());
        let finest: Vec<f64> = self.rows.iter().map(|row| row.cost.resolution).collect();
        let least = finest.iter().copied().fold(f64::MAX, f64::min);
        let most = finest.iter().copied().fold(0.0, f64::max);
        if !finest.is_empty() {
            let text = format!(
                "{BELOW}: not measurable, which is below the row's resolution ({} to {} ns). Medians; `--json` has the \
                 quartiles, the resolution and the outliers of each.",
                number(least),
                number(most)
            );
            lines.extend(wrap(&text, WIDTH));
            lines.extend(columns::unsteady(&self.rows));
        }
        lines
    }

    /// The numbers of blocks, from the least.
    pub fn crowds(&self) -> Vec<u32> {
        let mut crowds: Vec<u32> = self.rows.iter().map(|row| row.blocks).collect();
        crowds.sort_unstable();
        crowds.dedup();
        crowds
    }

    /// The table of fences against the number of blocks, where there are more than one and all.
    fn by_blocks(&self) -> Vec<String> {
        let crowds = self.crowds();
        if crowds.len() <= 2 {
            return Vec::new();
        }
        let writes = crate::fences::WRITES_OF_BLOCKS;
        let is_there = |row: &&Row| row.memory == Some(Memory::Device) && row.writes == writes;
        let mut table = vec![std::iter::once(String::new()).chain(crowds.iter().map(u32::to_string)).collect()];
        for operation in operations(&self.rows.iter().collect::<Vec<_>>()) {
            let of: Vec<&Row> = self.rows.iter().filter(is_there).filter(|row| row.operation == operation).collect();
            if of.len() == crowds.len() {
                let cells = crowds.iter().map(|&blocks| cell(of.iter().find(|row| row.blocks == blocks).copied()));
                table.push(std::iter::once(operation).chain(cells).collect::<Vec<_>>());
            }
        }
        let unit = self.unit();
        let title =
            format!("{unit} per operation by the number of blocks at once; {writes} writes to device memory before it");
        [title, String::new()].into_iter().chain(aligned(&table)).chain([String::new()]).collect()
    }
}

/// The cases of a table's columns.
fn columns(rows: &[&Row]) -> Vec<(Option<Memory>, u32)> {
    let mut columns = Vec::new();
    for row in rows {
        if !columns.contains(&(row.memory, row.writes)) {
            columns.push((row.memory, row.writes));
        }
    }
    columns
}

fn operations(rows: &[&Row]) -> Vec<String> {
    let mut operations: Vec<String> = Vec::new();
    for row in rows {
        if !operations.contains(&row.operation) {
            operations.push(row.operation.clone());
        }
    }
    operations
}

/// The table of all operations, in `unit`; where that is another, the nanoseconds of each alone stand beside.
fn grid(rows: &[&Row], columns: &[(Option<Memory>, u32)], unit: &str) -> Vec<String> {
    const NANOSECONDS: &str = "ns";
    let has_both = |memory: &Option<Memory>| memory.is_none() && unit != NANOSECONDS;
    let mut places = vec![String::new()];
    let mut counts = vec![String::new()];
    for (number, (memory, writes)) in columns.iter().enumerate() {
        let is_first = number == 0 || columns[number - 1].0 != *memory;
        let place = memory.map_or("alone", Memory::name);
        places.push(if is_first { place.to_owned() } else { String::new() });
        counts.push(if *writes == 0 { String::new() } else { writes.to_string() });
        if has_both(memory) {
            places.push(String::new());
            counts.push(NANOSECONDS.to_owned());
        }
    }
    let mut table = vec![places, counts];
    for operation in operations(rows) {
        let cells = columns.iter().flat_map(|(memory, writes)| {
            let is_it = |row: &&&Row| row.operation == operation && row.memory == *memory && row.writes == *writes;
            let row = rows.iter().find(is_it).copied();
            let nanoseconds = || row.map_or(String::new(), |row| columns::nanoseconds(&row.cost));
            std::iter::once(cell(row)).chain(has_both(memory).then(nanoseconds))
        });
        table.push(std::iter::once(operation.clone()).chain(cells).collect());
    }
    aligned(&table)
}

fn cell(row: Option<&Row>) -> String {
    row.map_or(String::new(), |row| columns::cost(&row.cost))
}
