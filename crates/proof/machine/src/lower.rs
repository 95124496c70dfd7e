//! Lowers structured statements and a graph of expressions to flat code.
//!
//! Each statement's expressions become a straight list of steps, each shared one computed once: a graph of shared
//! expressions takes time in its size, however many paths it has, and nothing recurses over it.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use wattle_ir::{Expr, ExprId, Kernel, Label, MAX_RANK, ParamKind, Place, SharedLen, Site, Stmt, Type};

use crate::code::{Access, AccessKind, Calc, CalcOp, Instr, Local, Message, Op, Operand};
use crate::{Program, ahead, endings, exits, live};

/// A jump target that is not known yet.
const UNKNOWN: u32 = u32::MAX;

/// A program while its code is appended, statement by statement.
pub(crate) struct Lowering<'k> {
    kernel: &'k Kernel,
    types: Vec<Type>,
    code: Vec<Instr>,
    sites: Vec<Site>,
    calcs: Vec<Calc>,
    accesses: Vec<Access>,
    lanes: Vec<Operand>,
    messages: Vec<Message>,
    locals: Vec<Local>,
    /// For each barrier or operation of the warp the counters of the loops around it.
    barriers: Vec<Vec<u32>>,
    /// The counters of the loops around the current statement that have a barrier in them, outermost first.
    counters: Vec<u32>,
    /// The number of counters.
    counted: u32,
    /// The word of the first counter.
    first_counter: u32,
    /// The instructions at which the bodies of the loops without a bound begin.
    heads: Vec<u32>,
    temps: u32,
    at: Site,
    /// The index of the first step of the current statement.
    first_calc: u32,
    /// The values that the current statement has computed.
    values: HashMap<ExprId, Operand>,
    /// The loops and blocks around the current statement.
    labels: Vec<Open>,
}

/// An open loop or block, with the jumps to its end, which is not known yet.
struct Open {
    label: Label,
    breaks: Vec<usize>,
    continues: Vec<usize>,
}

impl<'k> Lowering<'k> {
    /// Lowers `kernel`, which is verified, so that every reference is valid; an invalid one would become 0.
    pub fn new(kernel: &'k Kernel) -> Self {
        Lowering {
            kernel,
            types: kernel.expr_types(),
            code: Vec::new(),
            sites: Vec::new(),
            calcs: Vec::new(),
            accesses: Vec::new(),
            lanes: Vec::new(),
            messages: Vec::new(),
            locals: Vec::new(),
            barriers: Vec::new(),
            counters: Vec::new(),
            counted: 0,
            first_counter: 0,
            heads: Vec::new(),
            temps: 0,
            at: kernel.site,
            first_calc: 0,
            values: HashMap::new(),
            labels: Vec::new(),
        }
    }

    /// The program of the kernel, with what is known of its code.
    pub fn program(mut self, kernel: Arc<Kernel>) -> Program {
        let mut words = self.kernel.slots.len();
        for local in &self.kernel.locals {
            self.locals.push(Local { first: words, len: local.len });
            if local.constants.is_none() {
                words += local.len as usize;
            }
        }
        self.first_counter = words as u32;
        self.block(&self.kernel.body);
        self.emit(Op::Return);
        let mut program = Program {
            kernel,
            code: self.code,
            sites: self.sites,
            calcs: self.calcs,
            accesses: self.accesses,
            lanes: self.lanes,
            messages: self.messages,
            locals: self.locals,
            dead: Vec::new(),
            ahead: Vec::new(),
            reads_position: Vec::new(),
            dead_behind: HashMap::new(),
            barriers: self.barriers,
            uses_warps: self.kernel.first_use_of_warps().is_some(),
            exits_on_memory: exits::exits_on_memory(self.kernel),
            ending_loops: endings::ending_loops(self.kernel),
            temps: self.temps as usize,
            first_counter: self.first_counter,
            words: words + self.counted as usize,
        };
        let mut dead = live::dead_before(&program, |at| self.heads.contains(&at));
        program.dead = self.heads.iter().map(|head| dead.remove(head).unwrap_or_default()).collect();
        program.ahead = ahead::writes_ahead(&program);
        program.reads_position = ahead::reads_position_ahead(&program);
        let is_behind_request = |at: u32| {
            let before = at.checked_sub(1).and_then(|before| program.code.get(before as usize));
            before.is_some_and(|before| before.op.requests())
        };
        program.dead_behind = live::dead_before(&program, is_behind_request);
        program
    }

    fn ty(&self, id: ExprId) -> Type {
        self.types.get(id.index()).copied().unwrap_or(Type::U32)
    }

    fn emit(&mut self, op: Op) -> usize {
        let last_calc = self.calcs.len() as u32;
        self.code.push(Instr { first_calc: self.first_calc, last_calc, op });
        self.sites.push(self.at);
        self.first_calc = last_calc;
        self.values.clear();
        self.code.len() - 1
    }

    fn here(&self) -> u32 {
        self.code.len() as u32
    }

    fn patch(&mut self, jump: usize, to: u32) {
        if let Some(Op::Jump(target) | Op::JumpUnless { target, .. }) =
            self.code.get_mut(jump).map(|instr| &mut instr.op)
        {
            *target = to;
        }
    }

    /// Appends the steps that compute `root` to those of the current statement; returns the operand that holds the
    /// result.
    fn value(&mut self, root: ExprId) -> Operand {
        // Expressions refer only to earlier ones, so they can be computed in the order of their numbers.
        let (mut needed, mut visited) = (Vec::new(), HashSet::new());
        self.kernel.walk_expr(root, &mut |id, _| {
            let is_new = !self.values.contains_key(&id) && visited.insert(id);
            needed.extend(is_new.then_some(id));
            is_new
        });
        needed.sort_unstable();
        for id in needed {
            let operand = self.step(id);
            self.values.insert(id, operand);
        }
        self.known(root)
    }

    fn known(&self, id: ExprId) -> Operand {
        self.values.get(&id).copied().unwrap_or(Operand::Const(0))
    }

    /// Appends the step for an expression whose operands are computed.
    fn step(&mut self, id: ExprId) -> Operand {
        let Some(&expr) = self.kernel.exprs.get(id.index()) else { return Operand::Const(0) };
        let op = match expr {
            Expr::Const(constant) => return Operand::Const(constant.raw),
            Expr::Slot(slot) => return Operand::Slot(slot.0),
            Expr::Param(id) => return Operand::Param(id.0),
            Expr::Extent(place, dimension) => return self.extent(place, dimension),
            Expr::Builtin(builtin, dimension) => return Operand::Builtin(builtin, dimension),
            // A raw word has the same bits in every type, so no step is needed.
            Expr::Bits(_, x) => return self.known(x),
            Expr::Unary(op, x) => CalcOp::Unary(op, self.ty(x), self.known(x)),
            Expr::Binary(op, x, y) => CalcOp::Binary(op, self.ty(x), self.known(x), self.known(y)),
            Expr::Ternary(op, x, y, z) => CalcOp::Ternary(op, self.ty(x), self.known(x), self.known(y), self.known(z)),
            Expr::Select(x, y, z) => CalcOp::Select(self.known(x), self.known(y), self.known(z)),
            Expr::Cast(to, x) if to == self.ty(x) => return self.known(x),
            Expr::Cast(to, x) => CalcOp::Cast(self.ty(x), to, self.known(x)),
        };
        let dst = self.calcs.len() as u32 - self.first_calc;
        self.calcs.push(Calc { dst, op });
        self.temps = self.temps.max(dst + 1);
        Operand::Temp(dst)
    }

    fn extent(&self, place: Place, dimension: u8) -> Operand {
        match place {
            Place::Param(id) => Operand::Extent(id.0, dimension),
            Place::Shared(id) => match self.kernel.shared.get(id.index()).map(|array| array.len) {
                Some(SharedLen::AtLaunch) => Operand::SharedLen,
                Some(len @ (SharedLen::Static(_) | SharedLen::Grid(_))) => {
                    Operand::Const(len.extents(0).get(usize::from(dimension)).copied().unwrap_or(1).into())
                }
                None => Operand::Const(0),
            },
            Place::Local(id) => Operand::Const(self.kernel.locals.get(id.index()).map_or(0, |local| local.len) as u64),
        }
    }

    /// Appends an access to the element of a place at an index of `rank` dimensions.
    fn access(&mut self, kind: AccessKind, place: Place, index: [Operand; MAX_RANK], rank: usize) {
        let element = match place {
            Place::Param(id) => match self.kernel.params.get(id.index()).map(|param| param.kind) {
                Some(ParamKind::View { element, .. }) => element,
                _ => Type::U32,
            },
            Place::Shared(id) => self.kernel.shared.get(id.index()).map_or(Type::U32, |array| array.element),
            Place::Local(id) => self.kernel.locals.get(id.index()).map_or(Type::U32, |array| array.element),
        };
        let number = self.accesses.len() as u32;
        self.accesses.push(Access { kind, place, element, rank, index });
        self.emit(Op::Access(number));
    }

    fn index(&mut self, index: &[ExprId]) -> [Operand; MAX_RANK] {
        let mut operands = [Operand::Const(0); MAX_RANK];
        for (operand, &id) in operands.iter_mut().zip(index) {
            *operand = self.value(id);
        }
        operands
    }

    fn block(&mut self, block: &[Stmt]) {
        for stmt in block {
            self.stmt(stmt);
        }
    }

    /// Appends the instructions of a statement.
    fn stmt(&mut self, stmt: &Stmt) {
        if let Some(site) = stmt.site() {
            self.at = site;
        }
        match stmt {
            Stmt::Assign { slot, value } => {
                let value = self.value(*value);
                self.emit(Op::Assign { slot: slot.0, value });
            }
            Stmt::Divide { dst, op, left, right, .. } => {
                let ty = self.ty(*left);
                let (left, right) = (self.value(*left), self.value(*right));
                self.emit(Op::Divide { dst: dst.0, op: *op, ty, left, right });
            }
            Stmt::LoadLanes { dst, place, index, .. } => {
                let lanes = self.kernel.locals.get(dst.index()).map_or(0, |local| local.len);
                let index = self.index(&[*index]);
                self.access(AccessKind::LoadLanes { dst: *dst, lanes }, *place, index, 1);
            }
            Stmt::Load { dst, place, index: of, .. } => {
                let index = self.index(of);
                self.access(AccessKind::Load { dst: dst.0 }, *place, index, of.len());
            }
            Stmt::Store { place, index: of, value, .. } => {
                let (index, value) = (self.index(of), self.value(*value));
                self.access(AccessKind::Store { value }, *place, index, of.len());
            }
            Stmt::StoreLanes { place, index, values, .. } => {
                let index = self.index(&[*index]);
                let kind = self.stored_lanes(values);
                self.access(kind, *place, index, 1);
            }
            Stmt::AtomicLoad { dst, place, index: of, order, scope, .. } => {
                let index = self.index(of);
                let kind = AccessKind::AtomicLoad { dst: dst.0, order: *order, scope: *scope };
                self.access(kind, *place, index, of.len());
            }
            Stmt::AtomicStore { place, index: of, value, order, scope, .. } => {
                let (index, value) = (self.index(of), self.value(*value));
                let kind = AccessKind::AtomicStore { value, order: *order, scope: *scope };
                self.access(kind, *place, index, of.len());
            }
            Stmt::AtomicUpdate { dst, op, place, index: of, operand, order, scope, .. } => {
                let (index, operand) = (self.index(of), self.value(*operand));
                let kind = AccessKind::AtomicUpdate { dst: dst.0, op: *op, operand, order: *order, scope: *scope };
                self.access(kind, *place, index, of.len());
            }
            Stmt::CompareExchange { dst, place, index: of, expected, desired, order, scope, .. } => {
                let (index, expected, desired) = (self.index(of), self.value(*expected), self.value(*desired));
                let kind = AccessKind::CompareExchange { dst: dst.0, expected, desired, order: *order, scope: *scope };
                self.access(kind, *place, index, of.len());
            }
            Stmt::Fence { order, scope, .. } => {
                self.emit(Op::Fence { order: *order, scope: *scope });
            }
            Stmt::Barrier { .. } => {
                let number = self.meeting();
                self.emit(Op::Barrier(number));
            }
            Stmt::Warp { dst, op, value, operand, .. } => {
                let (ty, barrier) = (self.ty(*value), self.meeting());
                let operand = operand.map_or(Operand::Const(0), |operand| self.value(operand));
                let value = self.value(*value);
                self.emit(Op::Warp { dst: dst.0, op: *op, ty, value, operand, barrier });
            }
            Stmt::WarpBarrier { .. } => {
                let number = self.meeting();
                self.emit(Op::WarpBarrier(number));
            }
            Stmt::Return => {
                self.emit(Op::Return);
            }
            // Kernels as they are written, which alone are run, have none.
            Stmt::Fault { .. } => {}
            Stmt::Assert { condition, message, .. } => self.assertion(*condition, message),
            // A line is no event of a memory model. A device that shows it runs the kernel with its log, in which lines
            // are records.
            Stmt::Print { .. } => {}
            Stmt::Clock { dst, .. } => {
                self.emit(Op::Clock { dst: dst.0 });
            }
            Stmt::If { condition, then, otherwise } => self.choice(*condition, then, otherwise),
            Stmt::Loop { label, body, continuing, bounded, site } => {
                self.repetition(*label, [body, continuing], *bounded, *site);
            }
            Stmt::Block { label, body } => {
                let open = self.labelled(*label, body);
                self.close(open, UNKNOWN);
            }
            Stmt::Break(label) => self.jump_out(*label, |open| &mut open.breaks),
            Stmt::Continue(label) => self.jump_out(*label, |open| &mut open.continues),
        }
    }

    /// Lowers the values of a store of several elements.
    fn stored_lanes(&mut self, values: &[ExprId]) -> AccessKind {
        let first = self.lanes.len() as u32;
        for &value in values {
            let value = self.value(value);
            self.lanes.push(value);
        }
        AccessKind::StoreLanes { first, lanes: values.len() as u32 }
    }

    /// Lowers an assertion, with the values that its message shows.
    fn assertion(&mut self, condition: ExprId, message: &wattle_ir::message::Message) {
        let condition = self.value(condition);
        let values = message.arguments.iter().map(|&value| (self.ty(value), self.value(value))).collect();
        let number = self.messages.len() as u32;
        self.messages.push(Message { text: message.text.clone(), values });
        self.emit(Op::Assert { condition, message: number });
    }

    /// Lowers a loop: its head if it has no bound, its body and what continues it, and the jump back. If it has a
    /// barrier in it, a counter of its iterations tells the barrier's instances apart.
    fn repetition(&mut self, label: Label, [body, continuing]: [&[Stmt]; 2], bounded: bool, site: Site) {
        let counter = has_barrier(body).then(|| {
            self.counted += 1;
            self.first_counter + self.counted - 1
        });
        if let Some(counter) = counter {
            self.counters.push(counter);
            self.emit(Op::Enter { counter });
        }
        let number = self.heads.len() as u32;
        if !bounded {
            self.emit(Op::LoopHead { label, number });
            self.heads.push(self.here());
        }
        let start = self.here();
        let open = self.labelled(label, body);
        let next = self.here();
        self.block(continuing);
        self.at = site;
        if let Some(counter) = counter {
            self.counters.pop();
            self.emit(Op::Count { counter });
        }
        self.emit(if bounded { Op::Jump(start) } else { Op::BackEdge { label, target: start, number } });
        self.close(open, next);
    }

    /// Lowers the body of a loop or block, and returns the jumps out of it.
    fn labelled(&mut self, label: Label, body: &[Stmt]) -> Option<Open> {
        self.labels.push(Open { label, breaks: Vec::new(), continues: Vec::new() });
        self.block(body);
        self.labels.pop()
    }

    /// Lowers a `break` or `continue`: a jump whose target is set when the loop or block of this label is closed.
    fn jump_out(&mut self, label: Label, jumps: fn(&mut Open) -> &mut Vec<usize>) {
        let jump = self.emit(Op::Jump(UNKNOWN));
        if let Some(open) = self.labels.iter_mut().rev().find(|open| open.label == label) {
            jumps(open).push(jump);
        }
    }

    /// The number of a place where threads wait for each other.
    fn meeting(&mut self) -> u32 {
        self.barriers.push(self.counters.clone());
        self.barriers.len() as u32 - 1
    }

    /// Lowers a branch.
    fn choice(&mut self, condition: ExprId, then: &[Stmt], otherwise: &[Stmt]) {
        let condition = self.value(condition);
        let past_then = self.emit(Op::JumpUnless { condition, target: UNKNOWN });
        self.block(then);
        if otherwise.is_empty() {
            self.patch(past_then, self.here());
            return;
        }
        let past_otherwise = self.emit(Op::Jump(UNKNOWN));
        self.patch(past_then, self.here());
        self.block(otherwise);
        self.patch(past_otherwise, self.here());
    }

    /// Sets the targets of the jumps out of a loop or block that has just ended.
    fn close(&mut self, open: Option<Open>, next: u32) {
        let Some(open) = open else { return };
        let end = self.here();
        open.breaks.into_iter().for_each(|jump| self.patch(jump, end));
        open.continues.into_iter().for_each(|jump| self.patch(jump, next));
    }
}

/// Whether a barrier or an operation of the warp stands in a block, at any depth.
fn has_barrier(block: &[Stmt]) -> bool {
    block.iter().any(|stmt| stmt.meeting().is_some() || stmt.blocks().any(|block| has_barrier(block)))
}
