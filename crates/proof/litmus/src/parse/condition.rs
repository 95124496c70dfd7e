//! Parses the statements about the end of a run: `filter`, `exists`, `~exists`, `forall`.

use super::Parser;
use crate::condition::{Claim, Condition, Observed, Quantifier, Term};
use crate::error::{Problem, Wrong};
use crate::lex::Token;
use crate::words::{COMPARISONS, QUANTIFIERS};

/// The maximum nesting of parentheses and negations.
const DEEPEST: u32 = 256;

impl Parser<'_> {
    /// Whether the rows of instructions end here.
    pub(super) fn at_statement(&self) -> bool {
        let words = ["filter", "exists", "forall", "not", "locations"];
        self.token == Token::End || self.at("~") || words.iter().any(|word| self.at_word(word))
    }

    pub(super) fn statements(&mut self) -> Result<(Option<Condition>, Option<Claim>), Wrong> {
        let (mut filter, mut claim) = (None, None);
        loop {
            if self.eat_word("locations")? {
                self.skip_locations()?;
            } else if filter.is_none() && self.eat_word("filter")? {
                filter = Some(self.condition()?);
            } else if claim.is_none() {
                let Some(quantifier) = self.quantifier()? else { break };
                claim = Some(Claim { quantifier, condition: self.condition()? });
            } else {
                break;
            }
            self.eat(";")?;
        }
        if self.token == Token::End {
            return Ok((filter, claim));
        }
        self.unexpected(match (&filter, &claim) {
            (None, None) => "`filter`, `exists`, `~exists` or `forall`",
            (Some(_), None) => "`exists`, `~exists` or `forall`, or the end of the file",
            (None, Some(_)) => "`/\\`, `\\/`, `filter`, or the end of the file",
            (Some(_), Some(_)) => "`/\\`, `\\/`, or the end of the file",
        })
    }

    fn quantifier(&mut self) -> Result<Option<Quantifier>, Wrong> {
        if self.eat("~")? || self.eat_word("not")? {
            return if self.eat_word("exists")? {
                Ok(Some(Quantifier::NotExists))
            } else {
                self.unexpected("`exists`")
            };
        }
        let quantifier = match &self.token {
            Token::Word(word) => QUANTIFIERS.meaning(word),
            _ => None,
        };
        if quantifier.is_some() {
            self.advance()?;
        }
        Ok(quantifier)
    }

    /// Skips `locations [x; 0:r0;]`, which asks herd to print and claims nothing.
    fn skip_locations(&mut self) -> Result<(), Wrong> {
        self.expect("[", "`[`")?;
        while !self.eat("]")? {
            if self.token == Token::End {
                return self.unexpected("`]`");
            }
            self.advance()?;
        }
        Ok(())
    }

    fn condition(&mut self) -> Result<Condition, Wrong> {
        let mut left = self.conjunction()?;
        while self.eat("\\/")? || self.eat_or()? {
            left = left.or(self.conjunction()?);
        }
        Ok(left)
    }

    /// Takes `||`, which outside of a condition separates two columns.
    fn eat_or(&mut self) -> Result<bool, Wrong> {
        if !self.eat("|")? {
            return Ok(false);
        }
        self.expect("|", "`|`, as in `||`")?;
        Ok(true)
    }

    fn conjunction(&mut self) -> Result<Condition, Wrong> {
        let mut left = self.factor()?;
        while self.eat("/\\")? || self.eat("&&")? {
            left = left.and(self.factor()?);
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Condition, Wrong> {
        if self.depth == DEEPEST {
            return self.unexpected(format!("at most {DEEPEST} nested parentheses and negations"));
        }
        self.depth += 1;
        let factor = self.nested_factor();
        self.depth -= 1;
        factor
    }

    fn nested_factor(&mut self) -> Result<Condition, Wrong> {
        if self.eat("~")? || self.eat("!")? || self.eat_word("not")? {
            return Ok(Condition::Not(Box::new(self.factor()?)));
        }
        if self.eat("(")? {
            let inner = self.condition()?;
            self.expect(")", "`)`, `/\\` or `\\/`")?;
            return Ok(inner);
        }
        let left = self.term()?;
        let comparison = match self.token {
            Token::Symbol(symbol) => COMPARISONS.meaning(symbol),
            _ => None,
        };
        let Some(comparison) = comparison else {
            return self.unexpected("a comparison: ==, !=, <, <=, > or >=");
        };
        self.advance()?;
        Ok(Condition::Compare(left, comparison, self.term()?))
    }

    fn term(&mut self) -> Result<Term, Wrong> {
        const EXPECTED: &str = "a register as `P0:r0`, a memory location or a number";
        let place = self.place;
        match &self.token {
            Token::Number(number) => {
                let number = *number;
                self.advance()?;
                if !self.eat(":")? {
                    return Ok(Term::Constant(number));
                }
                self.observed_register(u32::try_from(number).ok(), place)
            }
            Token::Word(_) => {
                let (word, place) = self.word(EXPECTED)?;
                if self.eat(":")? {
                    return self.observed_register(super::thread_name(&word), place);
                }
                self.observed_location(&word, place)
            }
            Token::Symbol("[") => {
                self.advance()?;
                let (word, place) = self.word("a memory location")?;
                self.expect("]", "`]`")?;
                self.observed_location(&word, place)
            }
            _ => self.unexpected(EXPECTED),
        }
    }

    fn observed_register(&mut self, thread: Option<u32>, place: crate::Place) -> Result<Term, Wrong> {
        let Some(thread) = thread.and_then(|number| self.column_of(number)) else {
            let threads: Vec<String> =
                self.columns.iter().map(|column| format!("P{}", column.placement.thread)).collect();
            return Err((
                place,
                Problem::unexpected("another thread's register", format!("one of {}", threads.join(", "))),
            ));
        };
        let (name, at) = self.word("a register")?;
        let registers = &self.columns[thread].registers;
        let Some(register) = registers.iter().position(|register| register.name == name) else {
            let names: Vec<String> = registers.iter().map(|register| format!("`{}`", register.name)).collect();
            let thread = self.columns[thread].placement.thread;
            let expected = match names.is_empty() {
                true => format!("a register of P{thread}, which uses none"),
                false => format!("a register that P{thread} uses: {}", names.join(", ")),
            };
            return Err((at, Problem::unexpected(format!("`{name}`"), expected)));
        };
        Ok(Term::Final(Observed::Register { thread, register }))
    }

    fn observed_location(&mut self, name: &str, place: crate::Place) -> Result<Term, Wrong> {
        let Some(reference) = self.references.iter().find(|reference| reference.name == name) else {
            let problem =
                Problem::unexpected(format!("`{name}`"), "a memory location that the program declares or uses");
            return Err((place, problem));
        };
        Ok(Term::Final(Observed::Memory(reference.location)))
    }
}
