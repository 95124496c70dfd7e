//! Loads and stores of matrices by warps as shuffles of addresses, and loads and stores (PTX ISA 8.8, 9.7.14.5.15
//! "ldmatrix", 9.7.14.5.16 "stmatrix").
//!
//! A matrix has 8 rows of 8 items of 16 bits. Lane `8 i + r` gives the address of row `r` of matrix `i`. In its
//! register for matrix `i` lane `t` holds the items `2 (t % 4)` and `2 (t % 4) + 1` of row `t / 4`; with `.trans` it
//! holds those of column `t / 4`.

use std::borrow::Cow;

use super::Parsed;
use super::expansion::Expansion;
use super::products;
use super::statement::{Operand, Statement};

/// What an instruction of matrices does.
#[derive(Clone, Copy, PartialEq)]
enum Does {
    Load,
    Store,
    Multiply,
}

fn of_matrices(statement: &Statement) -> Option<Does> {
    let Statement::Instruction(instruction) = statement else { return None };
    match instruction.opcode.split('.').next() {
        Some("ldmatrix") => Some(Does::Load),
        Some("stmatrix") => Some(Does::Store),
        Some("mma") => Some(Does::Multiply),
        _ => None,
    }
}

/// A body without instructions of matrices.
pub fn expanded(body: Cow<'_, [Statement]>) -> Parsed<Cow<'_, [Statement]>> {
    if !body.iter().any(|statement| of_matrices(statement).is_some()) {
        return Ok(body);
    }
    let mut out = Vec::new();
    for (number, statement) in body.iter().enumerate() {
        match (statement, of_matrices(statement)) {
            (Statement::Instruction(of), Some(does)) => {
                let expansion = Expansion { of, number, registers: 0, out: &mut out };
                match does {
                    Does::Load => moved(expansion, true, &body)?,
                    Does::Store => moved(expansion, false, &body)?,
                    Does::Multiply => products::expand(expansion)?,
                }
            }
            (other, _) => out.push(other.clone()),
        }
    }
    Ok(Cow::Owned(out))
}

/// Whether an address is in a register of 64 bits.
fn is_wide(base: &str, body: &[Statement]) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    body.iter().any(|statement| {
        let Statement::Register { ty, name, count, .. } = statement else { return false };
        let is_it = match count {
            None => name == base,
            Some(_) => base.strip_prefix(name.as_str()).is_some_and(|number| number.bytes().all(is_digit)),
        };
        is_it && ty.bits == 64
    })
}

/// Puts shuffles and accesses in the place of an `ldmatrix` or a `stmatrix`.
fn moved(mut expansion: Expansion<'_>, loads: bool, body: &[Statement]) -> Parsed<()> {
    let expansion = &mut expansion;
    let (count, transposed) = shape(expansion)?;
    let (Operand::Address(base, offset), values) = (match (loads, expansion.of.operands.as_slice()) {
        (true, [values, address]) | (false, [address, values]) => (address.clone(), values.clone()),
        _ => return expansion.refuse("a load or store of matrices has an address and a vector of registers"),
    }) else {
        return expansion.refuse("a load or store of matrices has an address in '.shared'");
    };
    let values = match values {
        Operand::Vector(values) => values,
        one => vec![one],
    };
    if values.len() != count {
        return expansion.refuse("a load or store of matrices has one register for each of them");
    }
    let number = Expansion::number;
    let skip = expansion.guarded();
    let (lane, row, column) = (expansion.lane(), expansion.register(), expansion.register());
    expansion.act("shr.u32", vec![row.clone(), lane.clone(), number(2)]);
    expansion.act("and.b32", vec![column.clone(), lane, number(3)]);
    let own = expansion.register();
    match base {
        Some(base) if is_wide(&base, body) => expansion.act("cvt.u32.u64", vec![own.clone(), Operand::Name(base)]),
        Some(base) => expansion.act("mov.b32", vec![own.clone(), Operand::Name(base)]),
        None => expansion.act("mov.b32", vec![own.clone(), number(0)]),
    }
    expansion.act("add.s32", vec![own.clone(), own.clone(), number(offset)]);
    // The first lane that has the address, and the bytes behind it: with `.trans` for both items of the register.
    let (from, bytes) = if transposed {
        expansion.act("shl.b32", vec![column.clone(), column.clone(), number(1)]);
        expansion.act("shl.b32", vec![row.clone(), row.clone(), number(1)]);
        (column, row)
    } else {
        expansion.act("shl.b32", vec![column.clone(), column.clone(), number(2)]);
        (row, column)
    };
    let (low, high) = (expansion.register(), expansion.register());
    for (value, matrix) in values.iter().zip(0..) {
        for half in 0..if transposed { 2 } else { 1 } {
            let at = expansion.shuffled(&own, &from, 8 * matrix + half);
            expansion.act("add.s32", vec![at.clone(), at.clone(), bytes.clone()]);
            let Operand::Name(at) = at else { continue };
            let place = Operand::Address(Some(at), 0);
            match (loads, transposed, half) {
                (true, false, _) => expansion.act("ld.shared.b32", vec![value.clone(), place]),
                (true, true, 0) => expansion.act("ld.shared.u16", vec![low.clone(), place]),
                (true, true, _) => {
                    expansion.act("ld.shared.u16", vec![high.clone(), place]);
                    expansion.act("shl.b32", vec![high.clone(), high.clone(), number(16)]);
                    expansion.act("or.b32", vec![value.clone(), low.clone(), high.clone()]);
                }
                (false, false, _) => expansion.act("st.shared.b32", vec![place, value.clone()]),
                (false, true, _) => {
                    expansion.act("shr.u32", vec![low.clone(), value.clone(), number(16 * half)]);
                    expansion.act("st.shared.u16", vec![place, low.clone()]);
                }
            }
        }
    }
    expansion.label(skip);
    Ok(())
}

/// How many matrices are loaded or stored, and whether they are transposed.
fn shape(expansion: &Expansion<'_>) -> Parsed<(usize, bool)> {
    let words: Vec<&str> = expansion.of.opcode.split('.').skip(1).collect();
    let ["sync", "aligned", "m8n8", rest @ ..] = words.as_slice() else {
        return expansion
            .refuse("of matrices in memory only those of 8 × 8 items of 16 bits are known here: 'm8n8', 'b16'");
    };
    let (count, rest) = match rest {
        ["x1", rest @ ..] => (1, rest),
        ["x2", rest @ ..] => (2, rest),
        ["x4", rest @ ..] => (4, rest),
        _ => return expansion.refuse("a load or store of matrices has '.x1', '.x2' or '.x4'"),
    };
    let (transposed, rest) = match rest {
        ["trans", rest @ ..] => (true, rest),
        rest => (false, rest),
    };
    match rest {
        ["shared" | "shared::cta", "b16"] => Ok((count, transposed)),
        ["b16"] => expansion.refuse("matrices are known in '.shared' memory only: a generic address is not"),
        _ => expansion.refuse("matrices are loaded and stored as '.m8n8.xN{.trans}.shared.b16'"),
    }
}
