//! Accesses to several consecutive elements at once.

use wattle_ir::{ExprId, LocalId, Packed, Place, Stmt, Type};

use crate::access::Address;
use crate::assemble::{Class, Value, ins};
use crate::emit::{Emitter, memory_type};

impl Emitter<'_> {
    pub(crate) fn load_lanes(&mut self, dst: LocalId, place: Place, index: ExprId) {
        let (array, index) = (&self.kernel.locals[dst.index()], self.value(index));
        let values = self.lanes(place, index, array.element, array.len);
        for (lane, value) in (0..).zip(values) {
            let lane = Value::word(lane);
            match self.elements(Place::Local(dst)) {
                Some((_, elements)) => self.choose(&elements, lane, value),
                None => {
                    let to = self.pointer(Place::Local(dst), &[lane]);
                    ins!(self, "st.local.{} {to}, {value}", memory_type(array.element));
                }
            }
        }
    }

    /// Emits the accesses with which the block begins as one instruction, if they are to neighbouring numbers of an
    /// element; returns how many they are. (PTX ISA 8.8, 5.4.2 "Vectors": aligned to their size together.)
    pub(crate) fn packed(&mut self, block: &[Stmt]) -> Option<usize> {
        let kernel = self.kernel;
        let of = |ty: Type, plain: bool| if plain { memory_type(ty).to_owned() } else { format!("b{}", ty.bits()) };
        let (loads, stores) = (kernel.packed_loads(block), kernel.packed_stores(block));
        let is_packed = loads.is_some() || stores.is_some();
        if let Some(site) = block.first().and_then(Stmt::site).filter(|_| is_packed) {
            self.asm.site(site);
        }
        let count = if let Some(Packed { place, index, values, ty }) = loads {
            let plain = values.iter().all(|slot| kernel.slots[slot.index()].ty == ty);
            let index = self.index(index);
            let (at, to) =
                (self.pointer(place, &index), values.iter().map(|slot| self.slot(*slot)).collect::<Vec<_>>());
            let (name, of) = (self.plain(place, "ld"), of(ty, plain));
            ins!(self, "{name}.v{}.{of} {{{}}}, {at}", to.len(), names(&to));
            for (slot, register) in values.iter().zip(&to).filter(|_| !plain) {
                // Bits are extended by zeros (PTX ISA 8.8, 5.2.2): a type with a sign wants its own.
                let ty = kernel.slots[slot.index()].ty;
                if matches!(ty, Type::I8 | Type::I16) {
                    ins!(self, "cvt.s32.{} {register}, {register}", memory_type(ty));
                }
            }
            to.len()
        } else if let Some(Packed { place, index, values, ty }) = stores {
            let plain = values.iter().all(|value| self.types[value.index()] == ty);
            let index = self.index(index);
            let values: Vec<_> = values.iter().map(|value| self.component(*value, plain)).collect();
            let at = self.pointer(place, &index);
            let (name, of) = (self.plain(place, "st"), of(ty, plain));
            ins!(self, "{name}.v{}.{of} {at}, {{{}}}", values.len(), names(&values));
            values.len()
        } else {
            return None;
        };
        self.known.clear();
        Some(count)
    }

    /// A value of a vector store. Among values of several types a constant gets a register: ptxas takes registers of one size
    /// for one type, and constants not.
    fn component(&mut self, value: ExprId, plain: bool) -> Value {
        let of = self.value(value);
        if plain || !matches!(of, Value::Constant(..)) {
            return of;
        }
        let register = self.asm.fresh(self.types[value.index()]);
        self.copy(register, of);
        register
    }

    /// Loads `lanes` elements from an index on.
    fn lanes(&mut self, place: Place, index: Value, ty: Type, lanes: u32) -> Vec<Value> {
        if let Some((id, elements)) = self.elements(place) {
            let at = |emitter: &mut Self, lane: u32| match index {
                Value::Constant(_, raw) => Value::word(raw as u32 + lane),
                index => emitter.op("add.u32", Class::Word, &[index, Value::word(lane)]),
            };
            // The values get registers of their own: the array may be loaded from itself.
            let mut values = Vec::new();
            for lane in 0..lanes {
                let at = at(self, lane);
                let (from, to) = (self.chosen(id, &elements, at), self.asm.fresh(ty));
                self.copy(to, from);
                values.push(to);
            }
            return values;
        }
        let at = self.pointer(place, &[index]);
        let values: Vec<_> = (0..lanes).map(|_| self.asm.fresh(ty)).collect();
        let (name, of, size) = (self.plain(place, "ld"), memory_type(ty), ty.size() as u64);
        self.grouped(&at, &values, size, |emitter, at, group| match group {
            [value] => ins!(emitter, "{name}.{of} {value}, {at}"),
            group => ins!(emitter, "{name}.v{}.{of} {{{}}}, {at}", group.len(), names(group)),
        });
        values
    }

    /// Stores values in the elements from an index on.
    pub(crate) fn store_lanes(&mut self, place: Place, index: ExprId, values: &[ExprId]) {
        let ty = self.kernel.element_of(place);
        let (index, values) = (self.value(index), values.iter().map(|&value| self.value(value)).collect::<Vec<_>>());
        let at = self.pointer(place, &[index]);
        let (name, of) = (self.plain(place, "st"), memory_type(ty));
        self.grouped(&at, &values, ty.size() as u64, |emitter, at, group| match group {
            [value] => ins!(emitter, "{name}.{of} {at}, {value}"),
            group => ins!(emitter, "{name}.v{}.{of} {at}, {{{}}}", group.len(), names(group)),
        });
    }

    /// Emits accesses to consecutive elements: of as many at once as an instruction has, at most 16 bytes and four
    /// elements (PTX ISA 8.8, 5.4.2 "Vectors"), where the first is aligned so; else one by one, behind the kernel's end.
    fn grouped(
        &mut self,
        at: &Address,
        values: &[Value],
        size: u64,
        mut access: impl FnMut(&mut Self, Address, &[Value]),
    ) {
        let singly = |emitter: &mut Self, access: &mut dyn FnMut(&mut Self, Address, &[Value])| {
            for (lane, value) in values.iter().enumerate() {
                access(emitter, at.behind(lane as u64 * size), std::slice::from_ref(value));
            }
        };
        let group = (16 / size).min(4) as usize;
        if !values.len().is_multiple_of(group) {
            return singly(self, &mut access);
        }
        let (long, last) = (at.space != "shared", group as u64 * size - 1);
        let (bits, class) = if long { ("64", Class::Long) } else { ("32", Class::Word) };
        let (start, low) = (self.asm.register(class), self.asm.register(class));
        ins!(self, "mov.u{bits} {start}, {}", at.base);
        ins!(self, "and.b{bits} {low}, {start}, {last}");
        if at.offset != 0 {
            ins!(self, "add.u{bits} {low}, {start}, {}", at.offset);
            ins!(self, "and.b{bits} {low}, {low}, {last}");
        }
        let apart = self.asm.register(Class::Predicate);
        ins!(self, "setp.ne.u{bits} {apart}, {low}, 0");
        let (one_by_one, end) = (self.asm.target(), self.asm.target());
        ins!(self, "@{apart} bra {one_by_one}");
        for (number, group_values) in values.chunks(group).enumerate() {
            access(self, at.behind((number * group) as u64 * size), group_values);
        }
        self.asm.place(end);
        self.apart(one_by_one, end, |emitter| singly(emitter, &mut access));
    }
}

/// The names of registers or constants, between commas.
fn names(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}
