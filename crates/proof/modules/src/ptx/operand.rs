//! Operands of instructions (PTX ISA 6.4 "Operands").

use super::Parsed;
use super::cursor::Parser;
use super::lex::Token;
use super::statement::Operand;

impl Parser<'_> {
    /// Reads an operand of an instruction.
    pub(super) fn operand(&mut self) -> Parsed<Operand> {
        if self.sign('!') {
            return Ok(Operand::Not(self.word()?));
        }
        if self.sign('{') {
            let mut items = Vec::new();
            loop {
                items.push(self.operand()?);
                if !self.sign(',') {
                    break;
                }
            }
            self.must('}')?;
            // Triton writes scalars so, and ptxas takes a vector of one item for the item.
            return Ok(if items.len() == 1 { items.swap_remove(0) } else { Operand::Vector(items) });
        }
        if self.sign('(') {
            let mut items = Vec::new();
            while !self.sign(')') {
                if !items.is_empty() {
                    self.must(',')?;
                }
                items.push(Operand::Name(self.word()?));
            }
            return Ok(Operand::List(items));
        }
        if self.sign('[') {
            let address = self.address()?;
            if self.peek() != Some(&Token::Sign(',')) {
                self.must(']')?;
                return Ok(address);
            }
            // A texture or a tensor with coordinates, of instructions that are refused by name.
            let mut items = vec![address];
            while self.sign(',') {
                items.push(self.operand()?);
            }
            self.must(']')?;
            return Ok(Operand::List(items));
        }
        let negative = self.sign('-');
        match self.next()? {
            Token::Int(value) if negative => Ok(Operand::Int(value.wrapping_neg(), true)),
            Token::Int(value) => Ok(Operand::Int(value, false)),
            Token::Double(bits) if negative => Ok(Operand::Double((-f64::from_bits(bits)).to_bits())),
            Token::Double(bits) => Ok(Operand::Double(bits)),
            Token::Single(bits) if !negative => Ok(Operand::Single(bits)),
            Token::Word(word) if !negative => {
                if self.sign('|') {
                    return Ok(Operand::Pair(word, self.word()?));
                }
                Ok(Operand::Name(word))
            }
            other => {
                self.at -= 1;
                self.fail(format!("expected an operand, found `{other}`"))
            }
        }
    }

    fn address(&mut self) -> Parsed<Operand> {
        let base = match self.peek() {
            Some(Token::Word(_)) => Some(self.word()?),
            _ => None,
        };
        let negative = if base.is_some() {
            if self.sign('-') {
                true
            } else if self.sign('+') {
                self.sign('-')
            } else {
                return Ok(Operand::Address(base, 0));
            }
        } else {
            self.sign('-')
        };
        match self.next()? {
            Token::Int(value) => {
                let value = value as i64;
                Ok(Operand::Address(base, if negative { value.wrapping_neg() } else { value }))
            }
            other => self.fail(format!("expected an offset, found `{other}`")),
        }
    }
}
