//! Builds the kernel of a program.

use wattle_ir::{
    Access, AtomicOp, BinaryOp, Builtin, Const, Expr, ExprId, Kernel as Ir, Label, Param, ParamId, ParamKind, Place,
    Scalar, SharedArray, SharedId, SharedLen, Site, Slot, SlotId, Stmt, Type,
};
use wattle_litmus::{Comparison, Observed, Operator};
use wattle_memory::{ReadOrder, Scope, UpdateOrder};

use super::{INFO, NOISE_WORDS, PARAMETERS, SHARED_INSTANCES};
use crate::environment::Space;
use crate::lift::phases;
use crate::program::{Op, Operand, Program};

// The parameters that the code names, by their numbers.
const ROLES: u32 = 0;
const INSTANCES: u32 = 1;
const DELAYS: u32 = 2;
const PLACES: u32 = 3;
const MEETING: u32 = 4;
const NOISE: u32 = 5;
const PLAIN: u32 = 6;
const ATOMIC: u32 = 7;
const OUT: u32 = 8;
const PATIENCE: u32 = 9;
const COUNT: u32 = 10;

/// The most steps of a thread that jumps, between two barriers.
const STEPS: u32 = 256;

/// A kernel that is being built.
pub(super) struct Code<'p> {
    program: &'p Program,
    space: Space,
    kernel: Ir,
    labels: u32,
    site: Site,
    /// The thread's instance, the places of its words, its registers, and whether it has come to its end.
    instance: SlotId,
    places: Vec<SlotId>,
    registers: Vec<SlotId>,
    finished: SlotId,
}

impl<'p> Code<'p> {
    /// The kernel of a program whose words are in that space.
    pub(super) fn kernel(program: &'p Program, space: Space) -> Ir {
        let site = INFO.site;
        let view = |access, element| ParamKind::View { access, element, rank: 1 };
        let kinds = [
            view(Access::Read, Type::U32),
            view(Access::Read, Type::U32),
            view(Access::Read, Type::U32),
            view(Access::Read, Type::U32),
            view(Access::Atomic, Type::U32),
            view(Access::Atomic, Type::U32),
            view(Access::Shared, Type::I32),
            view(Access::Atomic, Type::I32),
            view(Access::Shared, Type::I32),
            ParamKind::Scalar(Type::U32),
            ParamKind::Scalar(Type::U32),
        ];
        let params = PARAMETERS.iter().zip(kinds).map(|(&name, kind)| Param { name, kind, field: None }).collect();
        let array = |name, atomic| SharedArray {
            name,
            element: Type::I32,
            len: SharedLen::Static(SHARED_INSTANCES * program.words.len() as u32),
            atomic,
            site,
            field: None,
        };
        let shared = match space {
            Space::Device => Vec::new(),
            Space::Block => vec![array("shared_plain", false), array("shared_atomic", true)],
        };
        let kernel = Ir { params, shared, ..Ir::new(INFO.name, site, 1) };
        let none = SlotId(0);
        let mut code = Code {
            program,
            space,
            kernel,
            labels: 0,
            site,
            instance: none,
            places: Vec::new(),
            registers: Vec::new(),
            finished: none,
        };
        code.instance = code.slot(Type::U32, "instance");
        code.finished = code.slot(Type::I32, "finished");
        code.places = program.words.iter().map(|_| code.slot(Type::U32, "place")).collect();
        let registers = program.threads.iter().map(|thread| thread.registers.len()).max().unwrap_or(0);
        code.registers = (0..registers).map(|_| code.slot(Type::I32, "register")).collect();
        code.kernel.body = code.body();
        code.kernel
    }

    fn slot(&mut self, ty: Type, name: &'static str) -> SlotId {
        self.kernel.slots.push(Slot { ty, name: Some(name) });
        SlotId(self.kernel.slots.len() as u32 - 1)
    }

    fn expr(&mut self, expr: Expr) -> ExprId {
        self.kernel.exprs.push(expr);
        ExprId(self.kernel.exprs.len() as u32 - 1)
    }

    fn lit<T: Scalar>(&mut self, value: T) -> ExprId {
        self.expr(Expr::Const(Const::of(value)))
    }

    fn get(&mut self, slot: SlotId) -> ExprId {
        self.expr(Expr::Slot(slot))
    }

    fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId) -> ExprId {
        self.expr(Expr::Binary(op, left, right))
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels - 1)
    }

    fn load(&mut self, param: u32, index: ExprId, dst: SlotId) -> Stmt {
        Stmt::Load { dst, place: Place::Param(ParamId(param)), index: vec![index], site: self.site }
    }

    fn set(&mut self, slot: SlotId, value: ExprId) -> Stmt {
        Stmt::Assign { slot, value }
    }

    fn when(&mut self, op: BinaryOp, left: ExprId, right: ExprId, then: Vec<Stmt>) -> Stmt {
        let condition = self.binary(op, left, right);
        Stmt::If { condition, then, otherwise: Vec::new() }
    }

    fn body(&mut self) -> Vec<Stmt> {
        let mut body = Vec::new();
        let (me, role, delay) =
            (self.slot(Type::U32, "me"), self.slot(Type::U32, "role"), self.slot(Type::U32, "delay"));
        let [block, threads, thread] = [Builtin::BlockInGrid, Builtin::BlockExtent, Builtin::ThreadInBlock]
            .map(|builtin| self.expr(Expr::Builtin(builtin, 0)));
        let before = self.binary(BinaryOp::Mul, block, threads);
        let number = self.binary(BinaryOp::Add, before, thread);
        body.push(self.set(me, number));
        for (param, slot) in [(ROLES, role), (INSTANCES, self.instance), (DELAYS, delay)] {
            let at = self.get(me);
            body.push(self.load(param, at, slot));
        }
        let words = self.program.words.len() as u32;
        for word in 0..words {
            let (instance, count, add) = (self.get(self.instance), self.lit(words), self.lit(word));
            let first = self.binary(BinaryOp::Mul, instance, count);
            let at = self.binary(BinaryOp::Add, first, add);
            let slot = self.places[word as usize];
            body.push(self.load(PLACES, at, slot));
        }
        let one = self.lit(1i32);
        body.push(self.set(self.finished, one));
        let initial = self.shared_words(role, true);
        body.extend(initial);
        let noise = self.noise(me, delay);
        body.extend(noise);
        let meeting = self.meet(role);
        body.push(meeting);
        let last = self.program.threads.iter().map(|thread| phases(thread).last().copied().unwrap_or(0)).max();
        for phase in 0..=last.unwrap_or(0) {
            if phase > 0 {
                body.push(Stmt::Barrier { site: self.site });
            }
            for thread in 0..self.program.threads.len() {
                let mut part = self.phase(thread, phase);
                if phase == 0 {
                    let initial = self.initial_registers(thread);
                    part.splice(0..0, initial);
                }
                if !part.is_empty() {
                    let (found, own) = (self.get(role), self.lit(thread as u32));
                    body.push(self.when(BinaryOp::Eq, found, own, part));
                }
            }
        }
        for thread in 0..self.program.threads.len() {
            let stores = self.results(thread);
            let (found, own) = (self.get(role), self.lit(thread as u32));
            body.push(self.when(BinaryOp::Eq, found, own, stores));
        }
        let last = self.shared_words(role, false);
        body.extend(last);
        body
    }

    /// Sets a thread's registers to what they hold at the start.
    fn initial_registers(&mut self, thread: usize) -> Vec<Stmt> {
        let program = self.program;
        let registers = program.threads[thread].registers.iter().enumerate();
        let set = |(register, (_, value)): (usize, &(String, i32))| {
            let value = self.lit(*value);
            self.set(self.registers[register], value)
        };
        registers.map(set).collect()
    }

    /// The words in block shared memory: the instance's first thread sets them, or stores them where the host reads
    /// them.
    fn shared_words(&mut self, role: SlotId, initial: bool) -> Vec<Stmt> {
        if self.space == Space::Device {
            return Vec::new();
        }
        let columns = (self.program.observed.len() + self.program.threads.len()) as u32;
        let mut all = Vec::new();
        let value = self.slot(Type::I32, "value");
        for (word, it) in self.program.words.iter().enumerate() {
            let (place, index) = self.word(word);
            let index = vec![index];
            let site = self.site;
            let (order, scope) = (wattle_memory::WriteOrder::Relaxed, Scope::Block);
            if initial {
                let value = self.lit(it.initial);
                all.push(match it.atomic {
                    true => Stmt::AtomicStore { place, index, value, order, scope, site },
                    false => Stmt::Store { place, index, value, site },
                });
            } else {
                let (dst, order) = (value, ReadOrder::Relaxed);
                all.push(match it.atomic {
                    true => Stmt::AtomicLoad { dst, place, index, order, scope, site },
                    false => Stmt::Load { dst, place, index, site },
                });
                let value = self.get(value);
                all.push(self.out(columns + word as u32, value));
            }
        }
        let (found, first) = (self.get(role), self.lit(0u32));
        let first = self.when(BinaryOp::Eq, found, first, all);
        let barrier = Stmt::Barrier { site: self.site };
        if initial { vec![first, barrier] } else { vec![barrier, first] }
    }

    /// Stores a value into a column of the results.
    fn out(&mut self, column: u32, value: ExprId) -> Stmt {
        let (column, count) = (self.lit(column), self.expr(Expr::Param(ParamId(COUNT))));
        let (first, instance) = (self.binary(BinaryOp::Mul, column, count), self.get(self.instance));
        let index = self.binary(BinaryOp::Add, first, instance);
        Stmt::Store { place: Place::Param(ParamId(OUT)), index: vec![index], value, site: self.site }
    }

    /// The results of a thread, and that it came to its end.
    fn results(&mut self, wanted: usize) -> Vec<Stmt> {
        let mut stores = Vec::new();
        for (column, observed) in self.program.observed.iter().enumerate() {
            if let Observed::Register { thread, register } = *observed
                && thread == wanted
            {
                let value = self.get(self.registers[register]);
                stores.push(self.out(column as u32, value));
            }
        }
        let finished = self.get(self.finished);
        stores.push(self.out((self.program.observed.len() + wanted) as u32, finished));
        stores
    }

    /// Accesses of other memory, as many as the thread's delay says: loads and updates in turn.
    fn noise(&mut self, me: SlotId, delay: SlotId) -> Vec<Stmt> {
        let (at, seen) = (self.slot(Type::U32, "access"), self.slot(Type::U32, "seen"));
        let (label, place, site) = (self.label(), Place::Param(ParamId(NOISE)), self.site);
        let (now, end) = (self.get(at), self.get(delay));
        let mut body = vec![self.when(BinaryOp::Ge, now, end, vec![Stmt::Break(label)])];
        let index = {
            let (me, apart, now, line, mask) =
                (self.get(me), self.lit(37u32), self.get(at), self.lit(16u32), self.lit(NOISE_WORDS - 1));
            let first = self.binary(BinaryOp::Mul, me, apart);
            let further = self.binary(BinaryOp::Mul, now, line);
            let sum = self.binary(BinaryOp::Add, first, further);
            vec![self.binary(BinaryOp::And, sum, mask)]
        };
        let (now, odd, zero, one) = (self.get(at), self.lit(1u32), self.lit(0u32), self.lit(1u32));
        let parity = self.binary(BinaryOp::And, now, odd);
        let condition = self.binary(BinaryOp::Eq, parity, zero);
        let (scope, order) = (Scope::Block, ReadOrder::Relaxed);
        body.push(Stmt::If {
            condition,
            then: vec![Stmt::AtomicLoad { dst: seen, place, index: index.clone(), order, scope, site }],
            otherwise: vec![Stmt::AtomicUpdate {
                dst: seen,
                op: AtomicOp::Add,
                place,
                index,
                operand: one,
                order: UpdateOrder::Relaxed,
                scope,
                site,
            }],
        });
        let (now, one) = (self.get(at), self.lit(1u32));
        let next = self.binary(BinaryOp::Add, now, one);
        body.push(self.set(at, next));
        vec![Stmt::Loop { label, body, continuing: Vec::new(), bounded: true, site }]
    }

    /// Waits until the threads of the instance have come here, as long as patience lasts.
    fn meet(&mut self, role: SlotId) -> Stmt {
        let (looks, seen) = (self.slot(Type::U32, "looks"), self.slot(Type::U32, "seen"));
        let (label, place, site) = (self.label(), Place::Param(ParamId(MEETING)), self.site);
        // Block scope would be enough for no program with several blocks.
        let scope = if self.program.blocks() > 1 { Scope::Device } else { Scope::Block };
        let (mine, one) = (self.get(self.instance), self.lit(1u32));
        let arrive = Stmt::AtomicUpdate {
            dst: seen,
            op: AtomicOp::Add,
            place,
            index: vec![mine],
            operand: one,
            order: UpdateOrder::Relaxed,
            scope,
            site,
        };
        let (now, most) = (self.get(looks), self.expr(Expr::Param(ParamId(PATIENCE))));
        let mut body = vec![self.when(BinaryOp::Ge, now, most, vec![Stmt::Break(label)])];
        let mine = self.get(self.instance);
        body.push(Stmt::AtomicLoad { dst: seen, place, index: vec![mine], order: ReadOrder::Relaxed, scope, site });
        let (found, all) = (self.get(seen), self.lit(self.program.threads.len() as u32));
        body.push(self.when(BinaryOp::Ge, found, all, vec![Stmt::Break(label)]));
        let (now, one) = (self.get(looks), self.lit(1u32));
        let next = self.binary(BinaryOp::Add, now, one);
        body.push(self.set(looks, next));
        let wait = Stmt::Loop { label, body, continuing: Vec::new(), bounded: true, site };
        let (found, threads) = (self.get(role), self.lit(self.program.threads.len() as u32));
        self.when(BinaryOp::Lt, found, threads, vec![arrive, wait])
    }

    /// The part of a thread's code between two barriers.
    fn phase(&mut self, thread: usize, phase: usize) -> Vec<Stmt> {
        let code = &self.program.threads[thread].code;
        let phases = phases(&self.program.threads[thread]);
        let here = |at: &usize| phases[*at] == phase && !matches!(code[*at].0, Op::Barrier);
        let all: Vec<usize> = (0..code.len()).filter(here).collect();
        let (Some(&begin), Some(&last)) = (all.first(), all.last()) else { return Vec::new() };
        let end = last + 1;
        let jumps = |at: &usize| code[*at].0.target().is_some();
        if !all.iter().any(jumps) {
            return all.iter().filter_map(|&at| self.op(thread, at)).collect();
        }
        // Pieces without jumps into them or out of them but at their ends.
        let mut heads: Vec<usize> = all.iter().filter_map(|&at| code[at].0.target()).collect();
        heads.extend(all.iter().copied().filter(jumps).map(|at| at + 1));
        heads.push(begin);
        heads.retain(|&head| (begin..end).contains(&head));
        heads.sort_unstable();
        heads.dedup();
        self.pieces(thread, &heads, end)
    }

    /// A loop that goes from piece to piece as the jumps say.
    fn pieces(&mut self, thread: usize, heads: &[usize], end: usize) -> Vec<Stmt> {
        let (pc, steps) = (self.slot(Type::U32, "pc"), self.slot(Type::U32, "steps"));
        let label = self.label();
        let (now, last) = (self.get(pc), self.lit(end as u32));
        let mut body = vec![self.when(BinaryOp::Ge, now, last, vec![Stmt::Break(label)])];
        let (now, most) = (self.get(steps), self.lit(STEPS));
        body.push(self.when(BinaryOp::Ge, now, most, vec![Stmt::Break(label)]));
        let (now, one) = (self.get(steps), self.lit(1u32));
        let next = self.binary(BinaryOp::Add, now, one);
        body.push(self.set(steps, next));
        for (number, &head) in heads.iter().enumerate() {
            let after = heads.get(number + 1).copied().unwrap_or(end);
            let mut piece: Vec<Stmt> = (head..after).filter_map(|at| self.op(thread, at)).collect();
            let follows = self.lit(after as u32);
            let next = match self.program.threads[thread].code[after - 1].0 {
                Op::Goto(target) => self.lit(target.min(end) as u32),
                Op::Branch { comparison, left, right, target } => {
                    let op = match comparison {
                        Comparison::Equal => BinaryOp::Eq,
                        Comparison::NotEqual => BinaryOp::Ne,
                        Comparison::Less => BinaryOp::Lt,
                        Comparison::LessOrEqual => BinaryOp::Le,
                        Comparison::Greater => BinaryOp::Gt,
                        Comparison::GreaterOrEqual => BinaryOp::Ge,
                    };
                    let (left, right) = (self.operand(left), self.operand(right));
                    let (condition, to) = (self.binary(op, left, right), self.lit(target.min(end) as u32));
                    self.expr(Expr::Select(condition, to, follows))
                }
                _ => follows,
            };
            piece.push(self.set(pc, next));
            let (now, own) = (self.get(pc), self.lit(head as u32));
            body.push(self.when(BinaryOp::Eq, now, own, piece));
        }
        let begin = self.lit(heads[0] as u32);
        let start = self.set(pc, begin);
        let whole = Stmt::Loop { label, body, continuing: Vec::new(), bounded: true, site: self.site };
        let zero = self.lit(0i32);
        let gave_up = self.set(self.finished, zero);
        let (now, last) = (self.get(pc), self.lit(end as u32));
        vec![start, whole, self.when(BinaryOp::Lt, now, last, vec![gave_up])]
    }

    fn operand(&mut self, operand: Operand) -> ExprId {
        match operand {
            Operand::Register(register) => self.get(self.registers[register]),
            Operand::Constant(value) => self.lit(value),
        }
    }

    /// The place of a word.
    fn word(&mut self, word: usize) -> (Place, ExprId) {
        let atomic = self.program.words[word].atomic;
        let index = self.get(self.places[word]);
        let place = match self.space {
            Space::Device => Place::Param(ParamId(if atomic { ATOMIC } else { PLAIN })),
            Space::Block => Place::Shared(SharedId(u32::from(atomic))),
        };
        (place, index)
    }

    /// The slot for a result; a new one where nobody wants it.
    fn result(&mut self, to: Option<usize>) -> SlotId {
        match to {
            Some(register) => self.registers[register],
            None => self.slot(Type::I32, "unused"),
        }
    }

    /// An operation; jumps and barriers are none by themselves.
    fn op(&mut self, thread: usize, at: usize) -> Option<Stmt> {
        let (op, line) = self.program.threads[thread].code[at];
        let site = Site { line: line.max(1), ..self.site };
        Some(match op {
            Op::Load { to, word } => {
                let (place, index) = self.word(word);
                Stmt::Load { dst: self.registers[to], place, index: vec![index], site }
            }
            Op::Store { word, value } => {
                let ((place, index), value) = (self.word(word), self.operand(value));
                Stmt::Store { place, index: vec![index], value, site }
            }
            Op::AtomicLoad { to, word, order, scope } => {
                let (place, index) = self.word(word);
                Stmt::AtomicLoad { dst: self.registers[to], place, index: vec![index], order, scope, site }
            }
            Op::AtomicStore { word, value, order, scope } => {
                let ((place, index), value) = (self.word(word), self.operand(value));
                Stmt::AtomicStore { place, index: vec![index], value, order, scope, site }
            }
            Op::Update { to, word, op, operand, order, scope } => {
                let ((place, index), operand, dst) = (self.word(word), self.operand(operand), self.result(to));
                Stmt::AtomicUpdate { dst, op, place, index: vec![index], operand, order, scope, site }
            }
            Op::CompareExchange { to, word, expected, desired, order, scope } => {
                let ((place, index), dst) = (self.word(word), self.result(to));
                let (expected, desired) = (self.operand(expected), self.operand(desired));
                Stmt::CompareExchange { dst, place, index: vec![index], expected, desired, order, scope, site }
            }
            Op::Fence { order, scope } => Stmt::Fence { order, scope, site },
            Op::Move { to, value } => {
                let value = self.operand(value);
                self.set(self.registers[to], value)
            }
            Op::Compute { operator, to, left, right } => {
                let op = match operator {
                    Operator::Add => BinaryOp::Add,
                    Operator::Sub => BinaryOp::Sub,
                    Operator::Mul => BinaryOp::Mul,
                    Operator::And => BinaryOp::And,
                    Operator::Or => BinaryOp::Or,
                    Operator::Xor => BinaryOp::Xor,
                    // Lifting refuses them.
                    Operator::Div | Operator::Rem | Operator::Shl | Operator::Shr => return None,
                };
                let (left, right) = (self.operand(left), self.operand(right));
                let value = self.binary(op, left, right);
                self.set(self.registers[to], value)
            }
            Op::Barrier | Op::Branch { .. } | Op::Goto(_) => return None,
        })
    }
}
