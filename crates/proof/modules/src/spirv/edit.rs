//! Changes of a module: other semantics and scopes, barriers that are added, accesses that become atomic.
//!
//! [`Spirv::edited`] makes the changed module; its instructions keep their lines, so that what is found in it is at the
//! same places. What can be changed at an instruction is in [`Spirv::synchronization`] and [`Spirv::plain_access`].

use rspirv::spirv::{Capability, Decoration, MemoryAccess, Op, Scope};

use super::instruction::{Id, Instruction};
use super::lower::atomic::read_modify_write;
use super::module::Spirv;
use crate::refused::Refused;

/// A fence or a barrier that is added; scopes and semantics are the numbers that SPIR-V gives them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "their fields are the instruction's operands")]
pub enum Added {
    /// `OpMemoryBarrier`
    Fence { scope: u32, semantics: u32 },
    /// `OpControlBarrier`
    Barrier { among: u32, scope: u32, semantics: u32 },
}

/// A change at an instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Edit {
    /// Instructions in front of it.
    Before(Vec<Added>),
    /// Instructions behind it.
    After(Vec<Added>),
    /// The instruction has these memory semantics instead of its own.
    Semantics(u32),
    /// The instruction has this memory scope instead of its own.
    Scope(u32),
    /// A plain load or store as an atomic one, with scope and semantics.
    Atomic(u32, u32),
    /// A plain load or store as an update that reads or writes the same: what there is where atomic loads and stores
    /// are not.
    Update(u32),
    /// A plain load as an atomic sum with this value, at a scope.
    Add(u32, Id),
    /// An access that is not private; with a scope, its location is made available and visible there.
    NonPrivate(Option<u32>),
    /// A variable that is decorated `Coherent`.
    Coherent,
    /// The instruction is removed.
    Nothing,
}

/// What an instruction does to order others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// `OpMemoryBarrier`
    Fence,
    /// `OpControlBarrier`
    Barrier,
    /// `OpAtomicLoad`
    Load,
    /// `OpAtomicStore`
    Store,
    /// An atomic operation that is neither a load nor a store: it reads and writes.
    Update,
}

/// A fence, a barrier or an atomic operation, with the numbers of its scope and its semantics, if they are constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Synchronization {
    /// The kind of the instruction.
    pub orders: Orders,
    /// The number of the scope of its memory.
    pub scope: Option<u32>,
    /// The number of its memory semantics; of a compare-exchange those of success.
    pub semantics: Option<u32>,
}

/// The kind of a fence, barrier or atomic operation, and the places of scope and semantics among its operands; `None`
/// for other instructions.
fn operands(op: Op) -> Option<(Orders, usize, usize)> {
    Some(match op {
        Op::MemoryBarrier => (Orders::Fence, 0, 1),
        Op::ControlBarrier => (Orders::Barrier, 1, 2),
        Op::AtomicLoad => (Orders::Load, 1, 2),
        Op::AtomicStore => (Orders::Store, 1, 2),
        Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak | Op::AtomicFlagTestAndSet => (Orders::Update, 1, 2),
        op if read_modify_write(op).is_some() => (Orders::Update, 1, 2),
        _ => return None,
    })
}

impl Spirv {
    /// The number of the first instruction of a function's body that stands on a line, and is none of the lines.
    pub fn at_line(&self, line: u32) -> Option<usize> {
        let blocks = self.functions.values().flat_map(|function| &function.blocks);
        let mut all = blocks.flat_map(|block| block.body.clone()).filter(|&at| {
            let instruction = self.instruction(at);
            instruction.line == line && !matches!(instruction.op, Op::Line | Op::NoLine)
        });
        all.next()
    }

    /// The number of the widest scope that it may name: the device, or without that capability a queue family.
    pub fn widest_scope(&self) -> u32 {
        let is_it = |known: &Instruction| {
            known.op == Op::Capability && known.operands == [Capability::VulkanMemoryModelDeviceScope as u32]
        };
        let may_name_device = !self.has_vulkan_model() || self.listing.instructions.iter().any(is_it);
        if may_name_device { Scope::Device as u32 } else { Scope::QueueFamily as u32 }
    }

    /// The number of the instruction with a result.
    pub fn defined(&self, id: Id) -> Option<usize> {
        self.listing.instructions.iter().position(|instruction| instruction.result == Some(id))
    }

    /// The name of a variable in the source: its own, or where it has none that of the block which it is.
    pub fn source_name(&self, variable: Id) -> String {
        let all = &self.listing.instructions;
        let named = |id: Id| {
            let name = all.iter().find(|known| known.op == Op::Name && known.operands.first() == Some(&id));
            name.map(|name| name.string(1).0).filter(|name| !name.is_empty())
        };
        let block = || {
            let pointer = &all[self.defined(self.type_of(variable)?)?];
            named(*pointer.operands.get(1)?)
        };
        named(variable).or_else(block).unwrap_or_else(|| self.name(variable))
    }

    /// The line of an instruction.
    pub fn line(&self, at: usize) -> u32 {
        self.listing.instructions.get(at).map_or(0, |instruction| instruction.line)
    }

    /// Whether an instruction is a fence, a barrier or an atomic operation.
    pub fn synchronization(&self, at: usize) -> Option<Synchronization> {
        let instruction = self.listing.instructions.get(at)?;
        let (orders, scope, semantics) = operands(instruction.op)?;
        let constant = |operand: usize| self.constant_word(*instruction.operands.get(operand)?);
        Some(Synchronization { orders, scope: constant(scope), semantics: constant(semantics) })
    }

    /// Whether an instruction is a plain load, or a plain store, of an integer of 32 or 64 bits, or of another scalar:
    /// whether it is a load, and whether it is an integer.
    pub fn plain_access(&self, at: usize) -> Option<(bool, bool)> {
        let instruction = self.listing.instructions.get(at)?;
        let (ty, is_load) = match instruction.op {
            Op::Load => (instruction.result_type?, true),
            Op::Store => (self.type_of(*instruction.operands.get(1)?)?, false),
            _ => return None,
        };
        let ty = &self.listing.instructions[self.defined(ty)?];
        match ty.op {
            Op::TypeInt if matches!(ty.operands.first(), Some(32 | 64)) => Some((is_load, true)),
            Op::TypeFloat if matches!(ty.operands.first(), Some(32 | 64)) => Some((is_load, false)),
            _ => None,
        }
    }

    /// A sum that begins with a plain load, `x = x + v`, and ends with the store: the value that is added, and the
    /// store's number. The value is there before the load.
    pub fn increment(&self, load: usize) -> Option<(Id, usize)> {
        let (true, true) = self.plain_access(load)? else { return None };
        let read = &self.listing.instructions[load];
        let block = self.functions.values().flat_map(|function| &function.blocks);
        let block = block.filter(|block| block.body.contains(&load)).map(|block| block.body.clone()).next()?;
        let is_it = |id: u32| Some(id) == read.result;
        let sum = (load + 1..block.end).find(|&at| {
            let sum = self.instruction(at);
            sum.op == Op::IAdd && sum.operands.iter().copied().any(is_it)
        })?;
        let added = *self.instruction(sum).operands.iter().find(|&&id| !is_it(id))?;
        if self.defined(added)? > load {
            return None;
        }
        let stores = |at: &usize| {
            let store = self.instruction(*at);
            store.op == Op::Store && store.operands.get(1) == self.instruction(sum).result.as_ref()
        };
        let store = (sum + 1..block.end).find(stores)?;
        // No other access of memory stands in between.
        let touches = |at: usize| {
            let op = self.instruction(at).op;
            matches!(op, Op::Load | Op::Store | Op::CopyMemory | Op::FunctionCall) || operands(op).is_some()
        };
        let same = self.is_same(*read.operands.first()?, *self.instruction(store).operands.first()?);
        (same && !(load + 1..store).any(touches)).then_some((added, store))
    }

    /// Whether two results are one, or computed by the same instruction of the same results.
    fn is_same(&self, one: Id, other: Id) -> bool {
        let of = |id| self.defined(id).map(|at| &self.listing.instructions[at]);
        one == other
            || of(one).zip(of(other)).is_some_and(|(one, other)| {
                matches!(one.op, Op::AccessChain | Op::InBoundsAccessChain)
                    && (one.op, one.result_type, &one.operands) == (other.op, other.result_type, &other.operands)
            })
    }

    fn type_of(&self, id: Id) -> Option<Id> {
        self.listing.instructions[self.defined(id)?].result_type
    }

    /// The word that a constant is.
    fn constant_word(&self, id: Id) -> Option<u32> {
        let constant = &self.listing.instructions[self.defined(id)?];
        (constant.op == Op::Constant).then(|| constant.operands.first().copied()).flatten()
    }

    /// The module with changes at instructions, by their numbers.
    ///
    /// # Errors
    /// The changed module is none.
    pub fn edited(&self, edits: &[(usize, Edit)]) -> Result<Spirv, Refused> {
        let mut editor = Editor::of(self);
        let mut instructions = Vec::with_capacity(self.listing.instructions.len() + edits.len());
        for (at, instruction) in self.listing.instructions.iter().enumerate() {
            let mut here = instruction.clone();
            let (mut before, mut after, mut is_gone) = (Vec::<Added>::new(), Vec::<Added>::new(), false);
            for (_, edit) in edits.iter().filter(|(of, _)| *of == at) {
                match edit {
                    Edit::Before(added) => before.extend(added),
                    Edit::After(added) => after.extend(added),
                    Edit::Nothing => is_gone = true,
                    edit => editor.change(&mut here, edit)?,
                }
            }
            instructions.extend(before.into_iter().map(|added| editor.added(added, instruction.line)));
            instructions.extend((!is_gone).then_some(here));
            instructions.extend(after.into_iter().map(|added| editor.added(added, instruction.line)));
        }
        editor.finish(instructions)
    }
}

/// A module that is being changed.
struct Editor<'m> {
    module: &'m Spirv,
    next: Id,
    /// The constants that are added: their words and results.
    constants: Vec<(u32, Id)>,
    decorated: Vec<Id>,
}

impl<'m> Editor<'m> {
    fn of(module: &'m Spirv) -> Editor<'m> {
        let all = &module.listing.instructions;
        let words = all.iter().flat_map(|known| known.result.into_iter().chain(known.operands.iter().copied()));
        // Operands that are no results make this larger than it has to be, but for the largest of them.
        let next = words.filter(|&word| word < 1 << 30).max().unwrap_or(0) + 1;
        Editor { module, next, constants: Vec::new(), decorated: Vec::new() }
    }

    fn fresh(&mut self) -> Id {
        self.next += 1;
        self.next - 1
    }

    /// The result that is a constant of 32 bits.
    fn word(&mut self, word: u32) -> Id {
        if let Some(&(_, id)) = self.constants.iter().find(|(known, _)| *known == word) {
            return id;
        }
        let id = self.fresh();
        self.constants.push((word, id));
        id
    }

    fn added(&mut self, added: Added, line: u32) -> Instruction {
        let (op, words) = match added {
            Added::Fence { scope, semantics } => (Op::MemoryBarrier, vec![scope, semantics]),
            Added::Barrier { among, scope, semantics } => (Op::ControlBarrier, vec![among, scope, semantics]),
        };
        let operands = words.into_iter().map(|word| self.word(word)).collect();
        Instruction { op, result_type: None, result: None, operands, line }
    }

    fn change(&mut self, of: &mut Instruction, edit: &Edit) -> Result<(), Refused> {
        match (edit, operands(of.op)) {
            (&Edit::Semantics(semantics), Some((_, _, operand))) => {
                let id = self.word(semantics);
                let operands = of.operands.len();
                *of.operands.get_mut(operand).ok_or_else(|| Refused::new(of.line, "it has no semantics"))? = id;
                if matches!(of.op, Op::AtomicCompareExchange | Op::AtomicCompareExchangeWeak) && operands > 3 {
                    // Where it fails it releases nothing.
                    let release = 0x4 | 0x2000;
                    let unequal = if semantics & 8 != 0 { semantics & !8 | 2 } else { semantics };
                    of.operands[3] = self.word(unequal & !release);
                }
            }
            (&Edit::Scope(scope), Some((_, operand, _))) => {
                let id = self.word(scope);
                *of.operands.get_mut(operand).ok_or_else(|| Refused::new(of.line, "it has no scope"))? = id;
            }
            (&Edit::Atomic(scope, semantics), None) => {
                let (scope, semantics) = (self.word(scope), self.word(semantics));
                self.become_atomic(of, Op::AtomicLoad, Op::AtomicStore, &[scope, semantics])?;
            }
            (&Edit::Update(scope), None) => {
                let (scope, relaxed) = (self.word(scope), self.word(0));
                self.become_atomic(of, Op::AtomicOr, Op::AtomicExchange, &[scope, relaxed])?;
                if of.op == Op::AtomicOr {
                    // What is read stays: the update changes no bit.
                    let ty = of.ty()?;
                    let zero =
                        self.zero(ty).ok_or_else(|| Refused::new(of.line, "the module has no zero of its type"))?;
                    of.operands.push(zero);
                } else {
                    let ty = of.operands.get(3).and_then(|&value| self.module.type_of(value));
                    (of.result_type, of.result) = (ty, Some(self.fresh()));
                }
            }
            (&Edit::Add(scope, value), None) if of.op == Op::Load => {
                let (scope, relaxed) = (self.word(scope), self.word(0));
                of.op = Op::AtomicIAdd;
                of.operands.truncate(1);
                of.operands.extend([scope, relaxed, value]);
            }
            (&Edit::NonPrivate(scope), None) if matches!(of.op, Op::Load | Op::Store) => {
                let from = if of.op == Op::Load { 1 } else { 2 };
                // What the access itself says of others' memory is replaced, and its alignment kept.
                let mask =
                    of.operands.get(from).map_or(MemoryAccess::NONE, |&mask| MemoryAccess::from_bits_truncate(mask));
                let alignment =
                    mask.contains(MemoryAccess::ALIGNED).then(|| of.operands.get(from + 1).copied()).flatten();
                let made = if of.op == Op::Load {
                    MemoryAccess::MAKE_POINTER_VISIBLE
                } else {
                    MemoryAccess::MAKE_POINTER_AVAILABLE
                };
                let others = MemoryAccess::MAKE_POINTER_VISIBLE | MemoryAccess::MAKE_POINTER_AVAILABLE;
                let mut mask = mask.difference(others) | MemoryAccess::NON_PRIVATE_POINTER;
                if scope.is_some() {
                    mask |= made;
                }
                of.operands.truncate(from);
                of.operands.push(mask.bits());
                of.operands.extend(alignment);
                of.operands.extend(scope.map(|scope| self.word(scope)));
            }
            // An access that has become atomic is that.
            (Edit::NonPrivate(_), _) => {}
            (Edit::Coherent, _) if of.op == Op::Variable => self.decorated.push(of.id()?),
            _ => return Err(of.refused("this cannot be changed so")),
        }
        Ok(())
    }

    fn become_atomic(&mut self, of: &mut Instruction, load: Op, store: Op, ordered: &[Id]) -> Result<(), Refused> {
        let is_load = match of.op {
            Op::Load => true,
            Op::Store => false,
            _ => return Err(of.refused("it is no plain access")),
        };
        let mut operands = vec![of.operand(0)?];
        operands.extend(ordered);
        if !is_load {
            operands.push(of.operand(1)?);
        }
        (of.op, of.operands) = (if is_load { load } else { store }, operands);
        Ok(())
    }

    /// A constant zero of a type.
    fn zero(&self, ty: Id) -> Option<Id> {
        let is_zero = |known: &&Instruction| {
            known.result_type == Some(ty)
                && (known.op == Op::ConstantNull
                    || known.op == Op::Constant && known.operands.iter().all(|&word| word == 0))
        };
        self.module.listing.instructions.iter().find(is_zero)?.result
    }

    /// The module of these instructions, with what they need.
    fn finish(mut self, mut instructions: Vec<Instruction>) -> Result<Spirv, Refused> {
        let module = self.module;
        let mut listing = super::instruction::Listing { names: module.listing.names.clone(), ..Default::default() };
        let behind = instructions.iter().position(|known| known.op == Op::MemoryModel).map_or(0, |at| at + 1);
        let line = instructions.get(behind).map_or(1, |known| known.line);
        let decorate = |id: Id| {
            let operands = vec![id, Decoration::Coherent as u32];
            Instruction { op: Op::Decorate, result_type: None, result: None, operands, line }
        };
        let decorations: Vec<_> = self.decorated.iter().copied().map(decorate).collect();
        let is_word = |known: &Instruction| known.op == Op::TypeInt && known.operands == [32, 0];
        let (ty, first_function) = match instructions.iter().position(is_word) {
            Some(at) => (instructions[at].id()?, at + 1),
            None => {
                let ty = self.fresh();
                let at = instructions.iter().position(|known| known.op == Op::Function).unwrap_or(instructions.len());
                let operands = vec![32, 0];
                instructions
                    .insert(at, Instruction { op: Op::TypeInt, result_type: None, result: Some(ty), operands, line });
                (ty, at + 1)
            }
        };
        let constant = |&(word, id): &(u32, Id)| Instruction {
            op: Op::Constant,
            result_type: Some(ty),
            result: Some(id),
            operands: vec![word],
            line,
        };
        instructions.splice(first_function..first_function, self.constants.iter().map(constant));
        instructions.splice(behind..behind, decorations);
        listing.instructions = instructions;
        Spirv::of(listing, module.text.clone())
    }
}
