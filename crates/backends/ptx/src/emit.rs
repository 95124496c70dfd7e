//! A kernel's entry: the emitter's state while statements become instructions.

use std::fmt::Write as _;

use rustc_hash::{FxHashMap, FxHashSet};
use wattle_ir::fault::Sites;
use wattle_ir::plain_name;
use wattle_ir::{Builtin, ExprId, Kernel, LaunchValue, Legal, Param, ParamId, ParamKind, SharedId, SlotId, Type};
use wattle_memory::Lowering;

pub use crate::assemble::memory_type;
use crate::assemble::{Assembler, Class, Section, Value, ins};
use crate::flow::Flow;
use crate::layout::{Argument, LaunchLayout, MOST_PARAMETER_BYTES, MOST_STATIC_SHARED, Module};
use crate::locals::{Local, constants};
use crate::parameters::{layout, shared_bytes};
use crate::report::Reports;
use crate::target::{Lacking, PtxTarget};
use crate::warp::Lanes;

/// The emitter's state while a kernel's statements become instructions.
pub struct Emitter<'k> {
    pub(crate) asm: Assembler,
    pub(crate) kernel: &'k Kernel,
    pub(crate) legal: &'k Legal,
    pub(crate) lowering: Lowering,
    /// The types of the kernel's expressions.
    pub(crate) types: Vec<Type>,
    pub(crate) layout: LaunchLayout,
    pub(crate) entry: String,
    /// The values that the prologue has loaded and computed.
    pub(crate) arguments: FxHashMap<Argument, Value>,
    pub(crate) builtins: FxHashMap<(Builtin, u8), Value>,
    /// The register of each slot.
    pub(crate) slots: Vec<Value>,
    pub(crate) locals: Vec<Local>,
    /// The addresses at which arrays begin, by their names and offsets, once the prologue has them.
    pub(crate) bases: FxHashMap<String, Value>,
    /// Whether a view begins, some bytes on, at an address that is not aligned to a number of bytes.
    pub(crate) unaligned: FxHashMap<(ParamId, u64, u64), Value>,
    /// Whether views of several elements at once begin where they are aligned, as a branch around the code has tested.
    pub(crate) is_aligned: bool,
    /// The conditions of checks that do not fail here, as a branch around the code has tested.
    pub(crate) hoisted: FxHashSet<ExprId>,
    /// The expressions that have been computed within the statement, and their values.
    pub(crate) known: FxHashMap<ExprId, Value>,
    /// The current turn of each unrolled loop, by the slot that counts it.
    pub(crate) counters: FxHashMap<SlotId, u32>,
    pub(crate) flow: Flow,
    /// The lanes of the warp that have a thread, once the prologue has computed them.
    pub(crate) warp_lanes: Option<Lanes>,
    /// The compute capability.
    pub(crate) sm: u32,
    /// Whether a host watches the launch.
    pub(crate) watched: bool,
    pub(crate) sites: Sites,
    pub(crate) reports: Reports,
}

/// Makes a module of a kernel that PTX can do.
pub fn emit(kernel: &Legal, target: &PtxTarget) -> Result<Module, Lacking> {
    let layout = layout(kernel);
    let bytes = layout.parameter_bytes();
    if bytes > MOST_PARAMETER_BYTES {
        let (site, most) = (kernel.site, MOST_PARAMETER_BYTES);
        return Err(Lacking::Parameters { kernel: kernel.name.clone(), site, bytes, most });
    }
    let mut emitter = Emitter {
        asm: Assembler::new(),
        kernel,
        legal: kernel,
        lowering: Lowering::new(target.lowered(), kernel.widest_scope()),
        types: kernel.expr_types(),
        layout,
        entry: entry_name(&kernel.name),
        arguments: FxHashMap::default(),
        builtins: FxHashMap::default(),
        slots: Vec::new(),
        locals: Vec::new(),
        bases: FxHashMap::default(),
        unaligned: FxHashMap::default(),
        is_aligned: false,
        hoisted: FxHashSet::default(),
        known: FxHashMap::default(),
        counters: FxHashMap::default(),
        flow: Flow::default(),
        warp_lanes: None,
        sm: target.sm,
        watched: target.watched,
        sites: Sites::default(),
        reports: Reports::default(),
    };
    emitter.asm.comment(format_args!("{}:{}", kernel.site.file, kernel.site.line));
    emitter.declare_slots();
    emitter.declare_locals();
    if target.watched {
        emitter.begin();
    }
    emitter.block(&kernel.body)?;
    emitter.end();
    Ok(emitter.finish(target))
}

/// A name that PTX can write, and that no directive has (PTX ISA 8.8, 4.4 "Identifiers").
fn entry_name(name: &str) -> String {
    format!("wattle_{}", plain_name(name))
}

impl Emitter<'_> {
    fn finish(self, target: &PtxTarget) -> Module {
        let Emitter { asm, kernel, layout, entry, sites, locals, .. } = self;
        let header = format!(
            "// Wattle\n.version {}.{}\n.target sm_{}\n.address_size 64\n",
            target.ptx.0, target.ptx.1, target.sm
        );
        let mut body = String::new();
        if layout.launch_sized_element.is_some() || layout.shared_bytes_at_launch > 0 {
            let _ = writeln!(body, ".extern .shared .align 16 .b8 {entry}_shared[];\n");
        }
        body += &constants(kernel, &entry);
        let parameters = layout.arguments.iter().map(|parameter| {
            let bits = parameter.size * 8;
            format!("    .param .u{bits} {}", parameter_name(&entry, &kernel.params, parameter.what))
        });
        let parameters = parameters.collect::<Vec<_>>().join(",\n");
        let _ = writeln!(body, ".visible .entry {entry}(\n{parameters}\n)");
        if let Some(threads) = target.max_threads {
            let _ = writeln!(body, ".maxntid {threads}, 1, 1");
        }
        body += "{\n";
        if layout.shared_bytes_at_launch == 0 {
            for (number, array) in kernel.shared.iter().enumerate() {
                let Some(bytes) = shared_bytes(kernel, SharedId(number as u32)) else { continue };
                let name = shared_name(array.name, number);
                let _ = writeln!(body, "    .shared .align 16 .b8 {name}[{bytes}];");
            }
        }
        for (number, local) in locals.iter().enumerate() {
            if let Local::Memory = local {
                let array = &kernel.locals[number];
                let bytes = array.len.max(1).saturating_mul(array.element.size() as u32);
                let _ = writeln!(body, "    .local .align 16 .b8 local_{number}[{bytes}];");
            }
        }
        for (number, slot) in kernel.slots.iter().enumerate() {
            if let (Some(name), Some(register)) = (slot.name, self.slots.get(number)) {
                let _ = writeln!(body, "    // {register} is {name}");
            }
        }
        body += &asm.finish();
        body += "}\n";
        let waits = kernel.has_unbounded_loop();
        Module { header, body, entry, layout, sites: sites.finish(), waits }
    }

    /// Declares the slots' registers, which are zero when the kernel starts.
    fn declare_slots(&mut self) {
        for slot in &self.kernel.slots {
            let register = self.asm.fresh(slot.ty);
            self.slots.push(register);
            self.clear(register, slot.ty);
        }
    }

    pub(crate) fn clear(&mut self, register: Value, ty: Type) {
        match ty {
            Type::Bool => ins!(self, "mov.pred {register}, 0"),
            _ => self.copy(register, Value::Constant(ty, 0)),
        }
    }

    pub(crate) fn copy(&mut self, to: Value, from: Value) {
        let Value::Register(class, _) = to else { return };
        ins!(self, "mov.{} {to}, {from}", class.name());
    }

    pub(crate) fn slot(&self, slot: SlotId) -> Value {
        self.slots[slot.index()]
    }

    pub(crate) fn set_slot(&mut self, slot: SlotId, value: Value) {
        let to = self.slot(slot);
        if to != value {
            self.copy(to, value);
        }
    }

    /// Emits an instruction with one result and these operands, and returns the result.
    pub(crate) fn op(&mut self, name: &str, class: Class, operands: &[Value]) -> Value {
        let result = self.asm.register(class);
        let mut text = String::new();
        for operand in operands {
            let _ = write!(text, ", {operand}");
        }
        ins!(self, "{name} {result}{text}");
        result
    }

    /// The value in a register, for instructions that take no constants.
    pub(crate) fn in_register(&mut self, ty: Type, value: Value) -> Value {
        match value {
            Value::Register(..) => value,
            Value::Constant(..) => {
                let register = self.asm.fresh(ty);
                self.copy(register, value);
                register
            }
        }
    }

    /// Emits what `make` emits into the prologue.
    pub(crate) fn in_prologue<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let section = self.asm.go_to(Section::Prologue);
        let made = make(self);
        self.asm.go_to(section);
        made
    }

    /// A parameter of the entry.
    pub(crate) fn argument(&mut self, what: Argument) -> Value {
        if let Some(&known) = self.arguments.get(&what) {
            return known;
        }
        let name = parameter_name(&self.entry, &self.kernel.params, what);
        let value = self.in_prologue(|emitter| match what {
            Argument::Control | Argument::Host | Argument::Base(_) => emitter.address(&name),
            Argument::Scalar(id) => {
                let ty = match emitter.kernel.params[id.index()].kind {
                    ParamKind::Scalar(ty) | ParamKind::View { element: ty, .. } => ty,
                };
                emitter.scalar(ty, &name)
            }
            Argument::Launch(LaunchValue::ViewExtent(..) | LaunchValue::ViewStride(..)) if emitter.kernel.wide => {
                let to = emitter.asm.register(Class::Long);
                ins!(emitter, "ld.param.u64 {to}, [{name}]");
                to
            }
            Argument::Number | Argument::Launch(_) => {
                let to = emitter.asm.register(Class::Word);
                ins!(emitter, "ld.param.u32 {to}, [{name}]");
                to
            }
        });
        self.arguments.insert(what, value);
        value
    }

    /// A number of the launch, which is a parameter of the entry.
    pub(crate) fn launch_value(&mut self, value: LaunchValue) -> Value {
        self.argument(Argument::Launch(value))
    }

    /// An address in global memory.
    fn address(&mut self, name: &str) -> Value {
        let (generic, global) = (self.asm.register(Class::Long), self.asm.register(Class::Long));
        ins!(self, "ld.param.u64 {generic}, [{name}]");
        ins!(self, "cvta.to.global.u64 {global}, {generic}");
        global
    }

    fn scalar(&mut self, ty: Type, name: &str) -> Value {
        if ty == Type::Bool {
            let raw = self.asm.register(Class::Word);
            ins!(self, "ld.param.u8 {raw}, [{name}]");
            return self.op("setp.ne.u32", Class::Predicate, &[raw, Value::word(0)]);
        }
        let to = self.asm.fresh(ty);
        ins!(self, "ld.param.{} {to}, [{name}]", memory_type(ty));
        to
    }
}

/// An array's name in the entry. Numbered, since two may have the same name, and it may be one of PTX's own.
pub fn shared_name(name: &str, number: usize) -> String {
    format!("shared_{number}_{}", plain_name(name))
}

/// The name of a parameter.
pub fn parameter_name(entry: &str, params: &[Param], what: Argument) -> String {
    let of = |id: wattle_ir::ParamId| {
        let name = params.get(id.index()).map_or("", |param| param.name);
        format!("{}_{}", id.0, plain_name(name))
    };
    let name = match what {
        Argument::Control => "control".into(),
        Argument::Host => "host".into(),
        Argument::Number => "number".into(),
        Argument::Base(id) => format!("{}_base", of(id)),
        Argument::Scalar(id) => of(id),
        Argument::Launch(value) => value.name(of),
    };
    format!("{entry}_{name}")
}

/// Whether the launch must give all shared memory, because it is more than a module can have of its own.
pub fn shared_at_launch(bytes: u32) -> bool {
    bytes > MOST_STATIC_SHARED
}
