//! The names of a kernel, and its operands.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;

use super::super::Parsed;
use super::super::statement::Operand;
use crate::Refused;
use crate::code::{Access, Reg, Src, Strength};
use crate::types::{Sort, Space, Type};

/// The most registers of a kernel, with those of its functions once for each call. Compilers declare more than they
/// use, and no more than there are instructions.
const MOST_REGISTERS: usize = 1 << 21;

/// The resolved names of a kernel.
#[derive(Default)]
pub struct Names {
    /// The registers: the slot, which one gets when it is first used, since compilers declare far more than they use.
    registers: HashMap<String, (Cell<Option<Reg>>, Type)>,
    /// The names of the registers, by slot.
    pub slots: RefCell<Vec<String>>,
    /// The spaces and addresses of variables.
    pub variables: HashMap<String, (Space, u64)>,
    /// The variables that cannot be used, and why.
    pub unusable: HashMap<String, String>,
    /// The constants of the instructions.
    pub constants: Vec<u64>,
    numbers: HashMap<u64, u32>,
    /// The line that is being decoded.
    pub line: u32,
}

impl Names {
    pub fn fail<T>(&self, message: impl Into<String>) -> Parsed<T> {
        Err(Refused::new(self.line, message))
    }

    /// The refusal of a name that stands for nothing here.
    pub fn unknown<T>(&self, name: &str) -> Parsed<T> {
        self.fail(self.unusable.get(name).cloned().unwrap_or_else(|| format!("Unknown symbol '{name}'")))
    }

    pub fn declare(&mut self, name: &str, count: Option<u32>, ty: Type) -> Parsed<()> {
        if self.registers.len() + count.unwrap_or(1) as usize > MOST_REGISTERS {
            return self
                .fail(format!("with '{name}' more than {MOST_REGISTERS} registers are declared, which are not read"));
        }
        let names: Vec<String> = match count {
            None => vec![name.to_owned()],
            Some(count) => (0..count).map(|index| format!("{name}{index}")).collect(),
        };
        for name in names {
            let is_known = self.variables.contains_key(&name) || self.registers.contains_key(&name);
            if is_known {
                return self.fail(format!("Duplicate definition of variable '{name}'"));
            }
            self.registers.insert(name, (Cell::new(None), ty));
        }
        Ok(())
    }

    pub fn declare_variable(&mut self, name: &str, space: Space, address: u64) -> Parsed<()> {
        if self.registers.contains_key(name) || self.variables.insert(name.to_owned(), (space, address)).is_some() {
            return self.fail(format!("Duplicate definition of variable '{name}'"));
        }
        Ok(())
    }

    /// A slot without a name, which receives what is written to `_`.
    fn sink(&mut self) -> Reg {
        self.slot("_")
    }

    /// Adds a register with this name; returns its number.
    fn slot(&self, name: &str) -> Reg {
        let mut slots = self.slots.borrow_mut();
        slots.push(name.to_owned());
        slots.len() as Reg - 1
    }

    pub fn constant(&mut self, bits: u64) -> Src {
        let next = self.constants.len() as u32;
        let index = *self.numbers.entry(bits).or_insert(next);
        if index == next {
            self.constants.push(bits);
        }
        Src::constant(index)
    }

    pub fn register(&self, name: &str) -> Parsed<(Reg, Type)> {
        match self.registers.get(name) {
            Some((slot, ty)) => {
                let found = slot.get().unwrap_or_else(|| self.slot(name));
                slot.set(Some(found));
                Ok((found, *ty))
            }
            None => self.unknown(name),
        }
    }

    pub fn is_register(&self, name: &str) -> bool {
        self.registers.contains_key(name)
    }

    fn mismatch<T>(&self, name: &str, has: Type, wants: Type) -> Parsed<T> {
        self.fail(format!("Arguments mismatch: '{name}' is {has}, the instruction needs {wants}"))
    }

    /// A register operand of the instruction's type and size.
    pub fn reg(&self, operand: &Operand, ty: Type) -> Parsed<Reg> {
        let Operand::Name(name) = operand else {
            return self.fail(format!("Arguments mismatch: {operand:?} is no register"));
        };
        let (reg, has) = self.register(name)?;
        if has.agrees(ty) { Ok(reg) } else { self.mismatch(name, has, ty) }
    }

    /// The register that an operand names as the destination of a result of a type.
    pub fn destination(&self, operand: &Operand, ty: Type) -> Parsed<Reg> {
        self.reg(operand, ty)
    }

    /// A destination, or `_` if the result is discarded; few instructions allow that.
    pub fn discardable(&mut self, operand: &Operand, ty: Type) -> Parsed<Reg> {
        if matches!(operand, Operand::Name(name) if name == "_") { Ok(self.sink()) } else { self.reg(operand, ty) }
    }

    /// A destination that may be wider than the type, with its width.
    pub fn wide_destination(&mut self, operand: &Operand, ty: Type) -> Parsed<(Reg, u32)> {
        let Operand::Name(name) = operand else {
            return self.fail(format!("Arguments mismatch: {operand:?} is no register"));
        };
        if name == "_" {
            return Ok((self.sink(), 64));
        }
        let (reg, has) = self.register(name)?;
        if fits(has, ty) { Ok((reg, has.bits)) } else { self.mismatch(name, has, ty) }
    }

    /// An operand of the instruction's type and size.
    pub fn src(&mut self, operand: &Operand, ty: Type) -> Parsed<Src> {
        match operand {
            Operand::Name(_) => self.reg(operand, ty).map(Src::reg),
            _ => {
                let bits = self.immediate(operand, ty)?;
                Ok(self.constant(bits))
            }
        }
    }

    /// An operand whose register may be wider than the type.
    pub fn wide_src(&mut self, operand: &Operand, ty: Type) -> Parsed<Src> {
        let Operand::Name(name) = operand else { return self.src(operand, ty) };
        let (reg, has) = self.register(name)?;
        if fits(has, ty) { Ok(Src::reg(reg)) } else { self.mismatch(name, has, ty) }
    }

    /// The bits of an immediate operand (PTX ISA 4.5, 6.4.5 "Operand constants").
    pub fn immediate(&self, operand: &Operand, ty: Type) -> Parsed<u64> {
        let bits = match (operand, ty.sort) {
            (Operand::Int(value, negative), Sort::Bits | Sort::Unsigned | Sort::Signed) => {
                let value = *value;
                let fits =
                    ty.bits == 64 || if *negative { value as i64 >= -(1 << (ty.bits - 1)) } else { value <= ty.mask() };
                if !fits {
                    return self.fail(format!("{} does not fit into {ty}", value as i64));
                }
                value & ty.mask()
            }
            (Operand::Int(value @ (0 | 1), false), Sort::Pred) => *value,
            // nvcc writes true as -1.
            (Operand::Int(u64::MAX, true), Sort::Pred) => 1,
            (Operand::Single(bits), Sort::Float | Sort::Bits) if ty.bits == 32 => u64::from(*bits),
            (Operand::Double(bits), Sort::Float | Sort::Bits) if ty.bits == 64 => *bits,
            (Operand::Double(bits), Sort::Float) => u64::from((f64::from_bits(*bits) as f32).to_bits()),
            _ => return self.fail(format!("Arguments mismatch: {operand:?} is no operand of type {ty}")),
        };
        Ok(bits)
    }

    /// The address of a load, a store or an atomic operation. A register in it is 64 bits wide, or 32 for the small
    /// spaces.
    pub fn address(&mut self, operand: &Operand, space: Space, bytes: u64) -> Parsed<Access> {
        let Operand::Address(base, offset) = operand else {
            return self.fail(format!("Arguments mismatch: {operand:?} is no address"));
        };
        let Ok(mut offset) = i32::try_from(*offset) else {
            return self.fail(format!("the offset {offset} does not fit into 32 bits"));
        };
        let mut narrow = false;
        let base = match base {
            None => {
                let bits = offset as i64 as u64;
                offset = 0;
                self.constant(bits)
            }
            Some(name) if self.is_register(name) => {
                let (reg, has) = self.register(name)?;
                let small = matches!(space, Space::Shared | Space::Local | Space::Param | Space::Const);
                if has.is_float() || !(has.bits == 64 || has.bits == 32 && small) {
                    return self.mismatch(name, has, Type::U64);
                }
                narrow = has.bits == 32;
                Src::reg(reg)
            }
            Some(name) => match self.variables.get(name).copied() {
                None => return self.unknown(name),
                Some((of, address)) if of == space => self.constant(address),
                Some((of, address)) if space == Space::Generic => match of {
                    Space::Global => self.constant(address),
                    _ => return self.fail(format!("'{name}' is not in generic space: name the space")),
                },
                Some(_) => return self.fail(format!("State space mismatch for '{name}'")),
            },
        };
        let (bytes, strength) = (bytes as u8, Strength::Weak);
        Ok(Access { space, bytes, sign_to: 0, strength, read_only: false, narrow, base, offset })
    }
}

/// Whether a register type can hold the type or is wider.
fn fits(has: Type, ty: Type) -> bool {
    let float = ty.is_float() || has.is_float();
    if float { has.agrees(ty) } else { has.bits >= ty.bits && has.agrees_in_sort(ty) }
}
