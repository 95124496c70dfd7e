//! A parser's place among the tokens of a text, and the words, signs and numbers that it takes from there.

use super::Parsed;
use super::lex::{Placed, Token};
use crate::Refused;
use crate::types::Type;

/// A parser of a text: its place among the tokens.
pub(super) struct Parser<'a> {
    pub text: &'a str,
    pub tokens: &'a [Placed],
    /// The number of the next token.
    pub at: usize,
    /// How many scopes are open.
    pub depth: u32,
    /// The piece of inline assembly in which the last `.loc` stood.
    pub located: u32,
}

impl<'a> Parser<'a> {
    /// A parser before the first token.
    pub fn of(text: &'a str, tokens: &'a [Placed]) -> Parser<'a> {
        Parser { text, tokens, at: 0, depth: 0, located: 0 }
    }
}

impl Parser<'_> {
    /// The line of the next token; behind the last one its line.
    pub fn line(&self) -> u32 {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(1, |placed| placed.line)
    }

    /// Refuses the text at the next token.
    pub fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Refused::new(self.line(), message))
    }

    /// The next token, which stays.
    pub fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|placed| &placed.token)
    }

    /// What stands next, as an error shows it.
    pub fn found(&self) -> String {
        self.peek().map_or_else(|| "the end of the text".to_owned(), |token| format!("`{token}`"))
    }

    /// The byte offset at which the last token taken ends.
    pub fn end(&self) -> usize {
        self.at.checked_sub(1).map_or(0, |last| self.tokens[last].end)
    }

    /// Takes the next token; refused at the end of the text.
    pub fn next(&mut self) -> Parsed<Token> {
        match self.tokens.get(self.at) {
            Some(placed) => {
                self.at += 1;
                Ok(placed.token.clone())
            }
            None => self.fail("the text ends here"),
        }
    }

    /// Takes that sign if it is next.
    pub fn sign(&mut self, sign: char) -> bool {
        let found = self.peek() == Some(&Token::Sign(sign));
        self.at += usize::from(found);
        found
    }

    /// Takes that sign, which has to be next.
    pub fn must(&mut self, sign: char) -> Parsed<()> {
        if self.sign(sign) { Ok(()) } else { self.fail(format!("expected '{sign}', found {}", self.found())) }
    }

    /// Takes a word, which has to be next.
    pub fn word(&mut self) -> Parsed<String> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => {
                self.at -= 1;
                self.fail(format!("expected a name, found `{other}`"))
            }
        }
    }

    /// Takes that word if it is next.
    pub fn is_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(here)) if here == word);
        self.at += usize::from(found);
        found
    }

    /// Takes an integer of 32 bits, which has to be next.
    pub fn count(&mut self) -> Parsed<u32> {
        match self.next()? {
            Token::Int(value) if value <= u64::from(u32::MAX) => Ok(value as u32),
            other => self.fail(format!("expected a number, found `{other}`")),
        }
    }

    /// Takes a type, which has to be next: `.u32`.
    pub fn ty(&mut self) -> Parsed<Type> {
        let word = self.word()?;
        match word.strip_prefix('.').and_then(Type::named) {
            Some(ty) => Ok(ty),
            None => self.fail(format!("Unknown type '{word}'")),
        }
    }
}
