//! Loads and stores of matrices by warps as shuffles of addresses, and loads and stores (PTX ISA 8.8, 9.7.14.5.15 "ldmatrix",
//! 9.7.14.5.16 "stmatrix").
//!
//! A matrix has 8 rows of 8 items of 16 bits. Lane `8 i + r` gives the address of row `r` of matrix `i`. In its register for
//! matrix `i` lane `t` holds the items `2 (t % 4)` and `2 (t % 4) + 1` of row `t / 4`; with `.trans` it holds those of column
//! `t / 4`.

use std::borrow::Cow;

use super::parse::Parsed;
use super::statement::{Instruction, Operand, Statement};
use crate::Refused;
use crate::types::{Sort, Type};

fn is_of_matrices(statement: &Statement) -> bool {
    let name = |instruction: &Instruction| instruction.opcode.split('.').next().map(str::to_owned);
    matches!(statement, Statement::Instruction(instruction)
        if matches!(name(instruction).as_deref(), Some("ldmatrix" | "stmatrix")))
}

/// A body without loads and stores of matrices.
pub fn expanded(body: Cow<'_, [Statement]>) -> Parsed<Cow<'_, [Statement]>> {
    if !body.iter().any(is_of_matrices) {
        return Ok(body);
    }
    let mut out = Vec::new();
    for (number, statement) in body.iter().enumerate() {
        match statement {
            Statement::Instruction(of) if is_of_matrices(statement) => {
                Expansion { of, number, is_wide: is_wide(of, &body), out: &mut out }.expand()?;
            }
            other => out.push(other.clone()),
        }
    }
    Ok(Cow::Owned(out))
}

/// Whether the address is in a register of 64 bits.
fn is_wide(of: &Instruction, body: &[Statement]) -> bool {
    let base = of.operands.iter().find_map(|operand| match operand {
        Operand::Address(base, _) => base.as_deref(),
        _ => None,
    });
    let declares = |statement: &Statement| match (statement, base) {
        (Statement::Register { ty, name, count, .. }, Some(base)) if ty.bits == 64 => match count {
            None => name == base,
            Some(_) => base.strip_prefix(name.as_str()).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit())),
        },
        _ => false,
    };
    body.iter().any(declares)
}

struct Expansion<'s> {
    of: &'s Instruction,
    /// The number of the instruction in its body, for the names of its registers.
    number: usize,
    is_wide: bool,
    out: &'s mut Vec<Statement>,
}

impl Expansion<'_> {
    fn refuse<T>(&self, why: &str) -> Parsed<T> {
        Err(Refused { instruction: self.of.text.clone(), ..Refused::new(self.of.line, why) })
    }

    fn emit(&mut self, guard: Option<(String, bool)>, opcode: &str, operands: Vec<Operand>) {
        let (opcode, line, text) = (opcode.to_owned(), self.of.line, self.of.text.clone());
        self.out.push(Statement::Instruction(Instruction { guard, opcode, operands, line, text }));
    }

    fn act(&mut self, opcode: &str, operands: Vec<Operand>) {
        self.emit(None, opcode, operands);
    }

    /// A register of 32 bits of that name.
    fn register(&mut self, name: &str) -> Operand {
        let name = format!("{name}#{}", self.number);
        let ty = Type { sort: Sort::Bits, bits: 32 };
        self.out.push(Statement::Register { ty, name: name.clone(), count: None, line: self.of.line });
        Operand::Name(name)
    }

    fn expand(&mut self) -> Parsed<()> {
        let loads = self.of.opcode.starts_with("ldmatrix");
        let (count, transposed) = self.shape(loads)?;
        let (address, values) = match (loads, self.of.operands.as_slice()) {
            (true, [values, address]) | (false, [address, values]) => (address.clone(), values.clone()),
            _ => return self.refuse("a load or store of matrices has an address and a vector of registers"),
        };
        let values = match values {
            Operand::Vector(values) => values,
            one => vec![one],
        };
        let Operand::Address(base, offset) = address else {
            return self.refuse("a load or store of matrices has an address in '.shared'");
        };
        if values.len() != count {
            return self.refuse("a load or store of matrices has one register for each of them");
        }
        let skip = format!("matrix#{}.skip", self.number);
        if let Some((guard, negated)) = self.of.guard.clone() {
            self.emit(Some((guard, !negated)), "bra", vec![Operand::Name(skip.clone())]);
        }
        let number = |value: i64| Operand::Int(value as u64, value < 0);
        let lane = self.register("lane");
        self.act("mov.u32", vec![lane.clone(), Operand::Name("%laneid".into())]);
        let (row, column) = (self.register("row"), self.register("column"));
        self.act("shr.u32", vec![row.clone(), lane.clone(), number(2)]);
        self.act("and.b32", vec![column.clone(), lane, number(3)]);
        let own = self.register("own");
        match base {
            Some(base) if self.is_wide => self.act("cvt.u32.u64", vec![own.clone(), Operand::Name(base)]),
            Some(base) => self.act("mov.b32", vec![own.clone(), Operand::Name(base)]),
            None => self.act("mov.b32", vec![own.clone(), number(0)]),
        }
        self.act("add.s32", vec![own.clone(), own.clone(), number(offset)]);
        // The lane that has the address, and the bytes behind it: with `.trans` for both items of the register.
        let (from, bytes) = if transposed {
            self.act("shl.b32", vec![column.clone(), column.clone(), number(1)]);
            self.act("shl.b32", vec![row.clone(), row.clone(), number(1)]);
            (column, row)
        } else {
            self.act("shl.b32", vec![column.clone(), column.clone(), number(2)]);
            (row, column)
        };
        let (asked, at) = (self.register("asked"), self.register("at"));
        let item = self.register("item");
        for (value, matrix) in values.iter().zip(0..) {
            for half in 0..if transposed { 2 } else { 1 } {
                self.act("add.s32", vec![asked.clone(), from.clone(), number(8 * matrix + half)]);
                let mask = Operand::Int(u32::MAX.into(), false);
                self.act("shfl.sync.idx.b32", vec![at.clone(), own.clone(), asked.clone(), number(31), mask]);
                self.act("add.s32", vec![at.clone(), at.clone(), bytes.clone()]);
                let Operand::Name(at) = &at else { continue };
                let place = Operand::Address(Some(at.clone()), 0);
                match (loads, transposed, half) {
                    (true, false, _) => self.act("ld.shared.b32", vec![value.clone(), place]),
                    (true, true, 0) => self.act("ld.shared.u16", vec![item.clone(), place]),
                    (true, true, _) => {
                        let high = asked.clone();
                        self.act("ld.shared.u16", vec![high.clone(), place]);
                        self.act("shl.b32", vec![high.clone(), high.clone(), number(16)]);
                        self.act("or.b32", vec![value.clone(), item.clone(), high]);
                    }
                    (false, false, _) => self.act("st.shared.b32", vec![place, value.clone()]),
                    (false, true, _) => {
                        self.act("shr.u32", vec![item.clone(), value.clone(), number(16 * half)]);
                        self.act("st.shared.u16", vec![place, item.clone()]);
                    }
                }
            }
        }
        self.out.push(Statement::Label(skip, self.of.line));
        Ok(())
    }

    /// How many matrices there are, and whether they are transposed.
    fn shape(&self, loads: bool) -> Parsed<(usize, bool)> {
        let words: Vec<&str> = self.of.opcode.split('.').skip(1).collect();
        let ["sync", "aligned", "m8n8", rest @ ..] = words.as_slice() else {
            return self
                .refuse("of matrices in memory only those of 8 × 8 items of 16 bits are known here: 'm8n8', 'b16'");
        };
        let (count, rest) = match rest {
            ["x1", rest @ ..] => (1, rest),
            ["x2", rest @ ..] => (2, rest),
            ["x4", rest @ ..] => (4, rest),
            _ => return self.refuse("a load or store of matrices has '.x1', '.x2' or '.x4'"),
        };
        let (transposed, rest) = match rest {
            ["trans", rest @ ..] => (true, rest),
            rest => (false, rest),
        };
        match rest {
            ["shared" | "shared::cta", "b16"] => Ok((count, transposed)),
            ["b16"] => self.refuse("matrices are known in '.shared' memory only: a generic address is not"),
            _ if loads => self.refuse("matrices are loaded as 'ldmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16'"),
            _ => self.refuse("matrices are stored as 'stmatrix.sync.aligned.m8n8.xN{.trans}.shared.b16'"),
        }
    }
}
