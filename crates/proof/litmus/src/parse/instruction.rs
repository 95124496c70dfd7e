//! Parses the common part of both dialects: modifiers in any order, operands, arithmetic and jumps.

use wattle_memory::ThreadId;

use super::Parser;
use crate::error::{Place, Problem, Wrong};
use crate::ids::ReferenceId;
use crate::lex::Token;
use crate::program::{Dialect, Instruction, Operand, Update};
use crate::words::{AtomicKind, PLAIN, Plain};

/// A mnemonic split at its dots.
pub(super) struct Mnemonic {
    pub whole: String,
    pub place: Place,
    pub head: String,
    modifiers: Vec<(String, Place)>,
}

impl Mnemonic {
    fn new(word: &str, place: Place) -> Mnemonic {
        let mut parts = Vec::new();
        let mut column = place.column;
        for part in word.split('.') {
            parts.push((part.to_owned(), Place { column, ..place }));
            column += part.chars().count() as u32 + 1;
        }
        let head = parts.remove(0).0;
        Mnemonic { whole: word.to_owned(), place, head, modifiers: parts }
    }

    /// Takes the first modifier that `known` has a meaning for.
    pub fn take<T>(&mut self, known: impl Fn(&str) -> Option<T>) -> Option<(T, Place)> {
        let (index, meaning) =
            self.modifiers.iter().enumerate().find_map(|(index, (text, _))| Some((index, known(text)?)))?;
        Some((meaning, self.modifiers.remove(index).1))
    }

    /// Takes a modifier if it is present; returns its place.
    pub fn has(&mut self, name: &str) -> Option<Place> {
        self.take(|text| (text == name).then_some(())).map(|(_, place)| place)
    }

    /// The modifiers that have not been taken.
    pub fn left(&self) -> impl Iterator<Item = &str> {
        self.modifiers.iter().map(|(text, _)| text.as_str())
    }

    /// Fails at the first modifier that was not taken.
    pub fn finish(&self, expected: &str) -> Result<(), Wrong> {
        match self.modifiers.first() {
            None => Ok(()),
            Some((text, place)) => {
                let again = self.whole.split('.').filter(|part| part == text).count() > 1;
                let found = format!("`.{text}`{} in `{}`", if again { " again" } else { "" }, self.whole);
                Err((*place, Problem::unexpected(found, expected)))
            }
        }
    }

    /// Fails because something is missing.
    pub fn missing<T>(&self, expected: &str) -> Result<T, Wrong> {
        Err((self.place, Problem::unexpected(format!("`{}`", self.whole), expected)))
    }

    /// Takes the atomic operation, if one is named.
    pub fn atomic(&mut self) -> Option<AtomicKind> {
        self.take(AtomicKind::of).map(|(kind, _)| kind)
    }
}

/// Whether a name is a register where a register or a location may stand.
fn looks_like_register(word: &str) -> bool {
    word.starts_with('%')
        || word.strip_prefix('r').is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit()))
}

impl Parser<'_> {
    /// Parses the instruction with that mnemonic.
    pub(super) fn instruction(&mut self, thread: ThreadId, word: &str, place: Place) -> Result<Instruction, Wrong> {
        let mnemonic = Mnemonic::new(word, place);
        match PLAIN.meaning(word) {
            Some(Plain::Branch(comparison)) => {
                let left = self.operand(thread)?;
                self.comma()?;
                let right = self.operand(thread)?;
                self.comma()?;
                Ok(Instruction::Branch { comparison, left, right, to: self.jump(thread)? })
            }
            Some(Plain::Compute(operator)) => {
                let to = self.register(thread)?;
                self.comma()?;
                let left = self.operand(thread)?;
                self.comma()?;
                Ok(Instruction::Compute { operator, to, left, right: self.operand(thread)? })
            }
            Some(Plain::Goto) => Ok(Instruction::Goto(self.jump(thread)?)),
            Some(Plain::Move) => {
                let to = self.register(thread)?;
                self.comma()?;
                Ok(Instruction::Move { to, value: self.operand(thread)? })
            }
            None => match self.dialect {
                Dialect::Ptx => self.ptx(thread, mnemonic),
                Dialect::Vulkan => self.vulkan(thread, mnemonic),
            },
        }
    }

    pub(super) fn comma(&mut self) -> Result<(), Wrong> {
        self.expect(",", "`,` and another operand")
    }

    fn jump(&mut self, thread: ThreadId) -> Result<usize, Wrong> {
        let target = self.word("a label")?;
        let jumps = &mut self.columns[thread].jumps;
        jumps.push(target);
        Ok(jumps.len() - 1)
    }

    /// Whether the next word names a register.
    fn at_register(&self, thread: ThreadId) -> bool {
        match &self.token {
            Token::Word(word) => {
                let declared = self.columns[thread].registers.iter().any(|register| register.name == *word);
                looks_like_register(word) || (declared && !self.by_name.contains_key(word))
            }
            _ => false,
        }
    }

    pub(super) fn register(&mut self, thread: ThreadId) -> Result<usize, Wrong> {
        if !self.at_register(thread) {
            return self.unexpected("a register, as `r0`");
        }
        let (name, _) = self.word("a register")?;
        Ok(self.columns[thread].register(&name))
    }

    pub(super) fn operand(&mut self, thread: ThreadId) -> Result<Operand, Wrong> {
        if let Token::Number(number) = self.token {
            self.advance()?;
            return Ok(Operand::Constant(number));
        }
        if !self.at_register(thread) {
            return self.unexpected("a number or a register, as `r0`");
        }
        self.register(thread).map(Operand::Register)
    }

    pub(super) fn location(&mut self, thread: ThreadId) -> Result<ReferenceId, Wrong> {
        const EXPECTED: &str = "the name of a memory location";
        let bracket = self.eat("[")?;
        if self.at_register(thread) {
            return self.unexpected(EXPECTED);
        }
        let (name, place) = self.word(EXPECTED)?;
        if name.contains('.') {
            return Err((place, Problem::unexpected(format!("`{name}`"), EXPECTED)));
        }
        if bracket {
            self.expect("]", "`]`")?;
        }
        Ok(self.reference(&name))
    }

    /// Parses `r0, x`, or `r0, 1` and `r0, r1`, which move a value.
    pub(super) fn load_operands(&mut self, thread: ThreadId) -> Result<(usize, Loaded), Wrong> {
        let to = self.register(thread)?;
        self.comma()?;
        let moves = matches!(self.token, Token::Number(_)) || self.at_register(thread);
        let from = if moves { Loaded::Value(self.operand(thread)?) } else { Loaded::Memory(self.location(thread)?) };
        Ok((to, from))
    }

    /// Parses `r0, x, 1`, or `x, 1` if the old value is not wanted.
    pub(super) fn update_operands(&mut self, thread: ThreadId, kind: AtomicKind) -> Result<Updated, Wrong> {
        let result = if self.at_register(thread) {
            let register = self.register(thread)?;
            self.comma()?;
            Some(register)
        } else {
            None
        };
        let at = self.location(thread)?;
        self.comma()?;
        let first = self.operand(thread)?;
        let update = match kind {
            AtomicKind::Apply(op) => Update::Apply(op, first),
            AtomicKind::CompareExchange => {
                self.comma()?;
                Update::CompareExchange { expected: first, desired: self.operand(thread)? }
            }
        };
        Ok(Updated { result, at, update })
    }

    /// Parses `1`, `1, 0` or `1, 0, 2`: instance, resource and quorum.
    pub(super) fn barrier_operands(&mut self, thread: ThreadId) -> Result<BarrierOperands, Wrong> {
        let instance = self.number("the number of the barrier's instance")?;
        let resource = if self.eat(",")? { Some(self.operand(thread)?) } else { None };
        let quorum = if self.eat(",")? { Some(self.operand(thread)?) } else { None };
        Ok(BarrierOperands { instance, resource, quorum })
    }
}

/// The source of a load.
pub(super) enum Loaded {
    Memory(ReferenceId),
    Value(Operand),
}

/// The operands of a read-modify-write.
pub(super) struct Updated {
    pub result: Option<usize>,
    pub at: ReferenceId,
    pub update: Update,
}

/// The operands of a barrier.
pub(super) struct BarrierOperands {
    pub instance: u64,
    pub resource: Option<Operand>,
    pub quorum: Option<Operand>,
}
