//! From a module's instructions to the flat form, for one launch.
//!
//! Values are lists of scalars, each a register or a constant, so composites cost nothing: only their scalars do. A
//! pointer is an address of 64 bits, and the storage class that it points into. Functions are put in the place of their
//! calls. A phi is moves on the edges that lead to it. A function's variable that is only loaded and stored whole is
//! registers ([`whole`]).

pub(super) mod atomic;
mod composite;
mod compute;
mod control;
mod convert;
mod declare;
mod extended;
mod generic;
mod group;
mod halves;
mod interface;
mod kernel;
mod matrix;
mod memory;
mod object;
mod packing;
mod signature;
mod split;
mod variables;
mod whole;

pub use interface::{BoundBuffer, Given, Interface, PushMember};
pub use memory::item_by_word;

use std::collections::{BTreeSet, HashMap, HashSet};

use rspirv::spirv::{BuiltIn, StorageClass};
use wattle_memory::Classes;

use super::instruction::{Id, Instruction};
use super::language::SourceLanguage;
use super::library;
use super::module::{Entry, Spirv};
use super::parts::Parts;
use super::setting::{BuiltInVariable, Setting, Shape};
use super::types::{Leaf, Scalar, Types};
use crate::assigned::all_assigned;
use crate::code::{Bin, Bitwise, Guard, Kernel, LocalVariable, NO_REG, Op, Reg, Source, Src, Step, Tern, Un};
use crate::refused::{Refused, RefusedKind};
use crate::types::Space;

/// The most instructions of a kernel, functions in the place of their calls.
const MOST_STEPS: usize = 1 << 16;

/// A kernel in the flat form, with its variables.
#[derive(Debug)]
pub struct Lowered {
    /// The kernel. Its parameter space holds the push constants.
    pub kernel: Kernel,
    /// The variables that threads share, and the push constants.
    pub variables: Vec<Variable>,
    /// The types, for the parts of variables.
    pub types: Types,
    /// The shape of the launch.
    pub shape: Shape,
    /// The first bytes of a thread's own memory; `None` where nothing fixes them.
    pub local: Vec<Option<u8>>,
    /// The registers whose first values nothing fixes: an undefined value, and variables that begin without one.
    pub unfixed: Vec<Reg>,
    /// The built-in variables in it.
    pub built_ins: Vec<BuiltInVariable>,
    /// For each step that accesses memory, the number of the variable, where the text shows which.
    pub roots: HashMap<usize, Option<usize>>,
    /// The first step that is sequentially consistent where the environment means more by that than acquire and
    /// release.
    pub sequential: Option<usize>,
    /// The language whose promise some barrier or fence of buffers rests on, and not on the module: see
    /// [`Spirv::orders_buffers_within_groups`].
    pub promised_by: Option<SourceLanguage>,
    /// What the module declares and is not known, in words.
    pub unknown: BTreeSet<String>,
}

/// The place of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The buffer of that number.
    Buffer(usize),
    /// The variable of that number in a workgroup's memory.
    Workgroup(usize),
    /// The push constants.
    Push,
}

/// A variable that threads share.
#[derive(Clone, Debug)]
pub struct Variable {
    /// The name of the result.
    pub name: String,
    /// The memory that the variable is, or is in.
    pub place: Place,
    /// The type of its contents.
    pub ty: Id,
    /// The size in bytes.
    pub bytes: u64,
    /// The first contents; `None` where nobody has written it.
    pub initial: Option<Vec<u8>>,
    /// The push constants among it whose values nobody has given: the host may give any.
    pub open: Vec<Leaf>,
    /// The type of its scalars, where what gives it contents says so.
    pub scalars: Option<Scalar>,
    /// Whether some instruction may read the variable.
    pub is_read: bool,
    /// The parts of the variable as the source writes them, where they have places.
    pub parts: Option<Parts>,
    /// The name of its only member, where it is a block with one.
    pub member: Option<String>,
    /// Whether the host alone writes the variable: push constants, or a uniform.
    pub is_given_by_host: bool,
}

/// The address of the buffer, or of a workgroup's variable, of that number.
pub fn address_of(number: usize) -> u64 {
    (number as u64 + 1) << 40
}

/// A value.
#[derive(Clone, Debug)]
enum Value {
    /// The scalars.
    Parts(Vec<Src>),
    /// A pointer.
    Pointer(Pointer),
    /// A variable of the thread that is registers, with the type of its contents.
    Registers(Vec<Reg>, Id),
    /// A built-in variable that is no memory, with the type of its contents.
    BuiltIn(BuiltIn, Id),
}

/// A pointer.
#[derive(Clone, Copy, Debug)]
struct Pointer {
    space: Space,
    classes: Classes,
    /// The storage class of what it points to, where the text shows it; else the generic one.
    class: StorageClass,
    /// The address, which is a [generic](crate::address) one or one in the space.
    address: Src,
    /// Whether the address is a generic one.
    is_generic: bool,
    /// The type of what it points to.
    to: Id,
    /// Whether the pointer is into a variable that is `Coherent`.
    coherent: bool,
    /// The number of the variable that it points into, where the text shows which.
    root: Option<usize>,
}

/// The state of lowering.
struct Lowering<'m> {
    module: &'m Spirv,
    setting: &'m Setting,
    shape: Shape,
    /// The results that hold the extents of a workgroup, where they are no literals.
    extents: Vec<Id>,
    types: Types,
    values: HashMap<Id, Value>,
    /// The types of results.
    of: HashMap<Id, Id>,
    variables: Vec<Variable>,
    /// The variables to which the host binds no memory.
    unbound: HashSet<Id>,
    /// The number of the first variable of a workgroup whose layout is explicit.
    laid_out: Option<usize>,
    /// The initial bytes of a thread's memory.
    local: Vec<Option<u8>>,
    /// The variables in it.
    local_variables: Vec<LocalVariable>,
    undefined: Option<Reg>,
    unfixed: Vec<Reg>,
    built_ins: Vec<BuiltInVariable>,
    /// The variables that are only loaded and stored whole.
    whole: HashSet<Id>,
    roots: HashMap<usize, Option<usize>>,
    sequential: Option<usize>,
    /// Whether the language promises that buffers are ordered within workgroups, although none is `Coherent`.
    within_groups: bool,
    /// Whether some barrier or fence orders buffers.
    orders_buffers: bool,
    steps: Vec<Step>,
    lines: Vec<u32>,
    sources: Vec<Option<Source>>,
    constants: Vec<u64>,
    known: HashMap<u64, Src>,
    registers: Vec<String>,
    line: u32,
    source: Option<Source>,
    /// The steps that jump to a label, by the number of the step.
    jumps: Vec<(usize, control::CallLabel)>,
    /// The labels at which declared loops begin, and those behind them.
    loops: Vec<(control::CallLabel, control::CallLabel)>,
    targets: HashMap<control::CallLabel, u32>,
    /// The functions that are open, outermost first, for recursion.
    calls: Vec<Id>,
    /// The number of functions put in place so far: labels are the call's own.
    frame: u32,
}

impl Spirv {
    /// Lowers an entry point, the only one unless it is named, for a launch.
    ///
    /// # Errors
    /// The module uses something that is not supported, or the setting does not fit it.
    pub fn lower(&self, entry: Option<&str>, setting: &Setting) -> Result<Lowered, Refused> {
        let entry = self.entry(entry)?;
        let mut lowering = Lowering::new(self, setting);
        lowering.declare(entry)?;
        lowering.entry(entry)?;
        lowering.finish(&entry.name)
    }

    /// The entry point of that name, or the only one.
    fn entry(&self, entry: Option<&str>) -> Result<&Entry, Refused> {
        let chosen = match (entry, self.entries.as_slice()) {
            (Some(name), entries) => entries.iter().find(|entry| entry.name == name),
            (None, [entry]) => Some(entry),
            (None, _) => None,
        };
        chosen.ok_or_else(|| {
            if self.entries.is_empty() {
                return self.listing.ends_without("an `OpEntryPoint` for compute");
            }
            let known: Vec<_> = self.entries().map(|name| format!("`{name}`")).collect();
            let known = known.join(", ");
            let why = match entry {
                Some(name) => format!("the module has no entry point `{name}`; it has {known}"),
                None => format!("name one of the module's entry points (--entry): {known}"),
            };
            Refused { kind: RefusedKind::Launch, ..Refused::new(1, why) }
        })
    }

    pub(in crate::spirv) fn instruction(&self, number: usize) -> &Instruction {
        &self.listing.instructions[number]
    }
}

impl<'m> Lowering<'m> {
    fn new(module: &'m Spirv, setting: &'m Setting) -> Lowering<'m> {
        Lowering {
            module,
            setting,
            shape: Shape { local_size: [1; 3], workgroups: setting.workgroups, subgroup: 1 },
            extents: Vec::new(),
            types: Types::of(module.model),
            values: HashMap::new(),
            of: HashMap::new(),
            variables: Vec::new(),
            unbound: HashSet::new(),
            laid_out: None,
            local: Vec::new(),
            local_variables: Vec::new(),
            undefined: None,
            unfixed: Vec::new(),
            built_ins: Vec::new(),
            whole: whole::accessed_whole(module),
            roots: HashMap::new(),
            sequential: None,
            within_groups: module.orders_buffers_within_groups(),
            orders_buffers: false,
            steps: Vec::new(),
            lines: Vec::new(),
            sources: Vec::new(),
            constants: Vec::new(),
            known: HashMap::new(),
            registers: Vec::new(),
            line: 1,
            source: None,
            jumps: Vec::new(),
            loops: Vec::new(),
            targets: HashMap::new(),
            calls: Vec::new(),
            frame: 0,
        }
    }
}

impl Lowering<'_> {
    fn finish(mut self, name: &str) -> Result<Lowered, Refused> {
        for (at, target) in std::mem::take(&mut self.jumps) {
            let Some(&to) = self.targets.get(&target) else {
                return Err(Refused::new(self.lines[at], "a branch to a label that the function does not have"));
            };
            self.steps[at].op = Op::Branch { target: to };
        }
        let place = |target: &control::CallLabel| self.targets.get(target).copied();
        let loops = self.loops.iter().filter_map(|(head, behind)| Some((place(head)?, place(behind)))).collect();
        let push = self.variables.iter().find(|variable| variable.place == Place::Push);
        let kernel = Kernel {
            name: name.to_owned(),
            params: Vec::new(),
            param_bytes: push.map_or(0, |push| push.bytes),
            most_threads: None,
            exact_threads: None,
            all_assigned: all_assigned(&self.steps, self.registers.len()),
            steps: self.steps,
            lines: self.lines,
            sources: self.sources,
            constants: self.constants,
            registers: self.registers,
            shared: 0,
            shared_variables: Vec::new(),
            dynamic_at: 0,
            local: self.local.len() as u64,
            local_variables: self.local_variables,
            loops,
        };
        Ok(Lowered {
            kernel,
            variables: self.variables,
            types: self.types,
            shape: self.shape,
            local: self.local,
            unfixed: self.unfixed,
            built_ins: self.built_ins,
            roots: self.roots,
            sequential: self.sequential,
            promised_by: (self.within_groups && self.orders_buffers).then(|| self.module.language()),
            unknown: self.module.unknown_declarations(),
        })
    }

    /// Adds a step without a guard.
    fn emit(&mut self, op: Op) -> Result<(), Refused> {
        self.emit_if(Guard { reg: NO_REG, negated: false }, op)
    }

    fn emit_if(&mut self, guard: Guard, op: Op) -> Result<(), Refused> {
        if self.steps.len() >= MOST_STEPS {
            return Err(Refused::new(self.line, format!("the kernel has more than {MOST_STEPS} instructions")));
        }
        self.steps.push(Step { guard, op });
        self.lines.push(self.line);
        self.sources.push(self.source.clone());
        Ok(())
    }

    fn register(&mut self, name: &str) -> Reg {
        self.registers.push(name.to_owned());
        self.registers.len() as Reg - 1
    }

    /// The register whose value nothing fixes.
    fn undefined(&mut self) -> Src {
        if let Some(register) = self.undefined {
            return Src::reg(register);
        }
        let register = self.register("undefined");
        self.undefined = Some(register);
        self.unfixed.push(register);
        Src::reg(register)
    }

    fn constant(&mut self, value: u64) -> Src {
        *self.known.entry(value).or_insert_with(|| {
            self.constants.push(value);
            Src::constant(self.constants.len() as u32 - 1)
        })
    }

    /// The value of an operand, if it is a constant.
    fn fixed(&self, src: Src) -> Option<u64> {
        src.as_reg().is_none().then(|| src.get::<u64>(&[], &self.constants))
    }

    /// A function of one operand: a constant where that is one, else a step.
    fn one(&mut self, f: Un, a: Src) -> Result<Src, Refused> {
        if let Some(a) = self.fixed(a) {
            return Ok(self.constant(f(a)));
        }
        let d = self.register("");
        self.emit(Op::Un { f, bitwise: Bitwise::NOT, d, a })?;
        Ok(Src::reg(d))
    }

    fn two(&mut self, f: Bin, a: Src, b: Src) -> Result<Src, Refused> {
        if let (Some(a), Some(b)) = (self.fixed(a), self.fixed(b)) {
            return Ok(self.constant(f(a, b)));
        }
        let d = self.register("");
        self.emit(Op::Bin { f, bitwise: Bitwise::NOT, d, a, b })?;
        Ok(Src::reg(d))
    }

    fn three(&mut self, f: Tern, a: Src, b: Src, c: Src) -> Result<Src, Refused> {
        if let (Some(a), Some(b), Some(c)) = (self.fixed(a), self.fixed(b), self.fixed(c)) {
            return Ok(self.constant(f(a, b, c)));
        }
        let d = self.register("");
        self.emit(Op::Tern { f, bitwise: Bitwise::NOT, d, a, b, c })?;
        Ok(Src::reg(d))
    }

    /// The value of a result.
    fn value(&self, id: Id, by: &Instruction) -> Result<&Value, Refused> {
        let unknown = || {
            let name = self.module.name(id);
            by.refused(if self.unbound.contains(&id) {
                format!("nothing is bound to `%{name}`")
            } else if let Some(what) = self.object(id) {
                format!("`%{name}` is {what}")
            } else {
                format!("`%{name}` has no value that is supported here")
            })
        };
        self.values.get(&id).ok_or_else(unknown)
    }

    /// The scalars of a result.
    fn parts(&self, id: Id, by: &Instruction) -> Result<Vec<Src>, Refused> {
        Ok(match self.value(id, by)? {
            Value::Parts(parts) => parts.clone(),
            Value::Pointer(pointer) => vec![pointer.address],
            Value::Registers(..) | Value::BuiltIn(..) => {
                return Err(by.refused(format!("`%{}` is a variable, and no value", self.module.name(id))));
            }
        })
    }

    /// The only scalar of a result.
    fn scalar(&self, id: Id, by: &Instruction) -> Result<Src, Refused> {
        match self.parts(id, by)?.as_slice() {
            [one] => Ok(*one),
            _ => Err(by.refused(format!("`%{}` is no scalar", self.module.name(id)))),
        }
    }

    /// The value of a result that has to be a constant scalar.
    fn known_scalar(&self, id: Id, by: &Instruction) -> Result<u64, Refused> {
        let value = self.fixed(self.scalar(id, by)?);
        value.ok_or_else(|| by.refused(format!("`%{}` is no constant", self.module.name(id))))
    }

    /// The type of a result.
    fn type_of(&self, id: Id, by: &Instruction) -> Result<Id, Refused> {
        let unknown = || by.refused(format!("`%{}` has no type", self.module.name(id)));
        self.of.get(&id).copied().ok_or_else(unknown)
    }

    /// The scalar type of a result that is a scalar or a vector.
    fn scalar_type(&self, id: Id, by: &Instruction) -> Result<Scalar, Refused> {
        let ty = self.types.scalar(self.type_of(id, by)?);
        ty.ok_or_else(|| by.refused(format!("`%{}` is neither a number nor a vector", self.module.name(id))))
    }

    /// Gives a result its value.
    fn set(&mut self, instruction: &Instruction, value: Value) -> Result<(), Refused> {
        let id = instruction.id()?;
        if let Some(ty) = instruction.result_type {
            self.of.insert(id, ty);
        }
        self.values.insert(id, value);
        Ok(())
    }

    fn set_parts(&mut self, instruction: &Instruction, parts: Vec<Src>) -> Result<(), Refused> {
        // A value of a pointer's type is one, whatever it comes from.
        let ty = instruction.ty()?;
        let value = match (self.pointer_type(ty), parts.as_slice()) {
            (Some(pointer), &[address]) => Value::Pointer(Pointer { address, ..pointer }),
            _ => Value::Parts(parts),
        };
        self.set(instruction, value)
    }

    /// The name of an extended instruction: `Sin of GLSL.std.450`.
    fn extended_name(&self, instruction: &Instruction) -> String {
        let of = instruction.operands.first().and_then(|set| self.module.sets.get(set));
        match (of, instruction.operands.get(1)) {
            (Some(set), Some(&number)) => format!("{} of {set}", library::name(set, number)),
            _ => "this extended instruction".to_owned(),
        }
    }
}
