//! Composites: vectors, arrays and structures made of parts, and their parts.

use super::Lowering;
use crate::code::Src;
use crate::refused::Refused;
use crate::spirv::instruction::{Id, Instruction};

impl Lowering<'_> {
    pub(super) fn construct(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let parts = instruction.operands.iter().map(|&part| self.parts(part, instruction));
        let parts = parts.collect::<Result<Vec<_>, _>>()?.concat();
        self.set_parts(instruction, parts)
    }

    pub(super) fn extract(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let of = instruction.operand(0)?;
        let (from, to) = self.part_of(of, instruction.rest(1), instruction)?;
        let parts = self.parts(of, instruction)?;
        let parts = parts.get(from..to).ok_or_else(|| instruction.refused("there is no such part"))?.to_vec();
        self.set_parts(instruction, parts)
    }

    pub(super) fn insert(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (part, of) = (instruction.operand(0)?, instruction.operand(1)?);
        let (from, to) = self.part_of(of, instruction.rest(2), instruction)?;
        let (part, mut parts) = (self.parts(part, instruction)?, self.parts(of, instruction)?);
        if to > parts.len() || part.len() != to - from {
            return Err(instruction.refused("the part does not fit"));
        }
        parts[from..to].copy_from_slice(&part);
        self.set_parts(instruction, parts)
    }

    pub(super) fn shuffle_vectors(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let (first, second) = (instruction.operand(0)?, instruction.operand(1)?);
        let all = [self.parts(first, instruction)?, self.parts(second, instruction)?].concat();
        let any = if instruction.rest(2).contains(&u32::MAX) { self.undefined() } else { self.constant(0) };
        // The number 0xFFFFFFFF stands for an undefined part.
        let pick = |&number: &u32| match number {
            u32::MAX => Some(any),
            number => all.get(number as usize).copied(),
        };
        let parts: Option<Vec<Src>> = instruction.rest(2).iter().map(pick).collect();
        let parts = parts.ok_or_else(|| instruction.refused("there is no such part"))?;
        self.set_parts(instruction, parts)
    }

    /// The scalars of a part, by the numbers of the parts that lead to it.
    fn part_of(&self, of: Id, numbers: &[u32], by: &Instruction) -> Result<(usize, usize), Refused> {
        let mut ty = self.type_of(of, by)?;
        let count = |ty| self.types.leaves(ty).map(|leaves| leaves.len());
        let wrong = || by.refused("there is no such part");
        let mut from = 0;
        for &number in numbers {
            for before in 0..number {
                let (part, _) = self.types.part(ty, before.into()).ok_or_else(wrong)?;
                from += count(part).ok_or_else(wrong)?;
            }
            ty = self.types.part(ty, number.into()).ok_or_else(wrong)?.0;
        }
        Ok((from, from + count(ty).ok_or_else(wrong)?))
    }

    pub(super) fn extract_dynamic(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let parts = self.parts(instruction.operand(0)?, instruction)?;
        let index = self.scalar(instruction.operand(1)?, instruction)?;
        let mut chosen = parts.first().copied().ok_or_else(|| instruction.refused("the vector has no parts"))?;
        self.trap_beyond(index, parts.len() as u64)?;
        for (number, &part) in (0..).zip(&parts) {
            let number = self.constant(number);
            let here = self.two(|a, b| (a == b).into(), index, number)?;
            chosen = self.chosen(here, part, chosen)?;
        }
        self.set_parts(instruction, vec![chosen])
    }

    pub(super) fn insert_dynamic(&mut self, instruction: &Instruction) -> Result<(), Refused> {
        let mut parts = self.parts(instruction.operand(0)?, instruction)?;
        let part = self.scalar(instruction.operand(1)?, instruction)?;
        let index = self.scalar(instruction.operand(2)?, instruction)?;
        self.trap_beyond(index, parts.len() as u64)?;
        for (number, old) in (0..).zip(&mut parts) {
            let number = self.constant(number);
            let here = self.two(|a, b| (a == b).into(), index, number)?;
            *old = self.chosen(here, part, *old)?;
        }
        self.set_parts(instruction, parts)
    }
}
