//! Parses a litmus file.
//!
//! This module reads the shape of a file: header, description, initial values, placements, rows of instructions,
//! statements about the end. `barrier` checks that barriers are consistent, `instruction` parses the common part of the
//! dialects, `ptx` and `vulkan` their mnemonics, `condition` the statements.

mod barrier;
mod condition;
mod initial;
mod instruction;
mod ptx;
mod vulkan;

use std::collections::HashMap;

use wattle_memory::{Level, Placement, ThreadId};

use crate::error::{ParseError, Place, Problem, Wrong};
use crate::ids::ReferenceId;
use crate::lex::{Lexer, Token};
use crate::program::{Dialect, Instruction, JumpTarget, Origin, Program, Reference, Register, Thread};
use crate::words::{DIALECTS, PTX_SCOPES, VULKAN_SCOPES};

/// Reads a litmus file. `file` is its name in errors.
///
/// # Errors
/// The first place that cannot be read, with what was found and what was expected there.
pub fn parse(file: &str, text: &str) -> Result<Program, ParseError> {
    read(file, text).map_err(|(place, problem)| ParseError { file: file.to_owned(), place, problem })
}

fn read(file: &str, text: &str) -> Result<Program, Wrong> {
    let mut lexer = Lexer::new(text);
    let (dialect, name) = header(&mut lexer)?;
    let description = description(&mut lexer)?;
    let mut parser = Parser::new(lexer, dialect)?;
    parser.initial_block()?;
    let system = parser.system_block()?;
    parser.placements()?;
    while !parser.at_statement() {
        parser.row()?;
    }
    let system = parser.system_pairs(system)?;
    parser.resolve_names()?;
    let (filter, claim) = parser.statements()?;
    let (threads, places) = parser.threads()?;
    barrier::check(&threads, &places)?;
    Ok(Program {
        dialect,
        name,
        description,
        locations: parser.locations,
        references: parser.references,
        system,
        threads,
        filter,
        claim,
        origin: Origin { file: file.to_owned(), places },
    })
}

/// Reads the dialect and the name from the first non-empty line.
fn header(lexer: &mut Lexer<'_>) -> Result<(Dialect, String), Wrong> {
    lexer.skip_blanks()?;
    let place = lexer.place();
    let line = lexer.title().trim();
    let (word, name) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let Some(dialect) = DIALECTS.meaning(&word.to_ascii_uppercase()) else {
        let found = if word.is_empty() { "nothing".to_owned() } else { format!("`{word}`") };
        return Err((place, Problem::unexpected(found, "`PTX` or `VULKAN` and a name")));
    };
    Ok((dialect, name.trim().to_owned()))
}

/// Reads the descriptions, quoted or a line each, up to the block of initial values.
fn description(lexer: &mut Lexer<'_>) -> Result<Vec<String>, Wrong> {
    let mut texts = Vec::new();
    loop {
        lexer.skip_blanks()?;
        if let Some(text) = lexer.quoted()? {
            texts.push(text.to_owned());
        } else if lexer.rest().starts_with('{') {
            return Ok(texts);
        } else if lexer.rest().is_empty() {
            let problem = Problem::unexpected("the end of the file", "`{` and the initial values");
            return Err((lexer.place(), problem));
        } else {
            texts.push(lexer.line().trim_end().replace('"', "'"));
        }
    }
}

/// The state of a thread while its column is read.
struct Column {
    placement: Placement,
    registers: Vec<Register>,
    code: Vec<Instruction>,
    places: Vec<Place>,
    labels: Vec<(JumpTarget, Place)>,
    /// The labels that jumps name; instructions have the number of their jump until the column is complete.
    jumps: Vec<(String, Place)>,
}

impl Column {
    /// The number of the register of that name, which is added if necessary.
    fn register(&mut self, name: &str) -> usize {
        self.registers.iter().position(|register| register.name == name).unwrap_or_else(|| {
            self.registers.push(Register { name: name.to_owned(), initial: 0 });
            self.registers.len() - 1
        })
    }

    fn finish(mut self) -> Result<(Thread, Vec<Place>), Wrong> {
        let mut targets = Vec::new();
        for (name, place) in &self.jumps {
            let Some(target) = self.labels.iter().position(|(label, _)| label.name == *name) else {
                let labels: Vec<String> = self.labels.iter().map(|(label, _)| format!("`{}`", label.name)).collect();
                let expected = if labels.is_empty() {
                    "a label of this thread, which has none".to_owned()
                } else {
                    format!("a label of this thread: {}", labels.join(", "))
                };
                return Err((*place, Problem::unexpected(format!("`{name}`"), expected)));
            };
            targets.push(target);
        }
        for instruction in &mut self.code {
            if let Some(to) = instruction.jump_mut() {
                *to = targets[*to];
            }
        }
        let labels = self.labels.into_iter().map(|(label, _)| label).collect();
        let thread = Thread { placement: self.placement, registers: self.registers, code: self.code, labels };
        Ok((thread, self.places))
    }
}

/// The meaning of a memory name, as far as the file has defined it.
struct Name {
    name: String,
    alias: Option<(String, Place)>,
    initial: u64,
}

struct Parser<'t> {
    lexer: Lexer<'t>,
    dialect: Dialect,
    token: Token,
    place: Place,
    names: Vec<Name>,
    by_name: HashMap<String, ReferenceId>,
    /// Initial values of registers, by the number of the thread.
    initial_registers: Vec<(u32, String, u64, Place)>,
    columns: Vec<Column>,
    /// The resolved names, once all of them are known.
    references: Vec<Reference>,
    locations: Vec<u64>,
    /// The number of open parentheses and negations of a condition.
    depth: u32,
}

impl<'t> Parser<'t> {
    fn new(lexer: Lexer<'t>, dialect: Dialect) -> Result<Parser<'t>, Wrong> {
        let mut parser = Parser {
            lexer,
            dialect,
            token: Token::End,
            place: Place::default(),
            names: Vec::new(),
            by_name: HashMap::new(),
            initial_registers: Vec::new(),
            columns: Vec::new(),
            references: Vec::new(),
            locations: Vec::new(),
            depth: 0,
        };
        parser.advance()?;
        Ok(parser)
    }

    /// Replaces the current token by the next of the text, and returns the old one.
    fn advance(&mut self) -> Result<Token, Wrong> {
        let (token, place) = self.lexer.token()?;
        self.place = place;
        Ok(std::mem::replace(&mut self.token, token))
    }

    /// Fails because the next token is not an expected one.
    fn unexpected<T>(&self, expected: impl Into<String>) -> Result<T, Wrong> {
        Err((self.place, Problem::unexpected(self.token.to_string(), expected)))
    }

    fn at(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(here) if here == symbol)
    }

    fn at_word(&self, word: &str) -> bool {
        matches!(&self.token, Token::Word(here) if here == word)
    }

    /// Takes a symbol if it is next.
    fn eat(&mut self, symbol: &str) -> Result<bool, Wrong> {
        let here = self.at(symbol);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn eat_word(&mut self, word: &str) -> Result<bool, Wrong> {
        let here = self.at_word(word);
        if here {
            self.advance()?;
        }
        Ok(here)
    }

    fn expect(&mut self, symbol: &str, expected: &str) -> Result<(), Wrong> {
        if self.eat(symbol)? { Ok(()) } else { self.unexpected(expected) }
    }

    fn word(&mut self, expected: &str) -> Result<(String, Place), Wrong> {
        let place = self.place;
        match &self.token {
            Token::Word(_) => match self.advance()? {
                Token::Word(word) => Ok((word, place)),
                _ => self.unexpected(expected),
            },
            _ => self.unexpected(expected),
        }
    }

    fn number(&mut self, expected: &str) -> Result<u64, Wrong> {
        match self.token {
            Token::Number(number) => {
                self.advance()?;
                Ok(number)
            }
            _ => self.unexpected(expected),
        }
    }

    fn small_number(&mut self, expected: &str) -> Result<u32, Wrong> {
        match self.token {
            Token::Number(number) if u32::try_from(number).is_ok() => {
                self.advance()?;
                Ok(number as u32)
            }
            _ => self.unexpected(expected),
        }
    }

    /// The number in `P0` or a bare `0`.
    fn thread_number(&mut self, expected: &str) -> Result<u32, Wrong> {
        if let Token::Word(word) = &self.token {
            let Some(number) = thread_name(word) else { return self.unexpected(expected) };
            self.advance()?;
            return Ok(number);
        }
        self.small_number(expected)
    }

    /// The column of the thread with that number.
    fn column_of(&self, number: u32) -> Option<ThreadId> {
        self.columns.iter().position(|column| column.placement.thread == number)
    }

    /// The number of a memory name; one that the file has not declared has the initial value 0.
    fn reference(&mut self, name: &str) -> ReferenceId {
        if let Some(&known) = self.by_name.get(name) {
            return known;
        }
        self.by_name.insert(name.to_owned(), self.names.len());
        self.names.push(Name { name: name.to_owned(), alias: None, initial: 0 });
        self.names.len() - 1
    }

    /// Reads the line of placements, `P0@cta 0,gpu 0 | P1@... ;`.
    fn placements(&mut self) -> Result<(), Wrong> {
        loop {
            let place = self.place;
            let number = self.thread_number("a thread and where it is, as in `P0@cta 0,gpu 0`")?;
            if self.column_of(number).is_some() {
                let problem = Problem::unexpected(format!("`P{number}` again"), "a thread that has no column yet");
                return Err((place, problem));
            }
            self.expect("@", "`@` and where the thread is")?;
            let placement = self.placement(number)?;
            let mut column = Column {
                placement,
                registers: Vec::new(),
                code: Vec::new(),
                places: Vec::new(),
                labels: Vec::new(),
                jumps: Vec::new(),
            };
            for (_, name, value, _) in self.initial_registers.iter().filter(|(thread, ..)| *thread == number) {
                let register = column.register(name);
                column.registers[register].initial = *value;
            }
            self.columns.push(column);
            if self.eat(";")? {
                break;
            }
            self.expect("|", "`|` and the next thread, or `;`")?;
        }
        for (number, _, _, place) in &self.initial_registers {
            if self.column_of(*number).is_none() {
                let found = format!("a register of `P{number}`");
                return Err((*place, Problem::unexpected(found, "a register of a thread that has a column")));
            }
        }
        Ok(())
    }

    fn placement(&mut self, thread: u32) -> Result<Placement, Wrong> {
        let levels: Vec<&str> = match self.dialect {
            Dialect::Ptx => PTX_SCOPES.up_to(Level::Device).collect(),
            Dialect::Vulkan => VULKAN_SCOPES.up_to(Level::QueueFamily).collect(),
        };
        let mut groups = vec![None; levels.len()];
        loop {
            let missing: Vec<String> = levels
                .iter()
                .zip(&groups)
                .filter(|(_, group)| group.is_none())
                .map(|(name, _)| format!("`{name}`"))
                .collect();
            let expected = format!("{} and its number", missing.join(" or "));
            let here = match &self.token {
                Token::Word(word) => levels.iter().position(|level| level == word),
                _ => None,
            };
            let Some(level) = here.filter(|&level| groups[level].is_none()) else { return self.unexpected(expected) };
            self.advance()?;
            groups[level] = Some(self.small_number("a number")?);
            if groups.iter().all(Option::is_some) {
                break;
            }
            self.eat(",")?;
        }
        let group = |level: usize| groups[level].unwrap_or(0);
        Ok(match self.dialect {
            Dialect::Ptx => Placement { device: group(1), block: group(0), ..Placement::new(0, thread) },
            Dialect::Vulkan => {
                Placement { queue_family: group(2), block: group(1), subgroup: group(0), ..Placement::new(0, thread) }
            }
        })
    }

    /// Reads one row of instructions, one for each thread; omitted ones at the end are empty.
    fn row(&mut self) -> Result<(), Wrong> {
        let mut thread = 0;
        loop {
            if !self.at("|") && !self.at(";") {
                self.cell(thread)?;
            }
            if self.eat(";")? {
                return Ok(());
            }
            if !self.at("|") {
                return self.unexpected("`|` and the next thread's instruction, or `;`");
            }
            thread += 1;
            if thread == self.columns.len() {
                return self.unexpected(format!("`;`, as there are {thread} threads"));
            }
            self.advance()?;
        }
    }

    /// Reads a label, an instruction, or a label and an instruction.
    fn cell(&mut self, thread: ThreadId) -> Result<(), Wrong> {
        while let Token::Word(_) = self.token {
            let (word, place) = self.word("an instruction or a label")?;
            if !self.eat(":")? {
                let instruction = self.instruction(thread, &word, place)?;
                self.columns[thread].code.push(instruction);
                self.columns[thread].places.push(place);
                return Ok(());
            }
            let column = &mut self.columns[thread];
            if column.labels.iter().any(|(label, _)| label.name == word) {
                let problem =
                    Problem::unexpected(format!("`{word}:` again"), "a label that this thread does not have yet");
                return Err((place, problem));
            }
            column.labels.push((JumpTarget { name: word, at: column.code.len() }, place));
        }
        if self.at("|") || self.at(";") { Ok(()) } else { self.unexpected("an instruction, a label, `|` or `;`") }
    }

    /// The threads, once all labels are known.
    fn threads(&mut self) -> Result<(Vec<Thread>, Vec<Vec<Place>>), Wrong> {
        let (mut threads, mut places) = (Vec::new(), Vec::new());
        for column in std::mem::take(&mut self.columns) {
            let (thread, its_places) = column.finish()?;
            threads.push(thread);
            places.push(its_places);
        }
        Ok((threads, places))
    }

    /// Resolves each name. Locations are numbered in the order in which they are first named.
    fn resolve_names(&mut self) -> Result<(), Wrong> {
        let aliased: Vec<String> =
            self.names.iter().filter_map(|name| name.alias.as_ref().map(|(other, _)| other.clone())).collect();
        for name in aliased {
            self.reference(&name);
        }
        let mut location_of = vec![None; self.names.len()];
        for reference in 0..self.names.len() {
            let mut root = reference;
            // A chain of aliases is no longer than the number of names, unless it is a cycle.
            for _ in 0..self.names.len() {
                let Some((next, _)) = &self.names[root].alias else { break };
                root = self.by_name.get(next).copied().unwrap_or(root);
            }
            if let Some((other, place)) = &self.names[root].alias {
                let problem = Problem::unexpected(format!("`{other}`"), "a name that is not an alias of itself");
                return Err((*place, problem));
            }
            let location = *location_of[root].get_or_insert_with(|| {
                self.locations.push(self.names[root].initial);
                self.locations.len() - 1
            });
            self.references.push(Reference { name: self.names[reference].name.clone(), location });
        }
        Ok(())
    }
}

/// The number of the thread that `P0` names.
fn thread_name(word: &str) -> Option<u32> {
    word.strip_prefix(['P', 'p']).filter(|digits| digits.starts_with(|c: char| c.is_ascii_digit()))?.parse().ok()
}
