//! A story as text.

use std::fmt;

use crate::wrap::{hanging, indented};

use super::{Column, Edge, EdgeKind, End, Part, Step, Story};

/// The kind of a piece of text, for colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Role {
    /// A thread's name.
    Heading,
    /// A line number or a file name.
    Line,
    /// A source line.
    Source,
    /// A source line that is too weak, and so the cause.
    Cause,
    /// A source line that is wrong.
    Wrong,
    /// A value that is read or written.
    Value,
    /// An arrow.
    Arrow,
    /// The sentence that says what is wrong.
    Headline,
    /// A reason.
    Reason,
    /// A quotation from a specification.
    Clause,
    /// Something that holds.
    Good,
    /// Something that needs attention.
    Note,
}

/// A line of text in pieces, each with its role.
pub(crate) type Line = Vec<(Role, String)>;

/// The gap between threads' columns; an arrow fits in it.
const GAP: usize = 13;
/// The minimum width of a column; if columns would be narrower, there are none.
const NARROWEST: usize = 26;
const NUMBER: usize = 4;

impl Story {
    /// The story as text, `width` characters wide; `style` colours its pieces.
    pub fn render(&self, width: usize, style: &dyn Fn(Role, &str) -> String) -> String {
        let width = width.max(40);
        let mut lines: Vec<Line> = Vec::new();
        if !self.columns.is_empty() {
            lines.extend(self.files.iter().map(|file| vec![(Role::Line, format!("--> {file}"))]));
            lines.push(Line::new());
            let fits = (width - 2 + GAP) / self.columns.len().max(1) >= NARROWEST + GAP;
            lines.extend(if fits { self.side_by_side(width - 2) } else { self.in_turn(width - 2) });
            if !self.left_out.is_empty() {
                lines.push(Line::new());
                lines.extend(wrapped(Role::Line, &self.left_out, width - 2, 0));
            }
            lines.push(Line::new());
        }
        lines.extend(wrapped(Role::Headline, &self.headline, width - 2, 0));
        lines.extend(self.reasons.iter().flat_map(|reason| wrapped(Role::Reason, reason, width - 2, 0)));
        lines.extend(self.clauses.iter().flat_map(|clause| wrapped(Role::Clause, &clause.to_string(), width - 2, 2)));
        let mut text = String::new();
        for line in lines {
            let shown = line
                .iter()
                .map(|(role, piece)| if piece.trim().is_empty() { piece.clone() } else { style(*role, piece) });
            let line: String = shown.collect();
            if !line.trim().is_empty() {
                text.push_str("  ");
                text.push_str(line.trim_end());
            }
            text.push('\n');
        }
        text
    }

    /// Lays the threads out side by side.
    fn side_by_side(&self, width: usize) -> Vec<Line> {
        let widths = self.widths(width);
        let mut lines =
            vec![self.columns.iter().zip(&widths).enumerate().fold(Line::new(), |mut line, (at, (column, &width))| {
                push(
                    &mut line,
                    Role::Heading,
                    &column.name,
                    if at + 1 == self.columns.len() { 0 } else { width + GAP },
                );
                line
            })];
        let rows = self.columns.iter().flat_map(|column| &column.steps).map(|step| step.row + 1).max().unwrap_or(0);
        for row in 0..rows {
            let mut cells: Vec<Vec<Line>> =
                (0..self.columns.len()).map(|column| self.cell(column, row, widths[column])).collect();
            // Omissions before one of the steps are noted above all of them, so that the steps stay side by side.
            let skips: Vec<bool> = self.columns.iter().map(|column| skips(column, row)).collect();
            let first = usize::from(skips.contains(&true));
            for (cell, _) in cells.iter_mut().zip(&skips).filter(|(_, skips)| first > 0 && !**skips) {
                cell.insert(0, Line::new());
            }
            let arrows: Vec<&str> = (0..self.columns.len()).map(|column| self.arrow(column, row)).collect();
            for height in 0..cells.iter().map(Vec::len).max().unwrap_or(0) {
                let mut line = Line::new();
                for (column, cell) in cells.iter().enumerate() {
                    let last = column + 1 == cells.len();
                    let here = cell.get(height).cloned().unwrap_or_default();
                    let used = length(&here);
                    line.extend(here);
                    if !last {
                        push(&mut line, Role::Source, "", widths[column].saturating_sub(used));
                        push(&mut line, Role::Arrow, if height == first { arrows[column] } else { "" }, GAP);
                    }
                }
                lines.push(line);
            }
        }
        lines
    }

    /// Lays the steps out one per line, each with its thread.
    fn in_turn(&self, width: usize) -> Vec<Line> {
        let mut steps: Vec<(usize, &Step)> = Vec::new();
        for (number, column) in self.columns.iter().enumerate() {
            steps.extend(column.steps.iter().map(|step| (number, step)));
        }
        steps.sort_by_key(|&(number, step)| (step.row, number));
        let name = self.columns.iter().map(|column| column.name.chars().count()).max().unwrap_or(0) + 2;
        let mut lines = Vec::new();
        for (number, step) in steps {
            for (height, mut cell) in self.step(step, width.saturating_sub(name), &|_| true).into_iter().enumerate() {
                let mut line = Line::new();
                push(&mut line, Role::Heading, if height == 0 { &self.columns[number].name } else { "" }, name);
                line.append(&mut cell);
                lines.push(line);
            }
        }
        lines
    }

    /// The widths of the columns: source lines take precedence over the notes beside them; space left over is not used.
    fn widths(&self, width: usize) -> Vec<usize> {
        let need = |says: bool| -> Vec<usize> {
            let cell =
                |column: usize, step: &Step| if says { self.cell(column, step.row, usize::MAX) } else { bare(step) };
            let of = |column: usize| {
                let cells = self.columns[column].steps.iter().flat_map(|step| cell(column, step));
                cells.map(|line| length(&line)).chain([self.columns[column].name.chars().count()]).max().unwrap_or(0)
            };
            (0..self.columns.len()).map(of).collect()
        };
        let (least, most) = (need(false), need(true));
        let room = width.saturating_sub(GAP * (least.len().max(1) - 1));
        let mut widths = shared(&least, room);
        let mut left = room.saturating_sub(widths.iter().sum());
        let missing: Vec<usize> = most.iter().zip(&widths).map(|(most, width)| most.saturating_sub(*width)).collect();
        let mut order: Vec<usize> = (0..missing.len()).collect();
        order.sort_by_key(|&column| (missing[column], std::cmp::Reverse(column)));
        for column in order {
            let more = missing[column].min(left);
            widths[column] += more;
            left -= more;
        }
        widths
    }

    fn cell(&self, column: usize, row: usize, width: usize) -> Vec<Line> {
        let found = self.columns[column].steps.iter().enumerate().find(|(_, step)| step.row == row);
        let Some((number, step)) = found else { return Vec::new() };
        let arrives = |edge: &Edge| edge.to == End::Step(column, number) && self.is_drawn(edge);
        let says_from = !self.edges.iter().any(arrives);
        self.step(step, width, &|_| says_from)
    }

    /// The lines of a step.
    fn step(&self, step: &Step, width: usize, says_from: &dyn Fn(&Step) -> bool) -> Vec<Line> {
        let role = match step.part {
            Part::Other => Role::Source,
            Part::Cause => Role::Cause,
            Part::Wrong => Role::Wrong,
        };
        let mut lines = Vec::new();
        if step.skipped > 0 {
            let skipped = format!("⋮ {} {}", step.skipped, if step.skipped == 1 { "step" } else { "steps" });
            lines.push(vec![(Role::Line, format!("{:>NUMBER$}  {skipped}", ""))]);
        }
        let number = step.line.map_or_else(String::new, |line| line.to_string());
        let mut text = hanging(&step.text, width.saturating_sub(NUMBER));
        let last = text.pop().unwrap_or_default();
        let first = |at: usize| if at == 0 { number.clone() } else { String::new() };
        for (at, text) in text.iter().enumerate() {
            lines.push(vec![(Role::Line, format!("{:<NUMBER$}", first(at))), (role, text.clone())]);
        }
        let mut line = vec![(Role::Line, format!("{:<NUMBER$}", first(text.len()))), (role, last)];
        let notes = step.says(says_from(step));
        if notes.is_empty() {
            lines.push(line);
        } else if length(&line) + 2 + notes.chars().count() <= width {
            line.push((Role::Value, format!("  {notes}")));
            lines.push(line);
        } else {
            lines.push(line);
            lines.extend(wrapped(Role::Value, &notes, width, NUMBER + 2));
        }
        lines
    }

    /// Whether an edge is an arrow between neighbours in one row.
    fn is_drawn(&self, edge: &Edge) -> bool {
        let (End::Step(a, first), End::Step(b, second)) = (edge.from, edge.to) else { return false };
        let row = |column: usize, step: usize| self.columns[column].steps[step].row;
        matches!(edge.kind, EdgeKind::ReadsFrom | EdgeKind::Observes)
            && a.abs_diff(b) == 1
            && row(a, first) == row(b, second)
    }

    /// The arrow from a column's step in this row to the next column's, or back.
    fn arrow(&self, column: usize, row: usize) -> &'static str {
        let at = |end: End, column: usize| match end {
            End::Step(of, step) => of == column && self.columns[of].steps[step].row == row,
            End::Initial(_) => false,
        };
        let drawn = |from: usize, to: usize| {
            let found = self.edges.iter().find(|edge| self.is_drawn(edge) && at(edge.from, from) && at(edge.to, to));
            found.map(|edge| edge.kind)
        };
        match (drawn(column, column + 1), drawn(column + 1, column)) {
            (Some(EdgeKind::Observes), _) => "  ─rf…rf─▶",
            (Some(_), _) => "  ───rf──▶",
            (_, Some(EdgeKind::Observes)) => "  ◀─rf…rf─",
            (_, Some(_)) => "  ◀──rf───",
            _ => "",
        }
    }
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(110, &|_, piece| piece.to_owned()))
    }
}

impl Step {
    /// The values read and written, in words, as far as the line does not show them.
    pub(super) fn says(&self, says_from: bool) -> String {
        let several = self.accesses.len() > 1;
        let from = |from: &Option<String>| {
            from.as_ref().filter(|_| says_from).map(|from| format!(", {from}")).unwrap_or_default()
        };
        let mut says = Vec::new();
        for access in &self.accesses {
            let place = if several { format!("{} = ", access.place) } else { String::new() };
            says.push(match (&access.reads, &access.writes) {
                (Some(old), Some(new)) if several => format!("{}: {old} → {new}{}", access.place, from(&access.from)),
                (Some(old), Some(new)) => format!("{old} → {new}{}", from(&access.from)),
                (Some(value), None) => format!("reads {place}{value}{}", from(&access.from)),
                (None, Some(value)) if several || !self.text.contains(value.as_str()) => {
                    format!("writes {place}{value}")
                }
                _ => continue,
            });
        }
        says.extend(self.notes.iter().cloned());
        says.join("; ")
    }
}

/// Whether steps are omitted before a column's step in this row.
fn skips(column: &Column, row: usize) -> bool {
    column.steps.iter().any(|step| step.row == row && step.skipped > 0)
}

/// The lines of a step without the values read and written.
fn bare(step: &Step) -> Vec<Line> {
    vec![vec![(Role::Source, format!("{:NUMBER$}{}", "", step.text))]]
}

/// Shares the room so that columns with small needs get all that they need.
fn shared(need: &[usize], mut room: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..need.len()).collect();
    order.sort_by_key(|&column| need[column]);
    let mut widths = need.to_vec();
    for (done, &column) in order.iter().enumerate() {
        widths[column] = need[column].min(room / (order.len() - done));
        room -= widths[column];
    }
    widths
}

fn push(line: &mut Line, role: Role, text: &str, width: usize) {
    line.push((role, text.to_owned()));
    let padding = width.saturating_sub(text.chars().count());
    if padding > 0 {
        line.push((Role::Source, " ".repeat(padding)));
    }
}

fn length(line: &Line) -> usize {
    line.iter().map(|(_, piece)| piece.chars().count()).sum()
}

/// Breaks a text into lines at words.
pub(crate) fn wrapped(role: Role, text: &str, width: usize, indent: usize) -> Vec<Line> {
    // No text is no line.
    let lines = if text.is_empty() { Vec::new() } else { indented(text, width, indent) };
    lines.into_iter().map(|line| vec![(role, line)]).collect()
}
