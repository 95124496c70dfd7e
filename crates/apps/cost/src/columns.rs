//! Tables in lines of text: their numbers, and the width of their columns.

use crate::report::{Cost, Row};

/// The cell of a figure that is below the resolution.
pub const BELOW: &str = "-";

/// The sign of a figure whose rounds do not agree.
const UNSTEADY: &str = "~";

/// Formats what an operation costs: its median, with a sign where its rounds do not agree.
pub fn cost(cost: &Cost) -> String {
    let sign = if cost.is_steady() { "" } else { UNSTEADY };
    cost.median().map_or(BELOW.to_owned(), |median| format!("{sign}{}", number(median)))
}

/// Formats what an operation costs in nanoseconds, where that is not the unit of the other figures.
pub fn nanoseconds(cost: &Cost) -> String {
    cost.nanoseconds.map_or(BELOW.to_owned(), |figure| number(figure.median))
}

/// The line that explains the sign of figures whose rounds do not agree, where there is one.
pub fn unsteady<'r>(rows: impl IntoIterator<Item = &'r Row>) -> Option<String> {
    let is_there = rows.into_iter().any(|row| !row.cost.is_steady());
    is_there
        .then(|| format!("{UNSTEADY}: one of the rounds differs from the median by more than 15 %; `--json` has each"))
}

/// Formats a number with two digits that mean something, and with one decimal unless it is below 0.95.
pub fn number(value: f64) -> String {
    match value.abs() {
        value if value < 0.95 => format!("{value:.2}"),
        below if below < 99.5 => format!("{value:.1}"),
        _ => format!("{value:.0}"),
    }
}

/// Formats a table as lines, with the first column to the left and the others to the right.
pub fn aligned(table: &[Vec<String>]) -> Vec<String> {
    let columns = table.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| {
        table.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..columns).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.map(|(number, (cell, width))| match number {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    table.iter().map(line).collect()
}
