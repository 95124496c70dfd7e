//! An opcode's modifiers, in the order that the PTX ISA gives them.

use super::super::Parsed;
use super::refused;
use crate::Refused;
use crate::types::Type;

/// The words of an opcode after its name, taken from the front.
pub struct Modifiers<'a> {
    /// The name of the instruction.
    pub name: &'a str,
    parts: Vec<&'a str>,
    at: usize,
    /// The line of the instruction.
    pub line: u32,
}

impl<'a> Modifiers<'a> {
    pub fn of(opcode: &'a str, line: u32) -> Modifiers<'a> {
        let mut words = opcode.split('.');
        let name = words.next().unwrap_or_default();
        Modifiers { name, parts: words.collect(), at: 0, line }
    }

    pub fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Refused::new(self.line, message))
    }

    pub fn peek(&self) -> Option<&'a str> {
        self.parts.get(self.at).copied()
    }

    /// How many words are left.
    pub fn left(&self) -> usize {
        self.parts.len() - self.at
    }

    /// Takes the word if it is next.
    pub fn has(&mut self, word: &str) -> bool {
        let found = self.peek() == Some(word);
        self.at += usize::from(found);
        found
    }

    /// Takes the next word if `known` gives it a meaning.
    pub fn maybe<T>(&mut self, known: impl Fn(&str) -> Option<T>) -> Option<T> {
        let found = self.peek().and_then(known);
        self.at += usize::from(found.is_some());
        found
    }

    /// Takes the next word, to which `known` must give a meaning.
    pub fn must<T>(&mut self, known: impl Fn(&str) -> Option<T>) -> Parsed<T> {
        match self.maybe(known) {
            Some(found) => Ok(found),
            None => self.illegal(),
        }
    }

    /// The error for the next modifier, or for a missing one.
    pub fn illegal<T>(&self) -> Parsed<T> {
        match self.peek() {
            Some(word) if let Some(why) = refused::why_not(self.name, word) => {
                self.fail(format!("The modifier '.{word}' of the instruction '{}' is not supported: {why}", self.name))
            }
            Some(word) => self.fail(format!("Illegal modifier '.{word}' for instruction '{}'", self.name)),
            None => self.fail(format!("A modifier is missing for instruction '{}'", self.name)),
        }
    }

    /// Takes a type, which must be an allowed one.
    pub fn ty(&mut self, allowed: impl Fn(Type) -> bool) -> Parsed<Type> {
        self.must(|word| Type::named(word).filter(|&ty| allowed(ty)))
    }

    /// Takes a type, or the type of two halves of a word, for which there is `true`: `f16x2`, `u16x2`.
    pub fn halves(&mut self, allowed: impl Fn(Type) -> bool) -> Parsed<(bool, Type)> {
        self.must(|word| {
            let half = word.strip_suffix("x2").and_then(Type::named).filter(|ty| ty.bits == 16);
            let whole = Type::named(word).map(|ty| (false, ty));
            half.map(|ty| (true, ty)).or(whole).filter(|&(_, ty)| allowed(ty))
        })
    }

    /// Fails if a modifier is left.
    pub fn end(&self) -> Parsed<()> {
        if self.at == self.parts.len() { Ok(()) } else { self.illegal() }
    }
}
