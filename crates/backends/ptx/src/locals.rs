//! The thread's own arrays: they are registers where possible, else local memory.

use std::fmt::Write as _;

use wattle_ir::{Kernel, LocalId, Place, Type};

use crate::assemble::{Class, Value, ins};
use crate::emit::{Emitter, memory_type};
use crate::expr::select_type;
use crate::unroll::{is_constant, walk_unrolled};

/// The longest array that is kept in registers if all its indices are constants.
const MOST_REGISTERS: u32 = 128;
/// The longest array that is kept in registers if some index is not constant: each such access looks at every element.
const MOST_CHOSEN: u32 = 8;

/// The storage of an array of the thread's own.
#[derive(Clone, Debug)]
pub enum Local {
    /// The array is kept in registers, one for each element.
    Registers(Vec<Value>),
    /// Local memory, under the name that the array's number gives it.
    Memory,
    /// An array of constants: a variable of the module.
    Constants,
}

/// Bytes of constant memory that a module's variables can have (CUDA C++ Programming Guide, "Technical Specifications
/// per Compute Capability").
const CONSTANT_MEMORY: usize = 64 << 10;

/// The state space of a kernel's arrays of constants: what they are too many for is global memory.
pub(crate) fn constant_space(kernel: &Kernel) -> &'static str {
    let arrays = kernel.locals.iter().filter(|array| array.constants.is_some());
    // Each may have to be aligned to 16 bytes.
    let bytes: usize = arrays.map(|array| (array.len as usize * array.element.size()).next_multiple_of(16)).sum();
    if bytes <= CONSTANT_MEMORY { "const" } else { "global" }
}

/// The variables of the module that hold a kernel's arrays of constants.
pub(crate) fn constants(kernel: &Kernel, entry: &str) -> String {
    let mut text = String::new();
    for (number, array) in kernel.locals.iter().enumerate() {
        let Some(constants) = &array.constants else { continue };
        let (space, bits) = (constant_space(kernel), array.element.bits());
        let values = constants.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let name = constants_name(entry, number);
        let len = array.len.max(1);
        let values = if values.is_empty() { "0".to_owned() } else { values };
        let _ = writeln!(text, ".{space} .align 16 .b{bits} {name}[{len}] = {{{values}}};\n");
    }
    text
}

/// The name of an array of constants, which other kernels of a program may have too.
pub(crate) fn constants_name(entry: &str, number: usize) -> String {
    format!("{entry}_constants_{number}")
}

impl Emitter<'_> {
    /// Declares the thread's own arrays, whose elements are zero when the kernel starts.
    pub(crate) fn declare_locals(&mut self) {
        let mut chosen = vec![false; self.kernel.locals.len()];
        walk_unrolled(self.kernel, &self.kernel.body, &mut Vec::new(), &mut |stmt, counters| {
            let (Some(Place::Local(id)), Some((index, _))) = (stmt.place(), stmt.accessed(self.kernel)) else { return };
            chosen[id.index()] |= !index.iter().all(|index| is_constant(self.kernel, *index, counters));
        });
        for (number, array) in self.kernel.locals.iter().enumerate() {
            if array.constants.is_some() {
                self.locals.push(Local::Constants);
            } else if array.len <= if chosen[number] { MOST_CHOSEN } else { MOST_REGISTERS } {
                let registers: Vec<_> = (0..array.len).map(|_| self.asm.fresh(array.element)).collect();
                registers.iter().for_each(|&register| self.clear(register, array.element));
                self.locals.push(Local::Registers(registers));
            } else {
                self.locals.push(Local::Memory);
                self.clear_memory(number, array.element, array.len);
            }
        }
    }

    /// The state space of an array of the thread's own in memory, or of constants.
    pub(crate) fn local_space(&self, id: LocalId) -> &'static str {
        match self.locals[id.index()] {
            Local::Constants => constant_space(self.kernel),
            Local::Registers(_) | Local::Memory => "local",
        }
    }

    fn clear_memory(&mut self, number: usize, ty: Type, len: u32) {
        let bytes = len.saturating_mul(ty.size() as u32);
        let (at, end) = (self.asm.register(Class::Long), self.asm.register(Class::Long));
        ins!(self, "mov.u64 {at}, local_{number}");
        // Whole groups of 16 bytes, and what is left one element at a time.
        let whole = bytes & !15;
        if whole > 0 {
            let again = self.asm.target();
            ins!(self, "add.u64 {end}, {at}, {whole}");
            self.asm.place(again);
            ins!(self, "st.local.v4.u32 [{at}], {{0, 0, 0, 0}}");
            ins!(self, "add.u64 {at}, {at}, 16");
            let more = self.op("setp.lt.u64", Class::Predicate, &[at, end]);
            ins!(self, "@{more} bra {again}");
        }
        let zero = Value::Constant(ty, 0);
        for offset in (0..bytes - whole).step_by(ty.size()) {
            ins!(self, "st.local.{} [{at}+{offset}], {zero}", memory_type(ty));
        }
    }

    /// Loads an element of an array that is registers; the index is in bounds.
    pub(crate) fn chosen(&mut self, id: LocalId, elements: &[Value], index: Value) -> Value {
        let ty = self.kernel.locals[id.index()].element;
        let Some((&first, others)) = elements.split_first() else { return Value::Constant(ty, 0) };
        if let Value::Constant(_, at) = index {
            return elements.get(at as usize).copied().unwrap_or(first);
        }
        let of = select_type(ty);
        let mut found = first;
        for (number, &element) in others.iter().enumerate() {
            let here = self.op("setp.eq.u32", Class::Predicate, &[index, Value::word(number as u32 + 1)]);
            found = self.op(&format!("selp.{of}"), Class::of(ty), &[element, found, here]);
        }
        found
    }

    /// Sets an element of an array that is registers; the index is in bounds.
    pub(crate) fn choose(&mut self, elements: &[Value], index: Value, value: Value) {
        if let Value::Constant(_, at) = index {
            if let Some(&element) = elements.get(at as usize) {
                self.copy(element, value);
            }
            return;
        }
        for (number, &element) in elements.iter().enumerate() {
            let Value::Register(class, _) = element else { continue };
            let here = self.op("setp.eq.u32", Class::Predicate, &[index, Value::word(number as u32)]);
            ins!(self, "@{here} mov.{} {element}, {value}", class.name());
        }
    }
}
