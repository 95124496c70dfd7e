//! JSON that people read: an item of the outer lists to a line, and what is too long for a line in several.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};

/// The greatest width of a line, but for single long words.
const WIDTH: usize = 120;
/// How deep each item has a line of its own.
const DEPTH: usize = 3;
/// The mark of a place where a line may be broken; JSON has no such character.
const BREAK: &str = "\0";

#[derive(Default)]
struct Lines {
    depth: usize,
    has_items: bool,
}

impl Lines {
    fn begin<W: ?Sized + Write>(&mut self, writer: &mut W, sign: &str) -> io::Result<()> {
        self.depth += 1;
        self.has_items = false;
        writer.write_all(sign.as_bytes())
    }

    fn item<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        writer.write_all(if first { b"" } else { b"," })?;
        match first {
            _ if self.depth <= DEPTH => write!(writer, "\n{}", " ".repeat(self.depth)),
            true => Ok(()),
            false => writer.write_all(BREAK.as_bytes()),
        }
    }

    fn end<W: ?Sized + Write>(&mut self, writer: &mut W, sign: &str) -> io::Result<()> {
        self.depth -= 1;
        if self.has_items && self.depth < DEPTH {
            write!(writer, "\n{}", " ".repeat(self.depth))?;
        }
        self.has_items = true;
        writer.write_all(sign.as_bytes())
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, "[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, "]")
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_items = true;
        Ok(())
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.begin(writer, "{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.end(writer, "}")
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, writer: &mut W, first: bool) -> io::Result<()> {
        self.item(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, _: &mut W) -> io::Result<()> {
        self.has_items = true;
        Ok(())
    }
}

/// The value as JSON.
///
/// # Errors
/// The value cannot be written.
pub(crate) fn lay_out(value: &impl Serialize) -> serde_json::Result<String> {
    let mut bytes = Vec::new();
    value.serialize(&mut Serializer::with_formatter(&mut bytes, Lines::default()))?;
    let mut text = String::new();
    for line in String::from_utf8_lossy(&bytes).lines() {
        let mut column = 0;
        for (number, word) in line.split(BREAK).enumerate() {
            let fits = column + word.len() < WIDTH;
            text.push_str(if number == 0 {
                ""
            } else if fits {
                " "
            } else {
                "\n    "
            });
            text.push_str(word);
            column = if fits { column + word.len() + 1 } else { word.len() + 4 };
        }
        text.push('\n');
    }
    Ok(text)
}
