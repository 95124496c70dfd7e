//! Products of matrices by warps as shuffles, and products and sums of numbers (PTX ISA 8.8, 9.7.14.5 "Matrix
//! multiply-accumulate operation using mma instruction").
//!
//! `mma.m16n8kK` adds a matrix of 16 rows and K columns times one of K rows and 8 columns to one of 16 rows and 8
//! columns. Lane `4 g + t` holds of the first the rows `g` and `g + 8`, of the second the column `g`, of the sum the
//! columns `2 t` and `2 t + 1` of the rows `g` and `g + 8`: it gets the rows of the first from the lanes of its own
//! `g`, and the columns of the second from the lanes of `2 t` and `2 t + 1`.
//!
//! In which order and with which roundings a device adds up is left to it (9.7.14.5.14): a sum that has to round may be
//! anything.

use super::Parsed;
use super::expansion::Expansion;
use super::statement::Operand;
use crate::types::{Sort, Type};

/// The opcode of a sum of floats that may be anything where it rounds. No text has it, since a space is in it.
pub const SUM: &str = "matrix sum";

/// The numbers in a register.
#[derive(Clone, Copy, PartialEq)]
enum Items {
    Binary16,
    Bfloat16,
    /// A float of 32 bits, of whose significand the upper 10 bits count.
    Tf32,
}

impl Items {
    /// How many columns of the first matrix, which are rows of the second, a register of each of four lanes holds.
    fn columns(self) -> usize {
        match self {
            Items::Binary16 | Items::Bfloat16 => 8,
            Items::Tf32 => 4,
        }
    }
}

/// The type of the numbers, and the number of columns of the first matrix.
fn shape(expansion: &Expansion<'_>) -> Parsed<(Items, usize)> {
    let words: Vec<&str> = expansion.of.opcode.split('.').skip(1).collect();
    let known = match words.as_slice() {
        ["sync", "aligned", shape, "row", "col", "f32", one, other, "f32"] if one == other => match (*shape, *one) {
            ("m16n8k8", "f16") => Some((Items::Binary16, 8)),
            ("m16n8k16", "f16") => Some((Items::Binary16, 16)),
            ("m16n8k8", "bf16") => Some((Items::Bfloat16, 8)),
            ("m16n8k16", "bf16") => Some((Items::Bfloat16, 16)),
            ("m16n8k4", "tf32") => Some((Items::Tf32, 4)),
            ("m16n8k8", "tf32") => Some((Items::Tf32, 8)),
            _ => None,
        },
        _ => None,
    };
    match known {
        Some(known) => Ok(known),
        None => expansion.refuse(
            "of products of matrices those of f16, bf16 and tf32 that are added up in f32 are known here: \
             'mma.sync.aligned.m16n8kK.row.col.f32.T.T.f32'",
        ),
    }
}

/// The vector of an operand, of that many registers.
fn vector<'o>(expansion: &Expansion<'_>, operand: &'o Operand, count: usize) -> Parsed<&'o [Operand]> {
    match operand {
        Operand::Vector(items) if items.len() == count => Ok(items),
        _ => expansion.refuse("an operand of 'mma' is a vector of as many registers as its shape has"),
    }
}

/// Puts shuffles and arithmetic in the place of an `mma`.
pub fn expand(mut expansion: Expansion<'_>) -> Parsed<()> {
    let expansion = &mut expansion;
    let (items, columns) = shape(expansion)?;
    let registers = columns / items.columns();
    let [to, first, second, added] = expansion.of.operands.as_slice() else {
        return expansion.refuse("'mma' has four operands: d, a, b, c");
    };
    let (to, added) = (vector(expansion, to, 4)?.to_vec(), vector(expansion, added, 4)?.to_vec());
    let first = vector(expansion, first, 2 * registers)?.to_vec();
    let second = match second {
        one @ Operand::Name(_) if registers == 1 => vec![one.clone()],
        many => vector(expansion, many, registers)?.to_vec(),
    };
    let skip = expansion.guarded();
    let lane = expansion.lane();
    let (row, column) = (expansion.register(), expansion.register());
    // The first lane that has these rows of the first matrix, and the one that has the first of these columns of the
    // second.
    expansion.act("and.b32", vec![row.clone(), lane.clone(), Expansion::number(!3)]);
    expansion.act("and.b32", vec![column.clone(), lane, Expansion::number(3)]);
    expansion.act("shl.b32", vec![column.clone(), column.clone(), Expansion::number(3)]);
    let rows = [0, 1].map(|half| line(expansion, items, first.iter().skip(half).step_by(2), &row, 0));
    let columns = [0, 4].map(|behind| line(expansion, items, second.iter(), &column, behind));
    let mut sums = Vec::new();
    for (place, added) in added.iter().enumerate() {
        let sum = float(expansion);
        expansion.act("mov.b32", vec![sum.clone(), added.clone()]);
        let product = float(expansion);
        for (one, other) in rows[place >> 1].iter().zip(&columns[place & 1]) {
            expansion.act("mul.rn.f32", vec![product.clone(), one.clone(), other.clone()]);
            expansion.act(SUM, vec![sum.clone(), sum.clone(), product.clone()]);
        }
        sums.push(sum);
    }
    for (to, sum) in to.into_iter().zip(sums) {
        expansion.act("mov.b32", vec![to, sum]);
    }
    expansion.label(skip);
    Ok(())
}

/// The numbers of a row of the first matrix, or of a column of the second, which four lanes from `first + behind` on
/// hold in these registers.
fn line<'o>(
    expansion: &mut Expansion<'_>,
    items: Items,
    registers: impl Iterator<Item = &'o Operand>,
    first: &Operand,
    behind: i64,
) -> Vec<Operand> {
    let mut found = Vec::new();
    for held in registers {
        for lane in 0..4 {
            let word = expansion.shuffled(held, first, behind + lane);
            found.extend(numbers(expansion, items, &word));
        }
    }
    found
}

/// A new register with a float of 32 bits.
fn float(expansion: &mut Expansion<'_>) -> Operand {
    expansion.typed(Type { sort: Sort::Float, bits: 32 })
}

/// The numbers in a register, as floats of 32 bits.
fn numbers(expansion: &mut Expansion<'_>, items: Items, word: &Operand) -> Vec<Operand> {
    let halves = match items {
        Items::Tf32 => {
            let item = float(expansion);
            expansion.act("and.b32", vec![word.clone(), word.clone(), Expansion::number(!0x1fff)]);
            expansion.act("mov.b32", vec![item.clone(), word.clone()]);
            return vec![item];
        }
        Items::Binary16 => [None, None],
        Items::Bfloat16 => [Some("shl.b32"), Some("and.b32")],
    };
    let mut found = Vec::new();
    for (place, opcode) in halves.into_iter().enumerate() {
        let item = float(expansion);
        match opcode {
            Some(opcode) => {
                let bits = expansion.register();
                let by = if place == 0 { 16 } else { !0xffff };
                expansion.act(opcode, vec![bits.clone(), word.clone(), Expansion::number(by)]);
                expansion.act("mov.b32", vec![item.clone(), bits]);
            }
            None => {
                let half = expansion.typed(Type { sort: Sort::Bits, bits: 16 });
                let parts = if place == 0 {
                    [half.clone(), Operand::Name("_".into())]
                } else {
                    [Operand::Name("_".into()), half.clone()]
                };
                expansion.act("mov.b32", vec![Operand::Vector(parts.to_vec()), word.clone()]);
                expansion.act("cvt.f32.f16", vec![item.clone(), half]);
            }
        }
        found.push(item);
    }
    found
}
