//! Rules of the Vulkan memory model that spirv-val does not enforce.
//!
//! spirv-val accepts a module whose plain accesses to shared memory are private: such accesses take no part in ordering
//! between threads (Vulkan 1.3, appendix "Memory Model", "Program-Order": private and non-private accesses; SPIR-V 1.6,
//! 3.2.26 `NonPrivatePointer`), so that a fence orders nothing. This lint reads the words again, and refuses
//! - a plain load or store of a storage buffer or of workgroup memory that is not `NonPrivatePointer`;
//! - an atomic operation whose semantics make no sense: a load that releases, a store that acquires, an order without
//!   storage classes, storage classes or availability without an order, a failed exchange that releases, a scope that
//!   is neither workgroup nor device;
//! - a fence or barrier without an order, without a storage class, or without the availability or visibility operation
//!   that its order needs;
//! - a memory model that is not Vulkan's.

use std::fmt;

use rspirv::dr::{Instruction, Module, Operand, load_words};
use rspirv::spirv::{MemoryAccess, MemoryModel, MemorySemantics, Op, Scope, StorageClass, Word};
use rustc_hash::FxHashMap;

/// An instruction that the memory model does not order as it was meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The instruction's place in the module, from 0, in the order of the words.
    pub instruction: usize,
    /// The name of its opcode.
    pub opcode: String,
    /// What is wrong with it.
    pub what: &'static str,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "instruction {} ({}): {}", self.instruction, self.opcode, self.what)
    }
}

/// All findings in a module.
///
/// # Errors
/// The words are no module.
pub fn lint(words: &[u32]) -> Result<Vec<Finding>, String> {
    let module = load_words(words).map_err(|error| error.to_string())?;
    let facts = Facts::of(&module);
    let mut findings = Vec::new();
    for (number, instruction) in module.all_inst_iter().enumerate() {
        for what in facts.judge(instruction) {
            let opcode = format!("Op{:?}", instruction.class.opcode);
            findings.push(Finding { instruction: number, opcode, what });
        }
    }
    Ok(findings)
}

/// The constants and pointers that instructions refer to.
struct Facts {
    constants: FxHashMap<Word, u32>,
    /// The storage class of each pointer.
    pointers: FxHashMap<Word, StorageClass>,
}

const ORDERS: MemorySemantics = MemorySemantics::ACQUIRE
    .union(MemorySemantics::RELEASE)
    .union(MemorySemantics::ACQUIRE_RELEASE)
    .union(MemorySemantics::SEQUENTIALLY_CONSISTENT);
const ACQUIRES: MemorySemantics = MemorySemantics::ACQUIRE.union(MemorySemantics::ACQUIRE_RELEASE);
const RELEASES: MemorySemantics = MemorySemantics::RELEASE.union(MemorySemantics::ACQUIRE_RELEASE);
const CLASSES: MemorySemantics = MemorySemantics::UNIFORM_MEMORY.union(MemorySemantics::WORKGROUP_MEMORY);

impl Facts {
    fn of(module: &Module) -> Facts {
        let mut facts = Facts { constants: FxHashMap::default(), pointers: FxHashMap::default() };
        let mut types = FxHashMap::default();
        for instruction in module.all_inst_iter() {
            let Some(id) = instruction.result_id else { continue };
            match (instruction.class.opcode, instruction.operands.as_slice()) {
                (Op::TypePointer, [Operand::StorageClass(class), ..]) => {
                    types.insert(id, *class);
                }
                (Op::Constant, [Operand::LiteralBit32(value)]) => {
                    facts.constants.insert(id, *value);
                }
                _ => {
                    if let Some(class) = instruction.result_type.and_then(|ty| types.get(&ty)) {
                        facts.pointers.insert(id, *class);
                    }
                }
            }
        }
        facts
    }

    fn judge(&self, instruction: &Instruction) -> Vec<&'static str> {
        let semantics: Vec<_> = instruction.operands.iter().filter_map(|operand| self.semantics(operand)).collect();
        match (instruction.class.opcode, semantics.as_slice()) {
            (Op::MemoryModel, _) => self.memory_model(instruction),
            (Op::Load | Op::Store, _) => self.plain(instruction),
            (Op::MemoryBarrier, [semantics]) => self.fence(*semantics),
            (Op::ControlBarrier, [semantics]) => {
                let mut found = self.fence(*semantics);
                if !semantics.contains(MemorySemantics::ACQUIRE_RELEASE) {
                    found.push("a barrier orders memory both ways: AcquireRelease");
                }
                found
            }
            (op, [first, rest @ ..]) if format!("{op:?}").starts_with("Atomic") => {
                let mut found = self.atomic(op, *first);
                if let [unequal] = rest
                    && unequal.intersects(RELEASES)
                {
                    found.push("an exchange that fails writes nothing, and so releases nothing");
                }
                if let Some(scope) = instruction.operands.iter().find_map(|operand| self.scope(operand))
                    && scope != Scope::Device as u32
                    && scope != Scope::Workgroup as u32
                {
                    found.push("a scope that no kernel asks for");
                }
                found
            }
            (Op::MemoryBarrier | Op::ControlBarrier, _) => vec!["semantics that are no constant"],
            (op, _) if format!("{op:?}").starts_with("Atomic") => vec!["semantics that are no constant"],
            _ => Vec::new(),
        }
    }

    fn semantics(&self, operand: &Operand) -> Option<MemorySemantics> {
        let Operand::IdMemorySemantics(id) = operand else { return None };
        self.constants.get(id).and_then(|&bits| MemorySemantics::from_bits(bits))
    }

    fn scope(&self, operand: &Operand) -> Option<u32> {
        let Operand::IdScope(id) = operand else { return None };
        self.constants.get(id).copied()
    }

    fn memory_model(&self, instruction: &Instruction) -> Vec<&'static str> {
        if instruction.operands.contains(&Operand::MemoryModel(MemoryModel::Vulkan)) {
            return Vec::new();
        }
        vec!["not the Vulkan memory model"]
    }

    fn plain(&self, instruction: &Instruction) -> Vec<&'static str> {
        let Some(Operand::IdRef(pointer)) = instruction.operands.first() else { return Vec::new() };
        let shared = matches!(
            self.pointers.get(pointer),
            Some(StorageClass::StorageBuffer | StorageClass::Workgroup | StorageClass::PhysicalStorageBuffer)
        );
        let non_private = instruction.operands.iter().any(|operand| match operand {
            Operand::MemoryAccess(access) => access.contains(MemoryAccess::NON_PRIVATE_POINTER),
            _ => false,
        });
        if shared && !non_private {
            vec!["shared memory without NonPrivatePointer: no fence orders it"]
        } else {
            vec![]
        }
    }

    fn fence(&self, semantics: MemorySemantics) -> Vec<&'static str> {
        let mut found = Vec::new();
        if !semantics.intersects(ORDERS) {
            found.push("no order");
        }
        if semantics.contains(MemorySemantics::SEQUENTIALLY_CONSISTENT) {
            found.push("Vulkan has no sequentially consistent order");
        }
        if !semantics.contains(CLASSES) {
            found.push("not both of UniformMemory and WorkgroupMemory: it orders nothing of the other");
        }
        if semantics.intersects(RELEASES) && !semantics.contains(MemorySemantics::MAKE_AVAILABLE) {
            found.push("a release without MakeAvailable");
        }
        if semantics.intersects(ACQUIRES) && !semantics.contains(MemorySemantics::MAKE_VISIBLE) {
            found.push("an acquire without MakeVisible");
        }
        found
    }

    fn atomic(&self, op: Op, semantics: MemorySemantics) -> Vec<&'static str> {
        if semantics.is_empty() {
            return Vec::new();
        }
        let mut found = self.fence(semantics);
        if op == Op::AtomicLoad && semantics.intersects(RELEASES) {
            found.push("a load never releases");
        }
        if op == Op::AtomicStore && semantics.intersects(ACQUIRES) {
            found.push("a store never acquires");
        }
        found
    }
}
