//! Parses the initial state: values of memory and registers, aliases, and what the system orders.

use wattle_memory::ThreadId;

use super::{Parser, thread_name};
use crate::error::{Place, Problem, Wrong};
use crate::lex::Token;
use crate::program::Dialect;

/// Two thread numbers with their places.
pub(super) type SystemPair = ((u32, Place), (u32, Place));

impl Parser<'_> {
    /// Parses `{ x=0; P0:r0=0; y aliases x }`.
    pub(super) fn initial_block(&mut self) -> Result<(), Wrong> {
        self.expect("{", "`{` and the initial values")?;
        while !self.eat("}")? {
            if self.eat(";")? {
                continue;
            }
            self.declaration()?;
            if !self.at("}") {
                self.expect(";", "`;` or `}`")?;
            }
        }
        self.eat(";")?;
        Ok(())
    }

    fn declaration(&mut self) -> Result<(), Wrong> {
        const EXPECTED: &str = "an initial value as in `x=0` or `P0:r0=0`, or `y aliases x`";
        let place = self.place;
        let number = match &self.token {
            Token::Number(number) => u32::try_from(*number).ok(),
            Token::Word(word) => thread_name(word),
            _ => None,
        };
        let name = match self.advance()? {
            Token::Word(word) => Some(word),
            Token::Number(_) if number.is_some() => None,
            token => return Err((place, Problem::unexpected(token.to_string(), EXPECTED))),
        };
        match (number, name) {
            (Some(thread), _) if self.at(":") => {
                self.advance()?;
                let (register, _) = self.word("a register")?;
                let value = if self.eat("=")? { self.value()? } else { 0 };
                self.initial_registers.push((thread, register, value, place));
                Ok(())
            }
            (_, Some(name)) => self.memory(name, place),
            (_, None) => self.unexpected("`:` and a register of that thread"),
        }
    }

    fn memory(&mut self, name: String, place: Place) -> Result<(), Wrong> {
        if self.by_name.contains_key(&name) {
            return Err((place, Problem::unexpected(format!("`{name}` again"), "a name that has no value yet")));
        }
        let reference = self.reference(&name);
        if self.at("@") && self.dialect == Dialect::Ptx {
            self.advance()?;
            let (proxy, place) = self.word("`generic`")?;
            if proxy != "generic" {
                return Err((place, Problem::Proxy { instruction: format!("{name}@{proxy}") }));
            }
        }
        if self.eat_word("aliases")? {
            self.names[reference].alias = Some(self.word("the name of the same memory")?);
            return Ok(());
        }
        if self.eat("=")? {
            self.names[reference].initial = self.value()?;
        }
        // Vulkan files may state a location's storage class here; each access states it too.
        if self.dialect == Dialect::Vulkan && self.eat("@")? {
            self.word("a storage class")?;
        }
        Ok(())
    }

    fn value(&mut self) -> Result<u64, Wrong> {
        self.number("a number (a location's address is no value here)")
    }

    /// Parses `{ ssw 0 1; }`, if it is present.
    pub(super) fn system_block(&mut self) -> Result<Vec<SystemPair>, Wrong> {
        let mut pairs = Vec::new();
        if self.dialect != Dialect::Vulkan || !self.eat("{")? {
            return Ok(pairs);
        }
        while !self.eat("}")? {
            if self.eat(";")? {
                continue;
            }
            if !self.eat_word("ssw")? {
                return self.unexpected("`ssw` and two threads, or `}`");
            }
            let mut side = || -> Result<(u32, Place), Wrong> {
                let place = self.place;
                Ok((self.thread_number("a thread")?, place))
            };
            let pair = (side()?, side()?);
            pairs.push(pair);
            if !self.at("}") {
                self.expect(";", "`;` or `}`")?;
            }
        }
        self.eat(";")?;
        Ok(pairs)
    }

    /// Converts thread numbers to columns, once the columns are known.
    pub(super) fn system_pairs(&self, pairs: Vec<SystemPair>) -> Result<Vec<(ThreadId, ThreadId)>, Wrong> {
        let column = |(number, place): (u32, Place)| {
            self.column_of(number).ok_or_else(|| {
                (place, Problem::unexpected(format!("`{number}`"), "the number of a thread that has a column"))
            })
        };
        pairs.into_iter().map(|(first, second)| Ok((column(first)?, column(second)?))).collect()
    }
}
