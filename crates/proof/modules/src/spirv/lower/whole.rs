//! Variables of a thread that are only loaded and stored whole: their contents are registers, so that what is live and
//! what a loop waits for is seen, as in the forms that compilers bring such variables to. A built-in variable is its
//! value.

use std::collections::HashSet;

use rspirv::spirv::{BuiltIn, Op as Opcode};

use super::{Lowering, Value};
use crate::code::{Op, Special, Src};
use crate::refused::Refused;
use crate::spirv::instruction::{Id, Instruction};
use crate::spirv::module::Spirv;

/// The most scalars of a variable that is registers.
const MOST_REGISTERS: usize = 64;

/// The variables that nothing but loads and stores of all that they hold refers to. An operand that is a number may be
/// taken for one, and then the variable is memory, as any other.
pub(super) fn accessed_whole(module: &Spirv) -> HashSet<Id> {
    let instructions = &module.listing.instructions;
    let variables = instructions.iter().filter(|instruction| instruction.op == Opcode::Variable);
    let mut whole: HashSet<Id> = variables.clone().filter_map(|variable| variable.result).collect();
    variables.flat_map(|variable| variable.rest(1)).for_each(|id| {
        whole.remove(id);
    });
    let blocks = module.functions.values().flat_map(|function| &function.blocks);
    for instruction in blocks.flat_map(|block| block.body.clone()).map(|number| module.instruction(number)) {
        let others = match instruction.op {
            Opcode::Load | Opcode::Variable | Opcode::Line | Opcode::NoLine => &[],
            Opcode::LifetimeStart | Opcode::LifetimeStop => &[],
            Opcode::ExtInst if module.is_debug(instruction) => &[],
            Opcode::CompositeExtract => instruction.operands.get(..1).unwrap_or_default(),
            Opcode::Store => instruction.operands.get(1..2).unwrap_or_default(),
            _ => instruction.rest(0),
        };
        others.iter().for_each(|id| {
            whole.remove(id);
        });
    }
    whole
}

impl Lowering<'_> {
    /// Gives a function's variable registers for its contents; `false` for one that is memory.
    pub(super) fn registers_of_variable(&mut self, variable: &Instruction, to: Id) -> Result<bool, Refused> {
        let id = variable.id()?;
        let leaves = self.types.leaves(to).filter(|leaves| leaves.len() <= MOST_REGISTERS && self.whole.contains(&id));
        let Some(leaves) = leaves else { return Ok(false) };
        let name = self.module.name(id);
        let registers: Vec<_> = leaves.iter().map(|_| self.register(&name)).collect();
        match variable.operands.get(1) {
            Some(&initializer) => {
                for (&d, a) in registers.iter().zip(self.parts(initializer, variable)?) {
                    self.emit(Op::Mov { d, a })?;
                }
            }
            // Each call has a variable of its own.
            None if self.calls.len() > 1 => {
                let a = self.undefined();
                registers.iter().try_for_each(|&d| self.emit(Op::Mov { d, a }))?;
            }
            None => self.unfixed.extend(&registers),
        }
        self.set(variable, Value::Registers(registers, to))?;
        Ok(true)
    }

    /// What a load reads of a variable that is no memory; `None` where it reads memory.
    pub(super) fn load_whole(&mut self, load: &Instruction) -> Result<Option<Vec<Src>>, Refused> {
        let (parts, of) = match self.value(load.operand(0)?, load)? {
            Value::Parts(_) | Value::Pointer(_) => return Ok(None),
            Value::Registers(registers, of) => {
                let (registers, of) = (registers.clone(), *of);
                // Later stores change the variable, and not what was loaded.
                let copies = registers.into_iter().map(|from| {
                    let d = self.register("");
                    self.emit(Op::Mov { d, a: Src::reg(from) })?;
                    Ok(Src::reg(d))
                });
                (copies.collect::<Result<Vec<_>, Refused>>()?, of)
            }
            Value::BuiltIn(which, of) => {
                let (which, of) = (*which, *of);
                (self.built_in(which)?, of)
            }
        };
        if of != load.ty()? {
            return Err(load.refused("its type is not that of the variable"));
        }
        Ok(Some(parts))
    }

    /// Stores to a variable that is registers; `false` where the store is one to memory.
    pub(super) fn store_whole(&mut self, store: &Instruction) -> Result<bool, Refused> {
        let object = store.operand(1)?;
        let (registers, to) = match self.value(store.operand(0)?, store)? {
            Value::Parts(_) | Value::Pointer(_) => return Ok(false),
            Value::Registers(registers, to) => (registers.clone(), *to),
            Value::BuiltIn(..) => return Err(store.refused("built-in variables are not written to")),
        };
        if to != self.type_of(object, store)? {
            return Err(store.refused("its type is not that of the variable"));
        }
        for (d, a) in registers.into_iter().zip(self.parts(object, store)?) {
            self.emit(Op::Mov { d, a })?;
        }
        Ok(true)
    }

    /// Whether a built-in variable with that many scalars of at least 32 bits is no memory.
    pub(super) fn is_special(&self, which: BuiltIn, ty: Id) -> bool {
        let scalars = match which {
            BuiltIn::WorkgroupId | BuiltIn::LocalInvocationId | BuiltIn::NumWorkgroups | BuiltIn::WorkgroupSize => 3,
            BuiltIn::SubgroupId | BuiltIn::SubgroupSize | BuiltIn::SubgroupLocalInvocationId => 1,
            BuiltIn::LocalInvocationIndex if self.shape.local_size[1..] == [1; 2] => 1,
            _ => return false,
        };
        let leaves = self.types.leaves(ty).unwrap_or_default();
        leaves.len() == scalars && leaves.iter().all(|leaf| leaf.ty.bits >= 32)
    }

    /// The scalars of such a variable.
    fn built_in(&mut self, which: BuiltIn) -> Result<Vec<Src>, Refused> {
        let shape = self.shape;
        let mut special = |which| {
            let d = self.register("");
            self.emit(Op::Special { which, d })?;
            Ok(Src::reg(d))
        };
        match which {
            BuiltIn::WorkgroupId => (0..3).map(|d| special(Special::Block(d))).collect(),
            BuiltIn::LocalInvocationId => (0..3).map(|d| special(Special::Thread(d))).collect(),
            BuiltIn::LocalInvocationIndex => Ok(vec![special(Special::Thread(0))?]),
            BuiltIn::SubgroupId => Ok(vec![special(Special::Warp)?]),
            BuiltIn::SubgroupLocalInvocationId => Ok(vec![special(Special::Lane)?]),
            BuiltIn::NumWorkgroups => Ok(shape.workgroups.map(|extent| self.constant(extent.into())).to_vec()),
            BuiltIn::WorkgroupSize => Ok(shape.local_size.map(|extent| self.constant(extent.into())).to_vec()),
            _ => Ok(vec![self.constant(shape.subgroup.into())]),
        }
    }
}
