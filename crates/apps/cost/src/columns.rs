//! Tables in lines of text: their numbers, and the width of their columns.

/// The cell of a figure that is below the resolution.
pub const BELOW: &str = "-";

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
