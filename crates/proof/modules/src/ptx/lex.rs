//! PTX text as tokens (PTX ISA 8.8, 4 "Syntax").

use std::fmt;

use crate::Refused;

/// A token of PTX text.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name, a directive, an instruction with its modifiers, or a special register: dots belong to the word.
    Word(String),
    /// An integer, as its 64 bits.
    Int(u64),
    /// A single-precision number `0fXXXXXXXX`.
    Single(u32),
    /// `0dXXXXXXXXXXXXXXXX` or a decimal number with a point or an exponent.
    Double(u64),
    /// A string between quotes.
    Text(String),
    /// A punctuation character.
    Sign(char),
}

impl fmt::Display for Token {
    /// Writes the token as a text has it, apart from the base of a number.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Token::Word(word) => f.write_str(word),
            Token::Int(value) => write!(f, "{value}"),
            Token::Single(bits) => write!(f, "0f{bits:08X}"),
            Token::Double(bits) => write!(f, "{:?}", f64::from_bits(*bits)),
            Token::Text(text) => write!(f, "\"{text}\""),
            Token::Sign(sign) => write!(f, "{sign}"),
        }
    }
}

/// A token with its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The token.
    pub token: Token,
    /// The line that it stands on, from 1.
    pub line: u32,
    /// The byte offset of its end.
    pub end: usize,
    /// The piece of inline assembly that the token stands in, numbered from 1 as comments of compilers mark it; 0 for
    /// none.
    pub assembly: u32,
}

/// The tokens of a text.
///
/// # Errors
/// A character or a number is not valid in PTX.
pub fn tokens(text: &str) -> Result<Vec<Placed>, Refused> {
    // Who writes what a driver is given may write the end of its string too.
    let text = text.trim_end_matches('\0');
    let mut scan = Scan { bytes: text.as_bytes(), at: 0, line: 1, pieces: 0, in_assembly: false, out: Vec::new() };
    while let Some(byte) = scan.peek(0) {
        scan.token(byte)?;
    }
    Ok(scan.out)
}

struct Scan<'a> {
    bytes: &'a [u8],
    at: usize,
    line: u32,
    /// How many pieces of inline assembly have begun, and whether the last of them is open.
    pieces: u32,
    in_assembly: bool,
    out: Vec<Placed>,
}

fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'%' | b'.')
}

impl Scan<'_> {
    fn peek(&self, ahead: usize) -> Option<u8> {
        self.bytes.get(self.at + ahead).copied()
    }

    fn while_true(&mut self, holds: impl Fn(u8) -> bool) -> String {
        let from = self.at;
        while self.peek(0).is_some_and(&holds) {
            self.at += 1;
        }
        String::from_utf8_lossy(&self.bytes[from..self.at]).into_owned()
    }

    fn put(&mut self, token: Token) {
        let assembly = if self.in_assembly { self.pieces } else { 0 };
        self.out.push(Placed { token, line: self.line, end: self.at, assembly });
    }

    fn token(&mut self, byte: u8) -> Result<(), Refused> {
        match byte {
            b'\n' => {
                self.line += 1;
                self.at += 1;
            }
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'/' if self.peek(1) == Some(b'/') => match self.while_true(|byte| byte != b'\n').trim_end() {
                "// begin inline asm" => (self.pieces, self.in_assembly) = (self.pieces + 1, true),
                "// end inline asm" => self.in_assembly = false,
                _ => {}
            },
            b'/' if self.peek(1) == Some(b'*') => self.comment()?,
            b'"' => {
                self.at += 1;
                let text = self.while_true(|byte| byte != b'"' && byte != b'\n');
                if self.peek(0) != Some(b'"') {
                    return Err(Refused::new(self.line, "a string without an end"));
                }
                self.at += 1;
                self.put(Token::Text(text));
            }
            b'0'..=b'9' => {
                let token = self.number()?;
                self.put(token);
            }
            b'.' if self.peek(1).is_some_and(|next| next.is_ascii_digit()) => {
                let token = self.number()?;
                self.put(token);
            }
            _ if in_word(byte) => {
                let mut word = self.while_true(in_word);
                // `.shared::cta` is one modifier.
                while self.peek(0) == Some(b':') && self.peek(1) == Some(b':') {
                    self.at += 2;
                    word.push_str("::");
                    word.push_str(&self.while_true(in_word));
                }
                self.put(Token::Word(word));
            }
            b',' | b';' | b':' | b'[' | b']' | b'{' | b'}' | b'(' | b')' | b'@' | b'!' | b'+' | b'-' | b'|' | b'='
            | b'<' | b'>' => {
                self.at += 1;
                self.put(Token::Sign(char::from(byte)));
            }
            _ => return Err(Refused::new(self.line, format!("unexpected character {:?}", char::from(byte)))),
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), Refused> {
        let line = self.line;
        while !(self.peek(0) == Some(b'*') && self.peek(1) == Some(b'/')) {
            match self.peek(0) {
                None => return Err(Refused::new(line, "a comment without an end")),
                Some(b'\n') => self.line += 1,
                Some(_) => {}
            }
            self.at += 1;
        }
        self.at += 2;
        Ok(())
    }

    /// Reads a number (PTX ISA 4.5 "Constants").
    fn number(&mut self) -> Result<Token, Refused> {
        let line = self.line;
        let mut word = self.while_true(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
        let wrong = |word: &str| Refused::new(line, format!("'{word}' is no number"));
        let lower = word.to_ascii_lowercase();
        if let Some(digits) = lower.strip_prefix("0f") {
            return match u32::from_str_radix(digits, 16) {
                Ok(bits) if digits.len() == 8 => Ok(Token::Single(bits)),
                _ => Err(wrong(&word)),
            };
        }
        if let Some(digits) = lower.strip_prefix("0d") {
            return match u64::from_str_radix(digits, 16) {
                Ok(bits) if digits.len() == 16 => Ok(Token::Double(bits)),
                _ => Err(wrong(&word)),
            };
        }
        let whole = lower.trim_end_matches('u');
        let integer = if let Some(digits) = whole.strip_prefix("0x") {
            u64::from_str_radix(digits, 16)
        } else if let Some(digits) = whole.strip_prefix("0b") {
            u64::from_str_radix(digits, 2)
        } else if whole.len() > 1 && whole.starts_with('0') && !whole.contains(['.', 'e']) {
            u64::from_str_radix(whole, 8)
        } else {
            whole.parse()
        };
        if let Ok(integer) = integer {
            return Ok(Token::Int(integer));
        }
        if lower.ends_with('e') && matches!(self.peek(0), Some(b'+' | b'-')) {
            word.push(char::from(self.bytes[self.at]));
            self.at += 1;
            word.push_str(&self.while_true(|byte| byte.is_ascii_digit()));
        }
        if !lower.contains(['.', 'e']) {
            return Err(wrong(&word));
        }
        word.parse::<f64>().map(|value| Token::Double(value.to_bits())).map_err(|_| wrong(&word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Token> {
        tokens(text).expect("they are tokens").into_iter().map(|placed| placed.token).collect()
    }

    #[test]
    fn numbers_are_of_all_bases() {
        let expected = [16, 8, 5, 12, 0, u64::MAX].map(Token::Int);
        assert_eq!(all("0x10 010 0b101 12U 0 18446744073709551615"), expected);
        assert_eq!(
            all("0f3F800000 0d3FF0000000000000"),
            [Token::Single(0x3F80_0000), Token::Double(0x3FF0_0000_0000_0000)]
        );
        assert_eq!(all("1.5 2.0e-3"), [Token::Double(1.5f64.to_bits()), Token::Double(2.0e-3f64.to_bits())]);
        assert!(tokens("0f3F").is_err() && tokens("0xZZ").is_err() && tokens("09").is_err());
    }

    #[test]
    fn words_keep_their_dots_and_lines_are_counted() {
        let placed = tokens("// one\nld.global.u32 /* two\n */ %tid.x;").expect("they are tokens");
        let placed: Vec<(Token, u32)> = placed.into_iter().map(|placed| (placed.token, placed.line)).collect();
        let word = |word: &str| Token::Word(word.to_owned());
        assert_eq!(placed, [(word("ld.global.u32"), 2), (word("%tid.x"), 3), (Token::Sign(';'), 3)]);
        assert!(tokens("\"open").is_err() && tokens("/* open").is_err() && tokens("#").is_err());
    }
}
