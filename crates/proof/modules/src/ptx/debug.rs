//! Debugging directives (PTX ISA 8.8, 11.5), as `nvcc -lineinfo` writes them: which source an instruction comes from.

use std::collections::HashMap;
use std::sync::Arc;

use super::Parsed;
use super::cursor::Parser;
use super::lex::Token;
use super::statement::{Instruction, Loc, Position, Statement, Text, Variable};
use crate::Refused;
use crate::code::Source;

impl Parser<'_> {
    /// Reads what follows `.file`: a number, a name, and perhaps a time and a size (11.5.4).
    pub(super) fn file(&mut self, files: &mut HashMap<u32, String>) -> Parsed<()> {
        let number = self.count()?;
        match self.next()? {
            Token::Text(name) => files.insert(number, name),
            other => return self.fail(format!("expected the name of a file, found `{other}`")),
        };
        while self.sign(',') {
            self.next()?;
        }
        Ok(())
    }

    /// Reads what follows `.loc`: a position, and perhaps the function that was inlined there (11.5.5).
    pub(super) fn loc(&mut self, line: u32) -> Parsed<Loc> {
        let place = self.position()?;
        let mut inlined_at = None;
        while self.sign(',') {
            if self.is_word("function_name") {
                // A label in a section of names, with an offset.
                self.word()?;
                if self.sign('+') {
                    self.count()?;
                }
            } else if self.is_word("inlined_at") {
                inlined_at = Some(self.position()?);
            } else {
                return self.fail(format!("expected function_name or inlined_at, found {}", self.found()));
            }
        }
        Ok(Loc { place, inlined_at, line })
    }

    fn position(&mut self) -> Parsed<Position> {
        Ok(Position { file: self.count()?, line: self.count()?, column: self.count()? })
    }

    /// Passes over what follows `.section`: a name and, between braces, data for a debugger (11.5.3).
    pub(super) fn section(&mut self) -> Parsed<()> {
        self.word()?;
        self.must('{')?;
        while !self.sign('}') {
            self.next()?;
        }
        Ok(())
    }
}

/// The place in the source of a line of a text, in the file of the kernel's author; `None` where no `.loc` names one.
pub(super) fn place(text: &Text, line: u32) -> Option<String> {
    let entries = text.entries.iter().map(|entry| entry.body.as_slice());
    let bodies = entries.chain(text.functions.iter().filter_map(|function| function.body.as_deref()));
    let mut around: Option<Vec<&Loc>> = None;
    for body in bodies {
        let mut locs = Vec::new();
        let is_here = locations(body, line, &mut locs);
        around = if is_here { Some(locs) } else { around };
    }
    let mut places = Places::of(&text.files);
    let mut last = None;
    for loc in around?.into_iter().filter(|loc| loc.line <= line) {
        last = places.source(loc).ok();
    }
    let source = last?;
    let Source { file, line, column, .. } = source.in_own_file();
    (*line > 0).then(|| if *column > 0 { format!("{file}:{line}:{column}") } else { format!("{file}:{line}") })
}

/// Collects the `.loc` directives of a body; returns whether an instruction or a declaration stands on a line.
fn locations<'t>(body: &'t [Statement], line: u32, locs: &mut Vec<&'t Loc>) -> bool {
    let mut is_here = false;
    for statement in body {
        match statement {
            Statement::Loc(loc) => locs.push(loc),
            Statement::Scope(within) => is_here |= locations(within, line, locs),
            Statement::Register { line: own, .. }
            | Statement::Targets { line: own, .. }
            | Statement::Label(_, own)
            | Statement::Variable(Variable { line: own, .. })
            | Statement::Instruction(Instruction { line: own, .. }) => is_here |= *own == line,
        }
    }
    is_here
}

/// The most calls that one place stands in.
const MOST_CALLS: usize = 64;

/// The places that a kernel's `.loc` directives name.
pub(super) struct Places {
    files: HashMap<u32, Arc<str>>,
    /// The call in whose place each position stood when it was named last: a function that is inlined into one that is
    /// inlined itself has a `.loc` of that one in front of its own (11.5.5).
    calls: HashMap<Position, Option<Arc<Source>>>,
}

impl Places {
    pub(super) fn of(files: &HashMap<u32, String>) -> Places {
        let files = files.iter().map(|(number, name)| (*number, name.as_str().into())).collect();
        Places { files, calls: HashMap::new() }
    }

    /// The source that a `.loc` names.
    pub(super) fn source(&mut self, loc: &Loc) -> Parsed<Source> {
        let files = &self.files;
        let of = |at: Position, inlined_at| match files.get(&at.file) {
            Some(file) => Ok(Source { file: file.clone(), line: at.line, column: at.column, inlined_at }),
            None => Err(Refused::new(loc.line, format!("no .file has the number {}", at.file))),
        };
        let outer = |call: Position| {
            let outer = self.calls.get(&call).cloned().flatten();
            outer.filter(|outer| std::iter::successors(Some(outer), |at| at.inlined_at.as_ref()).count() < MOST_CALLS)
        };
        let call = loc.inlined_at.map(|call| of(call, outer(call)).map(Arc::new)).transpose()?;
        self.calls.insert(loc.place, call.clone());
        of(loc.place, call)
    }
}
