//! Text for people: colours, columns, numbers, bars.

use std::env;
use std::time::Duration;

pub use wattle_check::checker::{thousands as count, wrap};

/// The width of reports, in columns.
pub const WIDTH: usize = 110;

/// A style of text: whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style(bool);

/// The meaning of a text, which decides its colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// The result is as it should be.
    Good,
    /// The result is not as it should be.
    Bad,
    /// The text deserves a look.
    Note,
    /// The text is less important.
    Faint,
    /// The text is a heading.
    Strong,
}

impl Style {
    /// The style without colours.
    pub const PLAIN: Style = Style(false);

    /// Colours on a terminal that has them, unless the user wants none (<https://no-color.org>).
    pub fn of(terminal: bool) -> Style {
        let set = |name| env::var_os(name).is_some_and(|value| !value.is_empty());
        Style(terminal && !set("NO_COLOR") && env::var_os("TERM").is_none_or(|term| term != "dumb"))
    }

    /// The text in a colour.
    pub fn paint(self, tone: Tone, text: &str) -> String {
        let code = match tone {
            _ if !self.0 => return text.to_owned(),
            Tone::Good => "32",
            Tone::Bad => "31;1",
            Tone::Note => "33",
            Tone::Faint => "2",
            Tone::Strong => "1",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }
}

/// The number of columns that a text takes.
pub fn columns(text: &str) -> usize {
    text.chars().count()
}

/// The text, filled up to `width` columns.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text:<width$}")
}

/// The lines of a text, each of at most `width` columns; what goes on is two columns further in.
pub fn fill(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    for line in text.lines() {
        let words = line.trim_start();
        let indent = " ".repeat(line.len() - words.len());
        let room = width.saturating_sub(indent.len() + 2);
        if columns(line) <= width {
            lines.push(line.to_owned());
        } else {
            let wrapped = wrap(words, room).into_iter().enumerate();
            lines
                .extend(wrapped.map(|(number, part)| format!("{indent}{}{part}", if number == 0 { "" } else { "  " })));
        }
    }
    lines
}

/// Columns as wide as their widest cell, two apart.
pub fn table(rows: &[Vec<String>]) -> Vec<String> {
    let wide = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| columns(cell)).max();
    let widths: Vec<usize> = (0..).map_while(wide).collect();
    let line = |row: &Vec<String>| {
        let cells: Vec<_> = row.iter().zip(&widths).map(|(cell, &width)| pad(cell, width)).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// A number and what it counts: `1 block`, `2 blocks`.
pub fn plural(number: u64, what: &str) -> String {
    format!("{} {what}{}", count(number), if number == 1 { "" } else { "s" })
}

/// A duration in three figures: `1.23 ms`.
pub fn duration(duration: Duration) -> String {
    let seconds = duration.as_secs_f64();
    for (unit, scale) in [("s", 1.0), ("ms", 1e3), ("µs", 1e6)] {
        let value = seconds * scale;
        // What rounds to 1000 of a unit is 1 of the next.
        if value >= 0.9995 {
            let digits = if value >= 99.95 { 0 } else { usize::from(value < 9.995) + 1 };
            return format!("{value:.digits$} {unit}");
        }
    }
    format!("{} ns", duration.as_nanos())
}

/// Bytes in the largest unit that fits: `15.6 GiB`.
pub fn bytes(bytes: u64) -> String {
    let units = ["KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = "bytes";
    for next in units {
        if value < 1024.0 {
            break;
        }
        (value, unit) = (value / 1024.0, next);
    }
    if value.fract() == 0.0 { format!("{value} {unit}") } else { format!("{value:.1} {unit}") }
}

/// A bar for a part of a whole, in eighths of a column; a part that is not zero is always seen.
pub fn bar(part: u64, whole: u64, width: usize) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let eighths = ((part as f64 / whole as f64) * (width * 8) as f64).round().max(1.0) as usize;
    let rest = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'][eighths % 8];
    "█".repeat(eighths / 8) + rest.to_string().trim_end()
}

/// The first line of a text, without the colon at its end.
pub fn headline(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_end().trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers() {
        assert_eq!([0, 999, 1000, 16_777_216].map(count), ["0", "999", "1,000", "16,777,216"]);
        assert_eq!([1, 2].map(|number| plural(number, "run")), ["1 run", "2 runs"]);
        assert_eq!([0, 1023, 1024, 1536, 49_152].map(bytes), ["0 bytes", "1023 bytes", "1 KiB", "1.5 KiB", "48 KiB"]);
    }

    #[test]
    fn durations() {
        let text = |nanos| duration(Duration::from_nanos(nanos));
        assert_eq!(text(0), "0 ns");
        assert_eq!(text(999), "999 ns");
        assert_eq!(text(1_234), "1.23 µs");
        assert_eq!(text(12_340), "12.3 µs");
        assert_eq!(text(123_400), "123 µs");
        assert_eq!(text(999_999), "1.00 ms");
        assert_eq!(text(9_999_999), "10.0 ms");
        assert_eq!(text(61_000_000_000), "61.0 s");
    }

    #[test]
    fn lines() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a very-long-word b", 4), ["a", "very-long-word", "b"]);
        assert_eq!(wrap("", 10), [""]);
        assert_eq!(fill("one\n  two three four", 12), ["one", "  two", "    three", "    four"]);
        assert_eq!(headline("data race on `x`:\n more"), "data race on `x`");
    }

    #[test]
    fn bars() {
        assert_eq!(bar(0, 10, 10), "");
        assert_eq!(bar(1, 1_000_000, 10), "▏");
        assert_eq!(bar(10, 10, 3), "███");
        assert_eq!(bar(1, 2, 3), "█▌");
    }

    #[test]
    fn tables() {
        let rows = [vec!["a".to_owned(), "b".to_owned()], vec!["long".to_owned(), "c".to_owned(), "d".to_owned()]];
        assert_eq!(table(&rows), ["a     b", "long  c  d"]);
    }
}
