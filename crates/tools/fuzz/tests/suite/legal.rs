//! A kernel that was made for a target does the same as before, although the target leaves much open: what it leaves
//! open is made visible here, and the kernel is run by the interpreter beside the one that was written.

use std::collections::HashMap;

use wattle::prelude::*;
use wattle_core::Kernel as _;
use wattle_fuzz::{ArgumentValue, Case, Profile, ViewValue, compare, generate, outcome};
use wattle_ir::fault::Fault;
use wattle_ir::message::{self, Message};
use wattle_ir::{
    Access, AtomicOp, BinaryOp, Const, DivOp, Expr, ExprId, Kernel, Legal, Param, ParamId, ParamKind, Place, SharedId,
    Site, Slot, SlotId, Stmt, Type, UnaryOp,
};
use wattle_memory::{ReadOrder, Scope as MemoryScope, WriteOrder};

/// A target: how kernels are made for it, and what its instructions leave open.
struct Target {
    name: &'static str,
    legal: Box<dyn Fn(&Kernel) -> Legal>,
    /// Whether the quotient of the least value and -1 is defined.
    divides_least: fn(Type) -> bool,
    /// Whether the remainder of a negative number is defined.
    remainders: bool,
    /// Whether a float that is no number, or does not fit, becomes what the IR says.
    converts: fn(Type, Type) -> [bool; 2],
    updates: Box<dyn Fn(AtomicOp, Type) -> bool>,
    lanes: bool,
}

fn targets() -> Vec<Target> {
    let spirv = |name, features: wattle_spirv::Features| {
        let sums = features.buffer_float32_add;
        Target {
            name,
            legal: Box::new(move |kernel| wattle_spirv::legal(kernel, &features)),
            divides_least: |_| false,
            remainders: false,
            converts: |_, _| [false, false],
            updates: Box::new(move |op, ty| match op {
                AtomicOp::Inc | AtomicOp::Dec => false,
                AtomicOp::Add => sums || !ty.is_float(),
                _ => true,
            }),
            lanes: false,
        }
    };
    let ptx = Target {
        name: "ptx",
        legal: Box::new(|kernel| wattle_ptx::legal(kernel, &wattle_ptx::PtxTarget::new(90))),
        divides_least: |ty| ty.bits() < 32,
        remainders: true,
        converts: |from, to| [from == Type::F32 && to.bits() <= 32, true],
        updates: Box::new(|op, ty| !matches!(op, AtomicOp::Inc | AtomicOp::Dec) || ty == Type::U32),
        lanes: true,
    };
    let all = wattle_spirv::Features::all();
    let no_sums = wattle_spirv::Features {
        buffer_float32_add: false,
        shared_float32_add: false,
        buffer_float64_add: false,
        shared_float64_add: false,
        ..all.clone()
    };
    vec![ptx, spirv("spirv", all), spirv("spirv without sums of floats", no_sums)]
}

/// A kernel as it is written that does what a legal one does on a target. What the target leaves open has a wrong value,
/// or is noted in the last parameter.
struct Opened<'t> {
    target: &'t Target,
    kernel: Kernel,
    types: Vec<Type>,
    known: HashMap<Expr, ExprId>,
    /// The parameter in which misuse is noted.
    misuse: ParamId,
    /// Arrays with the extents that shared ones have as they are written: those of a legal kernel have one dimension.
    grids: HashMap<SharedId, SharedId>,
}

impl Opened<'_> {
    fn of(legal: &Legal, written: &Kernel, target: &Target) -> Kernel {
        let mut empty = Kernel { exprs: Vec::new(), body: Vec::new(), ..(**legal).clone() };
        let misuse = ParamId(legal.params.len() as u32 - 1);
        let mut grids = HashMap::new();
        for (id, array) in (0..).zip(&written.shared).filter(|(_, array)| array.len.rank() > 1) {
            grids.insert(SharedId(id), SharedId(empty.shared.len() as u32));
            empty.shared.push(*array);
        }
        let mut opened = Opened { target, kernel: empty, types: Vec::new(), known: HashMap::new(), misuse, grids };
        let mut ids = Vec::new();
        for &(mut expr) in &legal.exprs {
            expr.operands_mut().for_each(|id: &mut ExprId| *id = ids[id.index()]);
            ids.push(opened.value(expr));
        }
        let mut body = legal.body.clone();
        wattle_ir::visit::walk_mut(&mut body, &mut |stmt| stmt.operands_mut().for_each(|id| *id = ids[id.index()]));
        let body = opened.block(body);
        Kernel { body, ..opened.kernel }
    }

    fn add(&mut self, expr: Expr) -> ExprId {
        if let Some(&id) = self.known.get(&expr) {
            return id;
        }
        self.types.push(self.kernel.type_of(&expr, &self.types).expect("well typed"));
        self.kernel.exprs.push(expr);
        let id = ExprId(self.types.len() as u32 - 1);
        self.known.insert(expr, id);
        id
    }

    fn of_raw(&mut self, ty: Type, raw: u64) -> ExprId {
        self.add(Expr::Const(Const { ty, raw }))
    }

    fn word(&mut self, value: u32) -> ExprId {
        self.of_raw(Type::U32, value.into())
    }

    fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.add(Expr::Binary(op, x, y))
    }

    fn ty(&self, id: ExprId) -> Type {
        self.types[id.index()]
    }

    fn value(&mut self, expr: Expr) -> ExprId {
        let value = self.add(expr);
        match expr {
            Expr::Binary(BinaryOp::Shl | BinaryOp::Shr, x, count) => {
                let bits = self.word(self.ty(x).bits());
                let defined = self.binary(BinaryOp::Lt, count, bits);
                self.where_defined(defined, value)
            }
            Expr::Cast(to, x) if to.is_int() && self.ty(x).is_float() => {
                let from = self.ty(x);
                let [no_number, beyond] = (self.target.converts)(from, to);
                let mut value = value;
                if !no_number {
                    let is_number = self.binary(BinaryOp::Eq, x, x);
                    value = self.where_defined(is_number, value);
                }
                if !beyond {
                    let power = |exponent: u32| {
                        let power = 2f64.powi(exponent as i32);
                        if from == Type::F32 { (power as f32).to_raw() } else { power.to_raw() }
                    };
                    let high = self.of_raw(from, power(to.bits() - u32::from(to.is_signed())));
                    let zero = self.of_raw(from, 0);
                    let low = if to.is_signed() { self.add(Expr::Unary(UnaryOp::Neg, high)) } else { zero };
                    let (above, below) = (self.binary(BinaryOp::Ge, x, low), self.binary(BinaryOp::Lt, x, high));
                    let fits = self.binary(BinaryOp::And, above, below);
                    value = self.where_defined(fits, value);
                }
                value
            }
            _ => value,
        }
    }

    fn where_defined(&mut self, defined: ExprId, value: ExprId) -> ExprId {
        let wrong = self.of_raw(self.ty(value), 0x5a5a_5a5a_5a5a_5a5a >> (64 - self.ty(value).bits()));
        self.add(Expr::Select(defined, value, wrong))
    }

    fn block(&mut self, block: Vec<Stmt>) -> Vec<Stmt> {
        let mut made = Vec::new();
        for mut stmt in block {
            for inner in stmt.blocks_mut() {
                *inner = self.block(std::mem::take(inner));
            }
            self.stmt(stmt, &mut made);
        }
        made
    }

    fn stmt(&mut self, stmt: Stmt, made: &mut Vec<Stmt>) {
        let target = self.target;
        match &stmt {
            Stmt::Fault { fault, index, site } => return made.push(self.fault(fault, index.clone(), *site)),
            Stmt::Assert { .. } => panic!("{}: an assertion", target.name),
            Stmt::LoadLanes { place, index, .. } | Stmt::StoreLanes { place, index, .. } => {
                assert!(target.lanes, "{}: several elements at once", target.name);
                let lanes = match &stmt {
                    Stmt::StoreLanes { values, .. } => values.len() as u32,
                    _ => stmt.parts().array.map_or(0, |dst| self.kernel.locals[dst.index()].len),
                };
                let extent = self.add(Expr::Extent(*place, 0));
                let lanes = self.of_raw(self.ty(extent), lanes.into());
                let few = self.binary(BinaryOp::Lt, extent, lanes);
                let last = self.binary(BinaryOp::Sub, extent, lanes);
                let behind = self.binary(BinaryOp::Gt, *index, last);
                self.note(few, made);
                self.note(behind, made);
            }
            Stmt::AtomicUpdate { op, operand, .. } => {
                assert!((target.updates)(*op, self.ty(*operand)), "{}: {op:?}", target.name);
            }
            Stmt::Divide { op, left, right, .. } => {
                let (op, left, right, ty) = (*op, *left, *right, self.ty(*left));
                assert!(target.remainders || op == DivOp::Div || !ty.is_signed(), "{}: a remainder", target.name);
                let zero = self.of_raw(ty, 0);
                let by_zero = self.binary(BinaryOp::Eq, right, zero);
                self.note(by_zero, made);
                if ty.is_signed() && !(target.divides_least)(ty) {
                    let all = u64::MAX >> (64 - ty.bits());
                    let (least, minus_one) = (self.of_raw(ty, all ^ (all >> 1)), self.of_raw(ty, all));
                    let is_least = self.binary(BinaryOp::Eq, left, least);
                    let negates = self.binary(BinaryOp::Eq, right, minus_one);
                    let overflows = self.binary(BinaryOp::And, is_least, negates);
                    self.note(overflows, made);
                }
            }
            _ => {}
        }
        if let Some(place) = stmt.place() {
            for (d, &index) in (0..).zip(stmt.parts().index.into_iter().flatten()) {
                let extent = self.add(Expr::Extent(place, d));
                let beyond = self.binary(BinaryOp::Ge, index, extent);
                self.note(beyond, made);
            }
        }
        made.push(stmt);
    }

    /// Notes where the condition holds.
    fn note(&mut self, condition: ExprId, made: &mut Vec<Stmt>) {
        let (index, value, site) = (vec![self.word(0)], self.word(1), Site::caller());
        let (place, order, scope) = (Place::Param(self.misuse), WriteOrder::Relaxed, MemoryScope::Device);
        let note = Stmt::AtomicStore { place, index, value, order, scope, site };
        made.push(Stmt::If { condition, then: vec![note], otherwise: vec![] });
    }

    fn slot(&mut self, ty: Type) -> SlotId {
        self.kernel.slots.push(Slot { ty, name: None });
        SlotId(self.kernel.slots.len() as u32 - 1)
    }

    /// The value of these words, as the host reads it.
    fn of_words(&mut self, ty: Type, words: &mut impl Iterator<Item = ExprId>) -> ExprId {
        let mut bits = words.next().expect("a word");
        if message::words(ty) == 2 {
            let high = words.next().expect("a second word");
            let (low, high) = (self.add(Expr::Cast(Type::U64, bits)), self.add(Expr::Cast(Type::U64, high)));
            let width = self.word(32);
            let high = self.add(Expr::Binary(BinaryOp::Shl, high, width));
            bits = self.add(Expr::Binary(BinaryOp::Or, high, low));
        }
        let wide = if message::words(ty) == 2 { Type::U64 } else { Type::U32 };
        let zero = self.of_raw(wide, 0);
        match ty {
            Type::Bool => self.add(Expr::Binary(BinaryOp::Ne, bits, zero)),
            _ if ty.bits() == wide.bits() && ty != wide => self.add(Expr::Bits(ty, bits)),
            _ => self.add(Expr::Cast(ty, bits)),
        }
    }

    /// A number of 64 bits of its words.
    fn long(&mut self, low: ExprId, high: ExprId) -> ExprId {
        let [low, high] = [low, high].map(|word| self.add(Expr::Cast(Type::U64, word)));
        let bits = self.word(32);
        let high = self.binary(BinaryOp::Shl, high, bits);
        self.binary(BinaryOp::Or, low, high)
    }

    /// A statement that has the fault.
    fn fault(&mut self, fault: &Fault, index: Vec<ExprId>, site: Site) -> Stmt {
        match fault {
            Fault::OutOfBounds { place, wide, .. } => {
                let index = match wide {
                    true => index.chunks(2).map(|words| self.long(words[0], words[1])).collect(),
                    false => index,
                };
                let place = match *place {
                    Place::Shared(id) if index.len() > 1 => Place::Shared(self.grids[&id]),
                    place => place,
                };
                let dst = self.slot(self.kernel.element_of(place));
                let atomic = match place {
                    Place::Param(id) => {
                        matches!(self.kernel.params[id.index()].kind, ParamKind::View { access: Access::Atomic, .. })
                    }
                    Place::Shared(id) => self.kernel.shared[id.index()].atomic,
                    Place::Local(_) => false,
                };
                let (order, scope) = (ReadOrder::Relaxed, MemoryScope::Device);
                if atomic {
                    Stmt::AtomicLoad { dst, place, index, order, scope, site }
                } else {
                    Stmt::Load { dst, place, index, site }
                }
            }
            Fault::DivisionByZero => {
                let dst = self.slot(Type::U32);
                let zero = self.word(0);
                Stmt::Divide { dst, op: DivOp::Div, left: zero, right: zero, site }
            }
            Fault::Assertion { text, types } => {
                let condition = self.of_raw(Type::Bool, 0);
                let mut words = index.into_iter();
                let arguments = types.iter().map(|&ty| self.of_words(ty, &mut words)).collect();
                Stmt::Assert { condition, message: Message { text: text.clone(), arguments }, site }
            }
            Fault::LoopCut | Fault::Loop => panic!("{fault:?} is no fault of a statement"),
        }
    }
}

/// The case with another parameter, in which misuse is noted.
fn with_note(mut case: Case) -> Case {
    let kind = ParamKind::View { access: Access::Atomic, element: Type::U32, rank: 1 };
    case.kernel.params.push(Param { name: "misuse", kind, field: None });
    let view = ViewValue { extent: vec![1], before: vec![], after: vec![], contents: vec![0] };
    case.arguments.push(ArgumentValue::View(view));
    case
}

/// Runs a case as it is written and as it is for each target; returns whether there was a fault.
fn same(case: &Case, targets: &[Target], seed: u64) -> bool {
    // Halves that a target lacks are integers in what is made for it; the buffers of structs have the types of the source.
    let is_half = |ty: &Type| matches!(ty, Type::F16 | Type::BF16);
    if case.views().any(|view| view.numbers.len() > 1 && view.numbers.iter().any(is_half)) {
        return false;
    }
    let device = Device::simulated(seed);
    let written = outcome(case, &device).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case}"));
    for target in targets {
        let kernel = Opened::of(&(target.legal)(&case.kernel), &case.kernel, target);
        let mut opened = Case { kernel, ..case.clone() };
        // Floats of 16 bits that the target lacks are integers.
        for (argument, param) in opened.arguments.iter_mut().zip(&opened.kernel.params) {
            if let (ArgumentValue::Scalar(constant), ParamKind::Scalar(ty)) = (argument, param.kind) {
                constant.ty = ty;
            }
        }
        let name = format!("seed {seed}, {}", target.name);
        let found = outcome(&opened, &device).unwrap_or_else(|error| panic!("{name}: {error}\n{case}"));
        assert_eq!(compare(case, &written, &found).map(|differs| differs.to_string()), None, "{name}\n{case}");
        // Which of several threads' faults is the first depends on the schedule; that of one thread does not.
        let faults =
            [&written, &found].map(|outcome| outcome.fault.as_ref().map(|fault| (fault.what.clone(), fault.site)));
        assert!(case.thread_count() > 1 || faults[0] == faults[1], "{name}: {faults:?}\n{case}");
    }
    written.fault.is_some()
}

#[test]
fn a_legal_kernel_does_the_same() {
    let targets = targets();
    // A log is a parameter more; `conformance` and the campaigns run kernels that print.
    let quiet = || Profile { prints: false, whole_warps: true, ..Profile::full() }.with_warps(32);
    let profiles = [quiet(), quiet().with_faults(), quiet().sized(60)];
    let case = |seed: u64| with_note(generate(seed, &profiles[seed as usize % profiles.len()]));
    let faults = (0..400).filter(|&seed| same(&case(seed), &targets, seed)).count();
    assert!(faults > 30, "{faults} faults are few");
}

#[test]
fn a_legal_kernel_with_indices_of_64_bits_does_the_same() {
    // Vulkan devices have none.
    let targets: Vec<_> = targets().into_iter().filter(|target| target.name == "ptx").collect();
    let quiet = || Profile { prints: false, whole_warps: true, ..Profile::full() }.with_warps(32);
    let profiles = [quiet(), quiet().with_faults()];
    let device = Device::simulated(0);
    let (mut faults, mut long) = (0, 0);
    for seed in 0..200 {
        let case = generate(seed, &profiles[seed as usize % profiles.len()]);
        let written = outcome(&case, &device).unwrap();
        let case = case.with_long_indices(seed % 4 < 2);
        let found = outcome(&case, &device).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{case}"));
        assert_eq!(compare(&case, &written, &found).map(|differs| differs.to_string()), None, "seed {seed}\n{case}");
        long += usize::from(case.kernel.expr_types().contains(&Type::U64));
        faults += usize::from(same(&with_note(case), &targets, seed));
    }
    assert!(faults > 15 && long > 100, "{faults} faults, {long} with indices of 64 bits");
}

#[kernel]
fn divides(_acc: &Acc, x: Read<i32>, y: Read<i32>, out: Shared<i32>) {
    for i in 0..x.len() {
        out[3 * i] = x[i] / y[i];
        out[3 * i + 1] = x[i] % y[i];
        let mut rest = x[i];
        if y[i] != 0 {
            rest = rest / y[i];
        }
        out[3 * i + 2] = rest;
    }
}

#[kernel]
fn loads_lanes(_acc: &Acc, x: Read<u32>, at: Read<u32>, out: Shared<u32>) {
    for i in 0..at.len() {
        let four = x.lanes::<4>(at[i]);
        for k in 0..4 {
            out[4 * i + k] = four[k] + k;
        }
    }
    for i in 0..x.len() {
        out[i] += x.lanes::<4>(i)[3];
    }
}

#[kernel]
fn looks_up(_acc: &Acc, x: Read<u32>, out: Shared<u32>) {
    let mut table = [3u32; 4];
    for k in 0..4 {
        table[k] = k + 7;
    }
    for i in 0..x.len() {
        let v = x[i];
        out[12 * i] = table[v & 3];
        out[12 * i + 1] = table[v & 7];
        out[12 * i + 2] = table[v >> 30];
        out[12 * i + 3] = table[v >> 29];
        out[12 * i + 4] = table[(v as i32 >> 30) as u32];
        out[12 * i + 5] = table[v.min(3)];
        out[12 * i + 6] = table[v.min(4)];
        out[12 * i + 7] = table[v as u8 as u32];
        if v < 4 {
            out[12 * i + 8] = table[v];
        }
        if v < 5 {
            out[12 * i + 9] = table[v];
        }
        if !((v > 4) | (i == 100)) {
            out[12 * i + 10] = table[v];
        }
        let w = if i == 1 { v } else { 1 };
        out[12 * i + 11] = table[w];
    }
}

#[kernel]
fn moves_on(_acc: &Acc, x: Read<u32>, out: Shared<u32>, to: u32) {
    let mut i = to;
    if i < x.len() {
        i += 3;
        out[0] = x[i];
    }
    let mut j = to;
    if j < x.len() {
        while j < 9 {
            out[j + 1] = x[j];
            j += 1;
        }
    }
    let mut k = to;
    if k < x.len() {
        if to < 100 {
            k = out[3] + to + 9;
            out[12] = 1;
        }
        out[10] = x[k] + 1;
    }
    if to + 8 < x.len() {
        out[11] = 1;
    }
    out[13] = x[to + 8];
    if to + 7 < x.len() {
        return;
    }
    out[14] = x[to + 7];
}

/// What the targets leave open, and what is known of an index, at their edges.
#[test]
fn edges() {
    let device = Device::host();
    let view = |contents: Vec<u64>, len: u32| {
        ArgumentValue::View(ViewValue { extent: vec![len], before: vec![], after: vec![], contents })
    };
    let (u32s, i32s) = (device.alloc::<u32>(1).unwrap(), device.alloc::<i32>(1).unwrap());
    let raw = |value: i32| u64::from(value as u32);
    let (x, y) = ([i32::MIN, 7, -7, i32::MIN, 5, i32::MAX, -9], [-1, -1, 2, 3, 0, -1, -4]);
    let x = view(x.map(raw).to_vec(), 7);
    let y = view(y.map(raw).to_vec(), 7);
    let mut cases = vec![(divides(&i32s, &i32s, &i32s).build().unwrap(), vec![x, y, view(vec![], 21)])];
    let at = [0, 1, 3, 4, 5, 7, 8, u32::MAX, u32::MAX - 2].map(u64::from).to_vec();
    for len in [1, 3, 4, 7] {
        let x = view((10..10 + u64::from(len)).collect(), len);
        let arguments = vec![x, view(at.clone(), 9), view(vec![], 36)];
        cases.push((loads_lanes(&u32s, &u32s, &u32s).build().unwrap(), arguments));
    }
    for value in [0, 3, 4, 5, 255, 256, 1 << 29, 1 << 30, 3 << 30, u32::MAX] {
        let x = view(vec![value.into(), value.into()], 2);
        cases.push((looks_up(&u32s, &u32s).build().unwrap(), vec![x, view(vec![], 24)]));
    }
    for to in [0, 1, 2, 3, u32::MAX] {
        let arguments = vec![view(vec![1, 2, 3], 3), view(vec![], 15), ArgumentValue::Scalar(Const::of(to))];
        cases.push((moves_on(&u32s, &u32s, to).build().unwrap(), arguments));
    }
    for (kernel, arguments) in cases {
        let (note, ones) = (kernel.name.clone(), vec![1]);
        let case = Case { note, blocks: ones.clone(), threads: ones, warp_size: 0, shared_len: 0, arguments, kernel };
        same(&with_note(case), &targets(), 0);
    }
}
