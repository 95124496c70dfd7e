//! Splits a file into tokens.

use std::fmt;

use crate::error::{Place, Problem, Wrong};

/// A token of a litmus file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// A name or a mnemonic, dots included.
    Word(String),
    /// An integer; a negative one in two's complement.
    Number(u64),
    /// Punctuation.
    Symbol(&'static str),
    /// The end of the file.
    End,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => write!(f, "`{word}`"),
            Token::Number(number) => write!(f, "`{}`", *number as i64),
            Token::Symbol(symbol) => write!(f, "`{symbol}`"),
            Token::End => write!(f, "the end of the file"),
        }
    }
}

/// The symbols; longer ones come before their prefixes.
const SYMBOLS: [&str; 24] = [
    "/\\", "\\/", "&&", "==", "!=", "<=", ">=", "{", "}", "(", ")", "[", "]", ";", "|", ",", ":", "@", "&", "=", "<",
    ">", "~", "!",
];

/// A lexer over the characters of a file, with the current place.
pub(crate) struct Lexer<'t> {
    rest: &'t str,
    place: Place,
    /// Whether only blanks precede on this line.
    fresh: bool,
}

impl<'t> Lexer<'t> {
    pub(crate) fn new(text: &'t str) -> Lexer<'t> {
        let rest = text.strip_prefix('\u{feff}').unwrap_or(text);
        Lexer { rest, place: Place { line: 1, column: 1 }, fresh: true }
    }

    /// The place of the next character.
    pub(crate) fn place(&self) -> Place {
        self.place
    }

    /// The rest of the file.
    pub(crate) fn rest(&self) -> &'t str {
        self.rest
    }

    /// Advances by that many bytes, which end at a character boundary.
    fn advance(&mut self, bytes: usize) -> &'t str {
        let (passed, rest) = self.rest.split_at(bytes);
        for c in passed.chars() {
            if c == '\n' {
                self.place = Place { line: self.place.line + 1, column: 1 };
                self.fresh = true;
            } else {
                self.place.column += 1;
                self.fresh &= c.is_whitespace();
            }
        }
        self.rest = rest;
        passed
    }

    /// Takes the rest of the line, comments included.
    pub(crate) fn line(&mut self) -> &'t str {
        let end = self.rest.find('\n').unwrap_or(self.rest.len());
        self.advance(end)
    }

    /// Takes the rest of the line, up to a block that begins on it.
    pub(crate) fn title(&mut self) -> &'t str {
        let end = self.rest.find(['\n', '{']).unwrap_or(self.rest.len());
        self.advance(end)
    }

    /// Skips blanks and comments: `//` and `(* *)` anywhere, `;` at the beginning of a line.
    pub(crate) fn skip_blanks(&mut self) -> Result<(), Wrong> {
        loop {
            let blank = self.rest.len() - self.rest.trim_start().len();
            self.advance(blank);
            if self.rest.starts_with("//") || (self.fresh && self.rest.starts_with(';')) {
                self.line();
            } else if self.rest.starts_with("(*") {
                let Some(end) = self.rest.find("*)") else {
                    return Err((self.place, Problem::unexpected("a comment that does not end", "`*)`")));
                };
                self.advance(end + 2);
            } else {
                return Ok(());
            }
        }
    }

    /// Takes a text in double quotes, if one begins here. It may span several lines.
    pub(crate) fn quoted(&mut self) -> Result<Option<&'t str>, Wrong> {
        if !self.rest.starts_with('"') {
            return Ok(None);
        }
        let Some(length) = self.rest[1..].find('"') else {
            return Err((self.place, Problem::unexpected("a text that does not end", "a closing `\"`")));
        };
        let text = self.advance(length + 2);
        Ok(Some(&text[1..=length]))
    }

    /// Takes the next token, with its place. Fails where the text has no token of the language.
    pub(crate) fn token(&mut self) -> Result<(Token, Place), Wrong> {
        self.skip_blanks()?;
        let place = self.place;
        let Some(first) = self.rest.chars().next() else { return Ok((Token::End, place)) };
        if let Some(symbol) = SYMBOLS.into_iter().find(|symbol| self.rest.starts_with(symbol)) {
            self.advance(symbol.len());
            return Ok((Token::Symbol(symbol), place));
        }
        let negative = first == '-' && self.rest[1..].starts_with(|c: char| c.is_ascii_digit());
        if first.is_ascii_digit() || negative {
            let sign = usize::from(negative);
            let digits = &self.rest[sign..];
            let end = digits.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(digits.len());
            let text = self.advance(sign + end);
            let number = number(text).ok_or_else(|| {
                (place, Problem::unexpected(format!("`{text}`"), "an integer of 64 bits, decimal or 0x hexadecimal"))
            })?;
            return Ok((Token::Number(number), place));
        }
        let inside = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '%' | '$');
        let end = self.rest.find(|c: char| !inside(c)).unwrap_or(self.rest.len());
        if end == 0 {
            let problem = Problem::unexpected(format!("the character `{first}`"), "a word, a number or punctuation");
            return Err((place, problem));
        }
        Ok((Token::Word(self.advance(end).to_owned()), place))
    }
}

fn number(text: &str) -> Option<u64> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text),
    };
    let magnitude = match digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")) {
        Some(hex) => u64::from_str_radix(hex, 16).ok()?,
        None => digits.parse().ok()?,
    };
    match negative {
        false => Some(magnitude),
        true if magnitude <= 1 << 63 => Some(magnitude.wrapping_neg()),
        true => None,
    }
}
