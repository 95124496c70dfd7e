//! Declarations of variables, with their initial values (PTX ISA 5.4 "Variables").

use super::Parsed;
use super::cursor::Parser;
use super::lex::Token;
use super::statement::Variable;
use crate::types::{Sort, Space, Type};

/// Reads a declaration after the word that names its space, up to its `;`, `,` or `)`.
pub(super) fn variable(parser: &mut Parser<'_>, space: Space, external: bool) -> Parsed<Variable> {
    let line = parser.line();
    let mut align = 0;
    let mut ty = None;
    let name = loop {
        if parser.is_word(".align") {
            align = u64::from(parser.count()?);
            if !align.is_power_of_two() {
                return parser.fail("an alignment is a power of two");
            }
        } else if space == Space::Global && parser.is_word(".attribute") {
            attribute(parser)?;
        } else if space == Space::Param && parser.is_word(".ptr") {
            pointer(parser)?;
        } else if matches!(parser.peek(), Some(Token::Word(word)) if word.starts_with('.')) {
            if ty.is_some() {
                return parser.fail("a variable has one type");
            }
            ty = Some(parser.ty()?);
        } else {
            break parser.word()?;
        }
    };
    let Some(ty) = ty.filter(|&ty| is_writable(ty)) else { return parser.fail(format!("'{name}' needs a type")) };
    let mut items = 1;
    let mut dynamic = false;
    if parser.sign('[') {
        if parser.sign(']') {
            if !external || space != Space::Shared {
                return parser.fail("only .extern .shared arrays are without a length");
            }
            (items, dynamic) = (0, true);
        } else {
            items = u64::from(parser.count()?);
            parser.must(']')?;
        }
    }
    let (mut initial, mut addresses) = (Vec::new(), Vec::new());
    if parser.sign('=') {
        if !matches!(space, Space::Global | Space::Const) {
            return parser.fail("only .global and .const variables have values at first");
        }
        values(parser, ty, &mut initial, &mut addresses)?;
    }
    let bytes = items * ty.bytes();
    if initial.len() as u64 > bytes {
        return parser.fail(format!("too many values for '{name}'"));
    }
    let align = align.max(ty.bytes());
    Ok(Variable { name, space, ty, align, bytes, dynamic, initial, addresses, line })
}

/// Skips `.attribute(.managed)` and its like: the host may use the variable too, which a launch does not see (PTX ISA
/// 8.8, 5.4.8).
fn attribute(parser: &mut Parser<'_>) -> Parsed<()> {
    parser.must('(')?;
    let mut depth = 1;
    while depth > 0 {
        if parser.sign('(') {
            depth += 1;
        } else if parser.sign(')') {
            depth -= 1;
        } else {
            parser.next()?;
        }
    }
    Ok(())
}

/// Skips `.ptr{.space}{.align N}`, which is only a hint to an optimizer.
fn pointer(parser: &mut Parser<'_>) -> Parsed<()> {
    for space in [".global", ".shared", ".local", ".const"] {
        if parser.is_word(space) {
            break;
        }
    }
    if parser.is_word(".align") {
        parser.count()?;
    }
    Ok(())
}

/// The places of addresses among initial bytes.
type Addresses = Vec<(usize, String, u64)>;

fn values(parser: &mut Parser<'_>, ty: Type, out: &mut Vec<u8>, addresses: &mut Addresses) -> Parsed<()> {
    if parser.sign('{') {
        loop {
            // Arrays of arrays stand in braces of their own, and are declared here with one length only.
            value(parser, ty, out, addresses)?;
            if !parser.sign(',') {
                return parser.must('}');
            }
        }
    }
    value(parser, ty, out, addresses)
}

/// Reads a number, or the address of a variable: `generic(name)`, `name`, or either with `+ number` (PTX ISA 8.8, 5.4.4
/// "Initializers").
fn value(parser: &mut Parser<'_>, ty: Type, out: &mut Vec<u8>, addresses: &mut Addresses) -> Parsed<()> {
    if let Some(Token::Word(word)) = parser.peek() {
        let generic = word == "generic";
        let mut name = parser.word()?;
        if generic {
            parser.must('(')?;
            name = parser.word()?;
            parser.must(')')?;
        }
        let offset = if parser.sign('+') { u64::from(parser.count()?) } else { 0 };
        if ty.bits != 64 || ty.is_float() {
            return parser.fail(format!("the address of '{name}' does not fit into {ty}"));
        }
        addresses.push((out.len(), name, offset));
        out.extend_from_slice(&[0; 8]);
        return Ok(());
    }
    let negative = parser.sign('-');
    let bits = match (parser.next()?, ty.sort) {
        (Token::Int(value), sort) if sort != Sort::Float => {
            if negative {
                value.wrapping_neg()
            } else {
                value
            }
        }
        // The bits have the sign in them; ptxas takes no other before them.
        (Token::Single(_), Sort::Float) if negative => {
            return parser.fail("a single in hexadecimal stands without a sign, which is its highest bit".to_owned());
        }
        (Token::Single(bits), Sort::Float) if ty.bits == 32 => u64::from(bits),
        (Token::Double(bits), Sort::Float) => {
            let value = if negative { -f64::from_bits(bits) } else { f64::from_bits(bits) };
            if ty.bits == 32 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
        }
        (other, _) => return parser.fail(format!("{other:?} is no value of type {ty}")),
    };
    out.extend_from_slice(&bits.to_le_bytes()[..ty.bytes() as usize]);
    Ok(())
}

/// Whether values of this type can be written in a text.
fn is_writable(ty: Type) -> bool {
    ty.sort != Sort::Pred
}
