//! Plain accesses to memory. The bounds checks stand in the kernel already ([`wattle_ir::legalize()`]).

use std::fmt;

use wattle_ir::{Access, Expr, ExprId, LaunchValue, LocalId, ParamKind, Place, SlotId, Type};

use crate::assemble::{Class, Section, Value, ins};
use crate::emit::{Emitter, memory_type, shared_name};
use crate::layout::Argument;
use crate::locals::{Local, constants_name};
use crate::parameters::{SharedPlace, shared_offsets};

/// An element's address, and its space.
#[derive(Clone, Debug)]
pub struct Address {
    pub space: &'static str,
    pub base: String,
    pub offset: u64,
}

impl Address {
    /// The address `bytes` bytes further.
    pub fn behind(&self, bytes: u64) -> Address {
        Address { offset: self.offset + bytes, ..self.clone() }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.offset {
            0 => write!(f, "[{}]", self.base),
            offset => write!(f, "[{}+{offset}]", self.base),
        }
    }
}

/// The greatest offset that an address has in its text: it is a signed number of 32 bits.
const MOST_OFFSET: u64 = 0x7fff_0000;

impl Emitter<'_> {
    /// Emits code that hardly ever runs, behind the kernel's end: from `start`, and then back to `end`.
    pub(crate) fn apart(
        &mut self,
        start: crate::assemble::BranchTarget,
        end: crate::assemble::BranchTarget,
        make: impl FnOnce(&mut Self),
    ) {
        let section = self.asm.go_to(Section::Cold);
        // What is there already goes around it.
        let over = (section == Section::Cold).then(|| self.asm.target());
        if let Some(over) = over {
            self.asm.branch(over);
        }
        self.asm.place(start);
        make(self);
        self.asm.branch(end);
        if let Some(over) = over {
            self.asm.place(over);
        }
        self.asm.go_to(section);
    }

    pub(crate) fn index(&mut self, index: &[ExprId]) -> Vec<Value> {
        index.iter().map(|id| self.value(*id)).collect()
    }

    /// The address of an element that is within bounds.
    pub(crate) fn pointer(&mut self, place: Place, index: &[Value]) -> Address {
        let size = self.kernel.element_of(place).size() as u64;
        match place {
            Place::Param(param) => self.in_view(param, index),
            Place::Shared(number) => {
                let SharedPlace { first: id, offset: within, size } = SharedPlace::of(self.kernel, number);
                let array = &self.kernel.shared[id.index()];
                let (offsets, prefix) = shared_offsets(self.kernel);
                let given = self.layout.shared_bytes_at_launch > 0;
                let (name, offset) = match array.len {
                    wattle_ir::SharedLen::AtLaunch if given => (format!("{}_shared", self.entry), prefix),
                    wattle_ir::SharedLen::AtLaunch => (format!("{}_shared", self.entry), 0),
                    _ if given => (format!("{}_shared", self.entry), offsets[id.index()]),
                    _ => (shared_name(array.name, id.index()), 0),
                };
                self.in_array("shared", Class::Word, name, u64::from(offset + within), index[0], u64::from(size))
            }
            Place::Local(id) => {
                let name = match self.locals[id.index()] {
                    Local::Constants => constants_name(&self.entry, id.index()),
                    Local::Registers(_) | Local::Memory => format!("local_{}", id.0),
                };
                self.in_array(self.local_space(id), Class::Long, name, 0, index[0], size)
            }
        }
    }

    fn in_array(
        &mut self,
        space: &'static str,
        class: Class,
        name: String,
        offset: u64,
        index: Value,
        size: u64,
    ) -> Address {
        if let Value::Constant(_, at) = index
            && at * size < MOST_OFFSET
        {
            return Address { space, base: name, offset: offset + at * size };
        }
        let start = self.start(class, name);
        let at = match class {
            Class::Long => self.at_start(start, index, size),
            _ => self.op("mad.lo.u32", class, &[index, Value::word(size as u32), start]),
        };
        Address { space, base: at.to_string(), offset }
    }

    /// The address at which an array begins.
    fn start(&mut self, class: Class, name: String) -> Value {
        if let Some(&known) = self.bases.get(&name) {
            return known;
        }
        let bits = if class == Class::Long { 64 } else { 32 };
        let start = self.in_prologue(|emitter| {
            let start = emitter.asm.register(class);
            ins!(emitter, "mov.u{bits} {start}, {name}");
            start
        });
        self.bases.insert(name, start);
        start
    }

    fn in_view(&mut self, param: wattle_ir::ParamId, index: &[Value]) -> Address {
        let kernel = self.kernel;
        let (first, offset, size) = match kernel.params[param.index()].field {
            Some(field) => (field.first, u64::from(field.offset), u64::from(field.size)),
            None => (param, 0, kernel.element_of(Place::Param(param)).size() as u64),
        };
        let base = self.argument(Argument::Base(first));
        let address = |base: Value, bytes| Address { space: "global", base: base.to_string(), offset: offset + bytes };
        if let [only] = *index {
            if let Value::Constant(_, at) = only
                && at * size < MOST_OFFSET
            {
                return address(base, at * size);
            }
            return address(self.in_view_at(base, only, size), 0);
        }
        // The index is within bounds, so the number of its element is below 2³² in a kernel that is not wide
        // (`LaunchValue::ViewStride`), and the address is one of the buffer's in every kernel.
        let (class, bits) = match self.kernel.wide {
            true => (Class::Long, "u64"),
            false => (Class::Word, "u32"),
        };
        let mut elements: Option<Value> = None;
        for (d, &at) in index.iter().enumerate() {
            let stride = (d + 1 < index.len()).then(|| self.launch_value(LaunchValue::ViewStride(first, d as u8)));
            elements = Some(match (elements, stride) {
                (None, None) => at,
                (None, Some(stride)) => self.op(&format!("mul.lo.{bits}"), class, &[at, stride]),
                (Some(before), None) => self.op(&format!("add.{bits}"), class, &[before, at]),
                (Some(before), Some(stride)) => self.op(&format!("mad.lo.{bits}"), class, &[at, stride, before]),
            });
        }
        let Some(elements) = elements else { return address(base, 0) };
        address(self.in_view_at(base, elements, size), 0)
    }

    /// The address of an element of a view that begins at `base`.
    fn in_view_at(&mut self, base: Value, element: Value, size: u64) -> Value {
        if !self.kernel.wide {
            return self.at_start(base, element, size);
        }
        let distance = match size {
            1 => element,
            _ => self.op("mul.lo.u64", Class::Long, &[element, Value::Constant(Type::U64, size)]),
        };
        self.op("add.u64", Class::Long, &[base, distance])
    }

    /// The address of an element in memory that begins at `start`. (ptxas makes one instruction of these two, and more
    /// of a `mad.wide`, whose parts it shares among addresses.)
    fn at_start(&mut self, start: Value, element: Value, size: u64) -> Value {
        let distance = self.op("mul.wide.u32", Class::Long, &[element, Value::word(size as u32)]);
        self.op("add.u64", Class::Long, &[start, distance])
    }

    /// The name of a plain load or store, up to the type. Plain accesses to memory that other threads may touch are
    /// weak (PTX ISA 8.8, 8.4 "Operation types"), which an access without a word is too.
    pub(crate) fn plain(&self, place: Place, what: &str) -> String {
        match place {
            Place::Local(id) => format!("{what}.{}", self.local_space(id)),
            Place::Shared(_) => format!("{what}.weak.shared"),
            Place::Param(id) => match self.kernel.params[id.index()].kind {
                ParamKind::View { access: Access::Read, .. } => format!("{what}.global.nc"),
                ParamKind::View { access: Access::PerItem, .. } | ParamKind::Scalar(_) => format!("{what}.global"),
                ParamKind::View { .. } => format!("{what}.weak.global"),
            },
        }
    }

    pub(crate) fn elements(&self, place: Place) -> Option<(LocalId, Vec<Value>)> {
        let Place::Local(id) = place else { return None };
        match &self.locals[id.index()] {
            Local::Registers(registers) => Some((id, registers.clone())),
            Local::Memory | Local::Constants => None,
        }
    }

    pub(crate) fn load(&mut self, dst: SlotId, place: Place, index: &[ExprId]) {
        let index = self.index(index);
        if let Some((id, elements)) = self.elements(place) {
            let value = self.chosen(id, &elements, index[0]);
            return self.set_slot(dst, value);
        }
        let (at, to, ty) = (self.pointer(place, &index), self.slot(dst), self.kernel.element_of(place));
        ins!(self, "{}.{} {to}, {at}", self.plain(place, "ld"), memory_type(ty));
    }

    pub(crate) fn store(&mut self, place: Place, index: &[ExprId], value: ExprId) {
        let (index, value) = (self.index(index), self.value(value));
        if let Some((_, elements)) = self.elements(place) {
            return self.choose(&elements, index[0], value);
        }
        let (at, ty) = (self.pointer(place, &index), self.kernel.element_of(place));
        ins!(self, "{}.{} {at}, {value}", self.plain(place, "st"), memory_type(ty));
    }

    /// Whether an expression is a constant or a slot, which costs nothing to compute.
    pub(crate) fn is_simple(&self, id: ExprId) -> bool {
        matches!(self.kernel.exprs[id.index()], Expr::Const(_) | Expr::Slot(_) | Expr::Param(_) | Expr::Builtin(..))
    }
}
