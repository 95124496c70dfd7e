//! Atomic operations on several numbers as one on each: packed ones (`.f16x2`, `.bf16x2`) and vectors (PTX ISA 8.8,
//! 9.7.13.5 "atom", 9.7.13.6 "red").
//!
//! The ISA guarantees atomicity for each element by itself, and not for all of them together: others may see one
//! without the next.

use std::borrow::Cow;

use super::Parsed;
use super::expansion::Expansion;
use super::statement::{Instruction, Operand, Statement};
use crate::types::{Sort, Type};

/// The types of two numbers in a register of 32 bits, and that of each.
const PACKED: [(&str, &str); 2] = [("f16x2", "f16"), ("bf16x2", "bf16")];

const BITS: Type = Type { sort: Sort::Bits, bits: 16 };

/// What the opcode says of its elements.
struct Elements {
    /// The registers of an operand, where it is a vector.
    vector: Option<usize>,
    /// Whether each register holds two numbers.
    packed: bool,
    /// The size of a number in bytes.
    bytes: i64,
    /// The opcode for one number, in the order of the ISA.
    opcode: String,
}

impl Elements {
    /// `None` for an instruction on one number, and for others.
    fn of(instruction: &Instruction) -> Option<Elements> {
        let words: Vec<&str> = instruction.opcode.split('.').collect();
        if !matches!(words.first(), Some(&("atom" | "red"))) {
            return None;
        }
        let vector = words.iter().find_map(|word| match *word {
            "v2" => Some(2),
            "v4" => Some(4),
            "v8" => Some(8),
            _ => None,
        });
        let packed = PACKED.iter().find(|(packed, _)| words.contains(packed)).map(|(_, of)| *of);
        if vector.is_none() && packed.is_none() {
            return None;
        }
        let single = ["f16", "bf16", "f32"].into_iter().find(|ty| words.contains(ty));
        let ty = packed.or(single).unwrap_or("f32");
        // The ISA's own examples have the type before the operation, and its syntax behind it.
        let (mut front, mut behind) = (Vec::new(), Vec::new());
        for word in words {
            match word {
                "v2" | "v4" | "v8" | "f16" | "bf16" | "f32" | "f16x2" | "bf16x2" => {}
                "add" | "min" | "max" | "noftz" => behind.push(word),
                word => front.push(word),
            }
        }
        let opcode = [front, behind, vec![ty]].concat().join(".");
        Some(Elements { vector, packed: packed.is_some(), bytes: if ty == "f32" { 4 } else { 2 }, opcode })
    }

    /// The registers of an operand.
    fn registers(&self, expansion: &Expansion<'_>, operand: &Operand) -> Parsed<Vec<Operand>> {
        match (self.vector, operand) {
            (Some(count), Operand::Vector(items)) if items.len() == count => Ok(items.clone()),
            (Some(count), Operand::Name(name)) if name == "_" => Ok(vec![operand.clone(); count]),
            (Some(count), _) => expansion.refuse(&format!("its operands are vectors of {count} registers")),
            (None, _) => Ok(vec![operand.clone()]),
        }
    }
}

fn is_of_elements(statement: &Statement) -> bool {
    matches!(statement, Statement::Instruction(instruction) if Elements::of(instruction).is_some())
}

/// A body whose atomic operations are on one number each.
pub fn expanded(body: Cow<'_, [Statement]>) -> Parsed<Cow<'_, [Statement]>> {
    if !body.iter().any(is_of_elements) {
        return Ok(body);
    }
    let mut out = Vec::new();
    for (number, statement) in body.iter().enumerate() {
        match statement {
            Statement::Instruction(of) => match Elements::of(of) {
                Some(elements) => expand(Expansion { of, number, registers: 0, out: &mut out }, &elements)?,
                None => out.push(statement.clone()),
            },
            Statement::Register { .. }
            | Statement::Variable(_)
            | Statement::Targets { .. }
            | Statement::Label(..)
            | Statement::Loc(_)
            | Statement::Scope(_) => out.push(statement.clone()),
        }
    }
    Ok(Cow::Owned(out))
}

fn expand(mut expansion: Expansion<'_>, elements: &Elements) -> Parsed<()> {
    let of = expansion.of;
    let gives = elements.opcode.starts_with("atom");
    let (to, others) = match of.operands.split_first() {
        Some((to, others)) if gives => (Some(to), others),
        _ => (None, of.operands.as_slice()),
    };
    let [address, with, policy @ ..] = others else {
        return expansion.refuse("it lacks an address or an operand");
    };
    let Operand::Address(base, offset) = address else {
        return expansion.refuse("an address is written in brackets");
    };
    let given = elements.registers(&expansion, with)?;
    let results = to.map(|to| elements.registers(&expansion, to)).transpose()?;
    let skip = expansion.guarded();
    let mut behind = 0;
    for (number, given) in given.into_iter().enumerate() {
        let result = results.as_ref().map(|results| results[number].clone());
        let keeps = result.as_ref().is_some_and(|result| !matches!(result, Operand::Name(name) if name == "_"));
        let (mut parts, mut kept) = (vec![given.clone()], Vec::new());
        if elements.packed {
            parts = vec![expansion.typed(BITS), expansion.typed(BITS)];
            expansion.act("mov.b32", vec![Operand::Vector(parts.clone()), given]);
        }
        for part in parts {
            let to = match &result {
                Some(_) if elements.packed && keeps => {
                    kept.push(expansion.typed(BITS));
                    kept.last().cloned()
                }
                other => other.clone(),
            };
            let at = Operand::Address(base.clone(), offset + behind);
            behind += elements.bytes;
            expansion.act(&elements.opcode, to.into_iter().chain([at, part]).chain(policy.iter().cloned()).collect());
        }
        if let (Some(result), [_, ..]) = (result, kept.as_slice()) {
            expansion.act("mov.b32", vec![result, Operand::Vector(kept)]);
        }
    }
    expansion.label(skip);
    Ok(())
}
