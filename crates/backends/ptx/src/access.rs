//! Plain accesses to memory, and the bounds check of every index.

use std::fmt;

use wattle_ir::fault::Fault;
use wattle_ir::{Access, DivOp, Expr, ExprId, LocalId, ParamKind, Place, Site, SlotId, Stmt, Type};

use crate::Lacking;
use crate::assemble::{Class, Section, Value, ins};
use crate::emit::{Emitter, memory_type, shared_name};
use crate::expr::int_type;
use crate::layout::Argument;
use crate::locals::Local;
use crate::parameters::shared_offsets;

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
    pub(crate) fn stmt(&mut self, stmt: &Stmt) -> Result<(), Lacking> {
        self.make(stmt)?;
        if let Some(slot) = stmt.assigned() {
            self.forget(slot);
        }
        Ok(())
    }

    fn make(&mut self, stmt: &Stmt) -> Result<(), Lacking> {
        // A slot may have another value than in the statement before.
        self.known.clear();
        if let Some(site) = stmt.site() {
            self.asm.site(site);
        }
        match stmt {
            Stmt::Assign { slot, value } => {
                let value = self.value(*value);
                self.set_slot(*slot, value);
            }
            Stmt::Divide { dst, op, left, right, site } => self.divide(*dst, *op, *left, *right, *site),
            Stmt::Load { dst, place, index, site } => self.load(*dst, *place, index, *site),
            Stmt::LoadLanes { dst, place, index, site } => self.load_lanes(*dst, *place, *index, *site),
            Stmt::Store { place, index, value, site } => self.store(*place, index, *value, *site),
            Stmt::AtomicLoad { .. }
            | Stmt::AtomicStore { .. }
            | Stmt::AtomicUpdate { .. }
            | Stmt::CompareExchange { .. } => return self.atomic(stmt),
            Stmt::Fence { order, scope, site } => return self.fence(*order, *scope, *site),
            Stmt::Barrier { .. } => self.barrier(),
            Stmt::If { condition, then, otherwise } => return self.if_else(*condition, then, otherwise),
            Stmt::Loop { label, body, continuing, bounded, site } => {
                return self.loop_over(*label, body, continuing, *bounded, *site);
            }
            Stmt::Block { label, body } => return self.labelled(*label, body),
            Stmt::Break(label) => self.break_from(*label),
            Stmt::Continue(label) => self.continue_at(*label),
            Stmt::Return => self.end_thread(),
            Stmt::Assert { condition, message, site } => {
                let holds = self.value(*condition);
                let (fails, end) = (self.asm.target(), self.asm.target());
                ins!(self, "@!{holds} bra {fails}");
                self.asm.place(end);
                self.apart(fails, end, |emitter| emitter.fault(*site, Fault::Assertion(message.clone()), &[]));
            }
        }
        Ok(())
    }

    /// Emits code that hardly ever runs, behind the kernel's end: from `start`, and then back to `end`.
    pub(crate) fn apart(
        &mut self,
        start: crate::assemble::Target,
        end: crate::assemble::Target,
        make: impl FnOnce(&mut Self),
    ) {
        let section = self.asm.go_to(Section::Cold);
        self.asm.place(start);
        make(self);
        self.asm.branch(end);
        self.asm.go_to(section);
    }

    fn divide(&mut self, dst: SlotId, op: DivOp, left: ExprId, right: ExprId, site: Site) {
        let ty = self.types[left.index()];
        let class = Class::of(ty);
        let (x, y) = (self.value(left), self.value(right));
        let of = int_type(ty);
        let minus_one = Value::Constant(ty, u64::MAX >> (64 - 8 * ty.size()));
        let (known_zero, known_fine) = match y {
            Value::Constant(_, raw) => (raw == 0, raw != 0 && y != minus_one),
            Value::Register(..) => (false, false),
        };
        if known_zero {
            self.fault(site, Fault::DivisionByZero, &[]);
            self.set_slot(dst, Value::Constant(ty, 0));
            return;
        }
        let (fails, end) = (self.asm.target(), self.asm.target());
        let checked = matches!(y, Value::Register(..));
        if checked {
            let by_zero = self.op(&format!("setp.eq.{of}"), Class::Predicate, &[y, Value::Constant(ty, 0)]);
            ins!(self, "@{by_zero} bra {fails}");
        }
        // The least value divided by -1 overflows, which the ISA does not define: a value that is divided by -1 is
        // negated. Small integers have room for the result.
        let overflows = ty.is_signed() && ty.size() >= 4 && !known_fine;
        let name = if op == DivOp::Div { "div" } else { "rem" };
        let result = if overflows {
            let y = self.in_register(ty, y);
            let negates = self.op(&format!("setp.eq.{of}"), Class::Predicate, &[y, minus_one]);
            let divisor = self.select(ty, negates, Value::Constant(ty, 1), y);
            let result = self.op(&format!("{name}.{of}"), class, &[x, divisor]);
            if op == DivOp::Div {
                let negated = self.in_register(ty, x);
                let negated = self.op(&format!("neg.{of}"), class, &[negated]);
                self.select(ty, negates, negated, result)
            } else {
                result
            }
        } else {
            let result = self.op(&format!("{name}.{of}"), class, &[x, y]);
            self.wrapped(ty, result)
        };
        self.set_slot(dst, result);
        if checked {
            self.asm.place(end);
            self.apart(fails, end, |emitter| {
                emitter.fault(site, Fault::DivisionByZero, &[]);
                emitter.set_slot(dst, Value::Constant(ty, 0));
            });
        }
    }

    /// Emits `within` for an index that is in bounds, and `beyond` for one that is not, which is a fault.
    pub(crate) fn checked<T: Default>(
        &mut self,
        place: Place,
        index: &[ExprId],
        lanes: u32,
        site: Site,
        within: impl FnOnce(&mut Self, &[Value]) -> T,
        beyond: impl FnOnce(&mut Self),
    ) -> T {
        let known: Vec<_> = (0..).zip(index).map(|(d, id)| lanes == 1 && self.is_within(*id, place, d)).collect();
        let index: Vec<_> = index.iter().map(|id| self.value(*id)).collect();
        if known.iter().all(|known| *known) {
            return within(self, &index);
        }
        if let ([Value::Constant(_, constant)], Some(len)) = (index.as_slice(), self.kernel.known_len(place)) {
            if constant + u64::from(lanes) <= u64::from(len) {
                return within(self, &index);
            }
            // An array in registers has no register for such an index.
            let told = vec![self.last_lane(index[0], lanes)];
            self.fault(site, Fault::OutOfBounds { place, rank: 1 }, &told);
            beyond(self);
            return T::default();
        }
        let mut beyond_bounds: Option<Value> = None;
        for (d, &at) in index.iter().enumerate().filter(|(d, _)| !known[*d]) {
            let extent = self.extent(place, d as u8);
            let (name, operands) = if lanes == 1 {
                ("ge", [at, extent])
            } else {
                // The last lane is in bounds if `at <= extent - lanes`, where the extent is at least `lanes`.
                let lanes = Value::word(lanes);
                let extent = self.in_register(Type::U32, extent);
                beyond_bounds = Some(self.op("setp.lt.u32", Class::Predicate, &[extent, lanes]));
                ("gt", [at, self.op("sub.u32", Class::Word, &[extent, lanes])])
            };
            beyond_bounds = Some(match beyond_bounds {
                None => self.op(&format!("setp.{name}.u32"), Class::Predicate, &operands),
                Some(before) => {
                    let operands = [operands[0], operands[1], before];
                    self.op(&format!("setp.{name}.or.u32"), Class::Predicate, &operands)
                }
            });
        }
        let Some(beyond_bounds) = beyond_bounds else { return T::default() };
        let (fails, end) = (self.asm.target(), self.asm.target());
        ins!(self, "@{beyond_bounds} bra {fails}");
        let result = within(self, &index);
        self.asm.place(end);
        self.apart(fails, end, |emitter| {
            let rank = index.len();
            let told = if lanes == 1 { index } else { vec![emitter.last_lane(index[0], lanes)] };
            emitter.fault(site, Fault::OutOfBounds { place, rank }, &told);
            beyond(emitter);
        });
        result
    }

    /// Returns `index + lanes - 1`, or the greatest number of 32 bits if that is beyond it.
    fn last_lane(&mut self, index: Value, lanes: u32) -> Value {
        match index {
            Value::Constant(_, raw) => Value::word((raw as u32).saturating_add(lanes - 1)),
            _ if lanes == 1 => index,
            _ => {
                let last = self.op("add.u32", Class::Word, &[index, Value::word(lanes - 1)]);
                let wrapped = self.op("setp.lt.u32", Class::Predicate, &[last, index]);
                self.select(Type::U32, wrapped, Value::word(u32::MAX), last)
            }
        }
    }

    /// The address of an element that is within bounds.
    pub(crate) fn pointer(&mut self, place: Place, index: &[Value]) -> Address {
        let size = self.kernel.element_of(place).size() as u64;
        match place {
            Place::Param(param) => {
                let base = self.argument(Argument::Base(param));
                self.in_view(param, base, index, size)
            }
            Place::Shared(id) => {
                let array = &self.kernel.shared[id.index()];
                let (offsets, prefix) = shared_offsets(self.kernel);
                let given = self.layout.shared_bytes_at_launch > 0;
                let (name, offset) = match array.len {
                    wattle_ir::SharedLen::AtLaunch if given => (format!("{}_shared", self.entry), prefix),
                    wattle_ir::SharedLen::AtLaunch => (format!("{}_shared", self.entry), 0),
                    _ if given => (format!("{}_shared", self.entry), offsets[id.index()]),
                    _ => (shared_name(array.name, id.index()), 0),
                };
                self.in_array("shared", Class::Word, name, u64::from(offset), index[0], size)
            }
            Place::Local(id) => self.in_array("local", Class::Long, format!("local_{}", id.0), 0, index[0], size),
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
        let (start, at) = (self.asm.register(class), self.asm.register(class));
        match class {
            Class::Long => {
                ins!(self, "mov.u64 {start}, {name}");
                ins!(self, "mad.wide.u32 {at}, {index}, {size}, {start}");
            }
            _ => {
                ins!(self, "mov.u32 {start}, {name}");
                ins!(self, "mad.lo.u32 {at}, {index}, {size}, {start}");
            }
        }
        Address { space, base: at.to_string(), offset }
    }

    fn in_view(&mut self, param: wattle_ir::ParamId, base: Value, index: &[Value], size: u64) -> Address {
        let address = |base: Value, offset| Address { space: "global", base: base.to_string(), offset };
        if let [only] = *index {
            if let Value::Constant(_, at) = only
                && at * size < MOST_OFFSET
            {
                return address(base, at * size);
            }
            let size = Value::word(size as u32);
            return address(self.op("mad.wide.u32", Class::Long, &[only, size, base]), 0);
        }
        // Elements are counted in 64 bits: a view of several dimensions may have more than 32 bits count.
        let mut elements: Option<Value> = None;
        for (d, &at) in index.iter().enumerate() {
            let stride =
                if d + 1 == index.len() { Value::word(1) } else { self.argument(Argument::Stride(param, d as u8)) };
            elements = Some(match elements {
                None => self.op("mul.wide.u32", Class::Long, &[at, stride]),
                Some(before) => self.op("mad.wide.u32", Class::Long, &[at, stride, before]),
            });
        }
        let Some(elements) = elements else { return address(base, 0) };
        address(self.op("mad.lo.u64", Class::Long, &[elements, Value::Constant(Type::U64, size), base]), 0)
    }

    /// The name of a plain load or store, up to the type. Plain accesses to memory that other threads may touch are weak
    /// (PTX ISA 8.8, 8.4 "Operation types"), which an access without a word is too.
    pub(crate) fn plain(&self, place: Place, what: &str) -> String {
        match place {
            Place::Local(_) => format!("{what}.local"),
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
            Local::Memory => None,
        }
    }

    fn load(&mut self, dst: SlotId, place: Place, index: &[ExprId], site: Site) {
        let ty = self.kernel.element_of(place);
        self.checked(
            place,
            index,
            1,
            site,
            |emitter, index| {
                if let Some((id, elements)) = emitter.elements(place) {
                    let value = emitter.chosen(id, &elements, index[0]);
                    return emitter.set_slot(dst, value);
                }
                let (at, to) = (emitter.pointer(place, index), emitter.slot(dst));
                ins!(emitter, "{}.{} {to}, {at}", emitter.plain(place, "ld"), memory_type(ty));
            },
            |emitter| emitter.set_slot(dst, Value::Constant(ty, 0)),
        );
    }

    fn store(&mut self, place: Place, index: &[ExprId], value: ExprId, site: Site) {
        let ty = self.kernel.element_of(place);
        let value = self.value(value);
        self.checked(
            place,
            index,
            1,
            site,
            |emitter, index| {
                if let Some((_, elements)) = emitter.elements(place) {
                    return emitter.choose(&elements, index[0], value);
                }
                let at = emitter.pointer(place, index);
                ins!(emitter, "{}.{} {at}, {value}", emitter.plain(place, "st"), memory_type(ty));
            },
            |_| {},
        );
    }

    /// Whether an expression is a constant or a slot, which costs nothing to compute.
    pub(crate) fn is_simple(&self, id: ExprId) -> bool {
        matches!(self.kernel.exprs[id.index()], Expr::Const(_) | Expr::Slot(_) | Expr::Param(_) | Expr::Builtin(..))
    }
}
