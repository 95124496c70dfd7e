//! PTX: text becomes tokens, statements, and then the flat form.

pub mod barriers;
mod cursor;
mod debug;
mod decode;
mod elements;
mod expansion;
mod functions;
mod indexed;
mod inline;
mod lex;
mod matrices;
mod operand;
mod parse;
mod products;
mod statement;
mod variables;

use std::collections::HashMap;

use crate::Refused;
use crate::code::Module;

/// The result of reading a part of a text.
type Parsed<T> = Result<T, Refused>;

/// The newest text that a reader accepts: a driver understands one version of PTX, and its device has one compute
/// capability.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The greatest version of PTX, for instance `(8, 8)`.
    pub version: (u32, u32),
    /// The greatest compute capability, for instance 90.
    pub sm: u32,
}

impl Limits {
    /// No limit: everything that the reader supports.
    pub const NONE: Limits = Limits { version: (u32::MAX, u32::MAX), sm: u32::MAX };
}

/// Reads a module. `file` is its name in errors. `globals` holds the addresses of its `.global` variables; missing ones
/// are at 0.
///
/// # Errors
/// The text is refused.
pub fn read(file: &str, text: &str, limits: Limits, globals: &HashMap<String, u64>) -> Result<Module, Refused> {
    read_kernel(file, text, limits, globals, None)
}

/// The refusal, at its end, of a text that has to have something.
pub fn ends_without(file: &str, text: &str, what: &str) -> Refused {
    let last = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty()).last();
    Refused::new(last.map_or(1, |(line, _)| line), format!("the text ends without {what}")).within(file, text)
}

/// Reads a module as [`read`] does, but leaves out the kernels that are refused: they come with the reason.
///
/// # Errors
/// What is outside of kernels is refused.
pub fn read_each(
    file: &str,
    text: &str,
    limits: Limits,
    globals: &HashMap<String, u64>,
) -> Result<(Module, Vec<(String, Refused)>), Refused> {
    let mut others = Vec::new();
    let module = parse::parse(text).and_then(|parsed| {
        decode::decode(&parsed, limits, globals, None, &mut |name, refused| {
            others.push((name.to_owned(), of_source(&parsed, refused).within(file, text)));
            Ok(())
        })
    });
    Ok((module.map_err(|refused| refused.within(file, text))?, others))
}

/// Reads a module as [`read`] does, but only one kernel of it, so that what is refused in others does not matter. If
/// there is none of that name, all are read.
///
/// # Errors
/// The text is refused.
pub fn read_kernel(
    file: &str,
    text: &str,
    limits: Limits,
    globals: &HashMap<String, u64>,
    kernel: Option<&str>,
) -> Result<Module, Refused> {
    let module = parse::parse(text).and_then(|parsed| {
        let decoded = decode::decode(&parsed, limits, globals, kernel, &mut |_, refused| Err(refused));
        decoded.map_err(|refused| of_source(&parsed, refused))
    });
    module.map_err(|refused| refused.within(file, text))
}

/// The refusal with its place in the source that the text was compiled from, where that is known.
fn of_source(parsed: &statement::Text, refused: Refused) -> Refused {
    match debug::place(parsed, refused.line) {
        Some(place) => Refused { message: format!("{} (of {place})", refused.message), ..refused },
        None => refused,
    }
}
