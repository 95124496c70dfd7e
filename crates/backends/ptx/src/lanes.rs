//! Accesses to several consecutive elements at once.

use wattle_ir::{ExprId, LocalId, Packed, ParamId, Place, Stmt, Type};

use crate::access::Address;
use crate::assemble::{Class, Value, ins};
use crate::emit::{Emitter, memory_type};
use crate::layout::Argument;

impl Emitter<'_> {
    pub(crate) fn load_lanes(&mut self, dst: LocalId, place: Place, index: ExprId) {
        let array = &self.kernel.locals[dst.index()];
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
                if ty.is_signed() && ty.is_int() && ty.bits() < u32::BITS {
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

    /// A value of a vector store. Among values of several types a constant gets a register: ptxas takes registers of
    /// one size for one type, and constants not.
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
    fn lanes(&mut self, place: Place, index: ExprId, ty: Type, lanes: u32) -> Vec<Value> {
        let alignment = self.legal.alignment(index);
        let index = self.value(index);
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
        self.grouped((place, &at, alignment), &values, size, |emitter, at, group| match group {
            [value] => ins!(emitter, "{name}.{of} {value}, {at}"),
            group => ins!(emitter, "{name}.v{}.{of} {{{}}}, {at}", group.len(), names(group)),
        });
        values
    }

    /// Stores values in the elements from an index on.
    pub(crate) fn store_lanes(&mut self, place: Place, index: ExprId, values: &[ExprId]) {
        let ty = self.kernel.element_of(place);
        let alignment = self.legal.alignment(index);
        let (index, values) = (self.value(index), values.iter().map(|&value| self.value(value)).collect::<Vec<_>>());
        let at = self.pointer(place, &[index]);
        let (name, of) = (self.plain(place, "st"), memory_type(ty));
        let size = ty.size() as u64;
        self.grouped((place, &at, alignment), &values, size, |emitter, at, group| match group {
            [value] => ins!(emitter, "{name}.{of} {at}, {value}"),
            group => ins!(emitter, "{name}.v{}.{of} {at}, {{{}}}", group.len(), names(group)),
        });
    }

    /// Emits accesses to consecutive elements: of as many at once as an instruction has, at most 16 bytes and four
    /// elements (PTX ISA 8.8, 5.4.2 "Vectors"), where the first is aligned so; else one by one, behind the kernel's
    /// end. `alignment` is a power of two that divides the index.
    fn grouped(
        &mut self,
        (place, at, alignment): (Place, &Address, u32),
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
        let bytes = group as u64 * size;
        let is_aligned = alignment >= group.ilog2();
        let apart = match place {
            // Arrays begin at a multiple of 16 bytes, and all else of the address is constant.
            Place::Shared(_) | Place::Local(_) if is_aligned && at.offset.is_multiple_of(bytes) => None,
            Place::Param(id) if is_aligned && self.kernel.params[id.index()].field.is_none() => {
                (!self.is_aligned || at.offset != 0).then(|| self.begins_apart(id, at.offset, bytes))
            }
            Place::Shared(_) | Place::Local(_) | Place::Param(_) => Some(self.is_apart(at, bytes)),
        };
        let targets = apart.map(|apart| (apart, self.asm.target(), self.asm.target()));
        if let Some((apart, one_by_one, _)) = targets {
            ins!(self, "@{apart} bra {one_by_one}");
        }
        for (number, group_values) in values.chunks(group).enumerate() {
            access(self, at.behind((number * group) as u64 * size), group_values);
        }
        if let Some((_, one_by_one, end)) = targets {
            self.asm.place(end);
            self.apart(one_by_one, end, |emitter| singly(emitter, &mut access));
        }
    }

    /// Whether a view begins at an address at which `lanes` elements from `index` on cannot be accessed together;
    /// `None` where that is not all that matters.
    pub(crate) fn lanes_apart(&mut self, id: ParamId, index: ExprId, lanes: usize) -> Option<Value> {
        let size = self.kernel.element_of(Place::Param(id)).size() as u64;
        let group = (16 / size).min(4) as usize;
        let is_one = self.kernel.params[id.index()].field.is_none() && lanes.is_multiple_of(group);
        (is_one && self.legal.alignment(index) >= group.ilog2()).then(|| self.begins_apart(id, 0, group as u64 * size))
    }

    /// Whether a view begins, `offset` bytes on, where it is not aligned to `bytes`: computed once.
    fn begins_apart(&mut self, id: ParamId, offset: u64, bytes: u64) -> Value {
        let first = self.kernel.first_of(id);
        let offset = offset % bytes;
        if let Some(&known) = self.unaligned.get(&(first, offset, bytes)) {
            return known;
        }
        let base = self.argument(Argument::Base(first));
        let at = Address { space: "global", base: base.to_string(), offset };
        let apart = self.in_prologue(|emitter| emitter.is_apart(&at, bytes));
        self.unaligned.insert((first, offset, bytes), apart);
        apart
    }

    /// Whether an address is not aligned to a number of bytes.
    fn is_apart(&mut self, at: &Address, bytes: u64) -> Value {
        let (bits, class) = if at.space == "shared" { ("32", Class::Word) } else { ("64", Class::Long) };
        let (start, low, last) = (self.asm.register(class), self.asm.register(class), bytes - 1);
        ins!(self, "mov.u{bits} {start}, {}", at.base);
        ins!(self, "and.b{bits} {low}, {start}, {last}");
        if at.offset != 0 {
            ins!(self, "add.u{bits} {low}, {start}, {}", at.offset);
            ins!(self, "and.b{bits} {low}, {low}, {last}");
        }
        let apart = self.asm.register(Class::Predicate);
        ins!(self, "setp.ne.u{bits} {apart}, {low}, 0");
        apart
    }
}

/// The names of registers or constants, between commas.
fn names(values: &[Value]) -> String {
    values.iter().map(Value::to_string).collect::<Vec<_>>().join(", ")
}
