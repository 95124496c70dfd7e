//! Lowers cases to the kernels that devices take.

use wattle_ir::{
    Access, BinaryOp, Builtin, Const, DivOp, Expr, ExprId, Kernel, Label, Param, ParamId, ParamKind, Place,
    SharedArray, SharedId, SharedLen, Site, Slot, SlotId, Stmt, Type, WarpOp,
};

use super::{Cell, Index, LEN, Launch, Memory, REGISTERS, Step, Test, Value, Who};

/// The kernel of the launch with this number; its threads' registers are stored in the observations from `first` on.
/// Each statement has a line of its own.
pub fn kernel(launch: &Launch, number: usize, first: u32) -> Kernel {
    let view =
        |name, access| Param { name, kind: ParamKind::View { access, element: Type::U32, rank: 1 }, field: None };
    let site = Site { file: "case", line: 0, column: 1 };
    let array =
        |name, atomic| SharedArray { name, element: Type::U32, len: SharedLen::Static(LEN), atomic, site, field: None };
    let kernel = Kernel {
        params: vec![view("data", Access::Shared), view("flags", Access::Atomic), view("seen", Access::Shared)],
        shared: vec![array("tile", false), array("marks", true)],
        slots: vec![Slot { ty: Type::U32, name: None }; REGISTERS as usize],
        ..Kernel::new(format!("launch{number}"), site, 1)
    };
    let mut lower = Lower { kernel, labels: 0, line: number as u32 * 100 };
    let mut body = lower.steps(&launch.body);
    body.extend(lower.observations(first));
    lower.kernel.body = body;
    lower.kernel
}

struct Lower {
    kernel: Kernel,
    labels: u32,
    line: u32,
}

impl Lower {
    fn expr(&mut self, expr: Expr) -> ExprId {
        self.kernel.exprs.push(expr);
        ExprId(self.kernel.exprs.len() as u32 - 1)
    }

    fn constant(&mut self, value: u32) -> ExprId {
        self.expr(Expr::Const(Const::of(value)))
    }

    fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.expr(Expr::Binary(op, x, y))
    }

    fn register(&mut self, register: u8) -> ExprId {
        self.expr(Expr::Slot(SlotId(register.into())))
    }

    fn who(&mut self, who: Who) -> ExprId {
        self.expr(Expr::Builtin(if who == Who::Thread { Builtin::ThreadInBlock } else { Builtin::BlockInGrid }, 0))
    }

    fn site(&mut self) -> Site {
        self.line += 1;
        Site { file: "case", line: self.line, column: 1 }
    }

    fn label(&mut self) -> Label {
        self.labels += 1;
        Label(self.labels)
    }

    fn at(&mut self, cell: Cell) -> (Place, Vec<ExprId>) {
        let place = match cell.memory {
            Memory::Data => Place::Param(ParamId(0)),
            Memory::Flags => Place::Param(ParamId(1)),
            Memory::Tile => Place::Shared(SharedId(0)),
            Memory::Marks => Place::Shared(SharedId(1)),
        };
        let index = match cell.index {
            Index::At(index) => self.constant(index),
            Index::Register(register) => self.register(register),
            Index::Who(who) => self.who(who),
        };
        (place, vec![index])
    }

    fn value(&mut self, value: Value) -> ExprId {
        match value {
            Value::Is(value) => self.constant(value),
            Value::Register(register) => self.register(register),
            Value::Next(register) => {
                let (register, one) = (self.register(register), self.constant(1));
                self.binary(BinaryOp::Add, register, one)
            }
            Value::Who(who) => {
                let (who, one) = (self.who(who), self.constant(1));
                self.binary(BinaryOp::Add, who, one)
            }
        }
    }

    fn test(&mut self, test: Test) -> ExprId {
        let (x, op, value) = match test {
            Test::Register { register, equals, value } => {
                (self.register(register), if equals { BinaryOp::Eq } else { BinaryOp::Ne }, value)
            }
            Test::Who { who, value } => (self.who(who), BinaryOp::Eq, value),
        };
        let value = self.constant(value);
        self.binary(op, x, value)
    }

    fn steps(&mut self, steps: &[Step]) -> Vec<Stmt> {
        steps.iter().flat_map(|step| self.step(step)).collect()
    }

    fn step(&mut self, step: &Step) -> Vec<Stmt> {
        let site = self.site();
        let slot = |register: u8| SlotId(register.into());
        let one = match *step {
            Step::Load { to, cell } => {
                let (place, index) = self.at(cell);
                Stmt::Load { dst: slot(to), place, index, site }
            }
            Step::Store { cell, value } => {
                let ((place, index), value) = (self.at(cell), self.value(value));
                Stmt::Store { place, index, value, site }
            }
            Step::AtomicLoad { to, cell, order, scope } => {
                let (place, index) = self.at(cell);
                Stmt::AtomicLoad { dst: slot(to), place, index, order, scope, site }
            }
            Step::AtomicStore { cell, value, order, scope } => {
                let ((place, index), value) = (self.at(cell), self.value(value));
                Stmt::AtomicStore { place, index, value, order, scope, site }
            }
            Step::Update { to, op, cell, value, order, scope } => {
                let ((place, index), operand) = (self.at(cell), self.value(value));
                Stmt::AtomicUpdate { dst: slot(to), op, place, index, operand, order, scope, site }
            }
            Step::CompareExchange { to, cell, expected, desired, order, scope } => {
                let ((place, index), expected, desired) = (self.at(cell), self.constant(expected), self.value(desired));
                Stmt::CompareExchange { dst: slot(to), place, index, expected, desired, order, scope, site }
            }
            Step::Fence { order, scope } => Stmt::Fence { order, scope, site },
            Step::Barrier => Stmt::Barrier { site },
            Step::WarpBarrier => Stmt::WarpBarrier { site },
            Step::Warp { to, op, value, operand } => return self.warp(to, op, value, operand, site),
            Step::If { test, ref then, ref otherwise } => {
                let condition = self.test(test);
                Stmt::If { condition, then: self.steps(then), otherwise: self.steps(otherwise) }
            }
            Step::Repeat { count, ref body } => return self.repeat(count, body, site),
            Step::Wait { ref body, ref look, until, ref failed } => {
                let label = self.label();
                let mut all = self.steps(body);
                all.extend(self.step(look));
                let condition = self.test(until);
                all.push(Stmt::If { condition, then: vec![Stmt::Break(label)], otherwise: vec![] });
                all.extend(self.steps(failed));
                Stmt::Loop { label, body: all, continuing: vec![], bounded: false, site }
            }
            Step::Assert { test } => {
                let condition = self.test(test);
                Stmt::Assert { condition, message: "it holds".into(), site }
            }
            Step::Divide { to, by } => {
                let (left, right) = (self.constant(6), self.register(by));
                Stmt::Divide { dst: slot(to), op: DivOp::Div, left, right, site }
            }
            Step::Return => Stmt::Return,
        };
        vec![one]
    }

    fn warp(&mut self, to: u8, op: WarpOp, value: u8, operand: u32, site: Site) -> Vec<Stmt> {
        let operand = op.has_operand().then(|| self.constant(operand));
        let (register, one) = (self.register(value), self.constant(1));
        let value = if op.applies_to(Type::U32) { register } else { self.binary(BinaryOp::Eq, register, one) };
        let ty = if op.applies_to(Type::U32) { Type::U32 } else { Type::Bool };
        if op.result(ty) == Type::U32 {
            return vec![Stmt::Warp { dst: SlotId(to.into()), op, value, operand, site }];
        }
        self.kernel.slots.push(Slot { ty: Type::Bool, name: Some("vote") });
        let dst = SlotId(self.kernel.slots.len() as u32 - 1);
        let vote = self.expr(Expr::Slot(dst));
        let value_of_vote = self.expr(Expr::Cast(Type::U32, vote));
        let slot = SlotId(to.into());
        vec![Stmt::Warp { dst, op, value, operand, site }, Stmt::Assign { slot, value: value_of_vote }]
    }

    fn repeat(&mut self, count: u32, body: &[Step], site: Site) -> Vec<Stmt> {
        self.kernel.slots.push(Slot { ty: Type::U32, name: Some("i") });
        let (counter, label) = (SlotId(self.kernel.slots.len() as u32 - 1), self.label());
        let (zero, now) = (self.constant(0), self.expr(Expr::Slot(counter)));
        let (bound, one) = (self.constant(count), self.constant(1));
        let over = self.binary(BinaryOp::Ge, now, bound);
        let next = self.binary(BinaryOp::Add, now, one);
        let mut all = vec![Stmt::If { condition: over, then: vec![Stmt::Break(label)], otherwise: vec![] }];
        all.extend(self.steps(body));
        let continuing = vec![Stmt::Assign { slot: counter, value: next }];
        let reset = Stmt::Assign { slot: counter, value: zero };
        vec![reset, Stmt::Loop { label, body: all, continuing, bounded: true, site }]
    }

    /// Stores each thread's registers in elements of its own.
    fn observations(&mut self, first: u32) -> Vec<Stmt> {
        let builtin = |lower: &mut Lower, builtin| lower.expr(Expr::Builtin(builtin, 0));
        let (block, extent) = (builtin(self, Builtin::BlockInGrid), builtin(self, Builtin::BlockExtent));
        let (thread, registers) = (builtin(self, Builtin::ThreadInBlock), self.constant(REGISTERS.into()));
        let before = self.binary(BinaryOp::Mul, block, extent);
        let number = self.binary(BinaryOp::Add, before, thread);
        let start = self.binary(BinaryOp::Mul, number, registers);
        let site = self.site();
        let store = |register: u8| {
            let at = self.constant(first + u32::from(register));
            let (index, value) = (vec![self.binary(BinaryOp::Add, start, at)], self.register(register));
            Stmt::Store { place: Place::Param(ParamId(2)), index, value, site }
        };
        (0..REGISTERS).map(store).collect()
    }
}
