//! Random loops of one thread, many of which run four turns at a time, or have their checks made before the first turn: their
//! results and the fault that is reported are those of the simulated device, which runs one turn after another.

use wattle::prelude::*;
use wattle_core::Device;
use wattle_fuzz::{ArgumentValue, Case, ViewValue, outcome};
use wattle_ir::{
    Access, BinaryOp, Const, DivOp, Expr, ExprId, Kernel, Label, LocalArray, LocalId, Param, ParamId, ParamKind, Place,
    Site, Slot, SlotId, Stmt, Type,
};
use wattle_ptx::PtxTarget;

const COUNTER: u32 = 0;
const END: u32 = 1;
/// The slots that statements set.
const VARS: std::ops::Range<u32> = 2..6;
const OUT: Place = Place::Param(ParamId(0));
const ITEMS: Place = Place::Param(ParamId(1));
const READ: [Place; 2] = [Place::Param(ParamId(2)), Place::Param(ParamId(3))];
const SHARED: Place = Place::Param(ParamId(4));
const LOCAL: Place = Place::Local(LocalId(0));
/// What several elements are loaded into at once.
const LANES: LocalId = LocalId(1);
const LOOP: Label = Label(0);
/// The number of random loops.
const COUNT: u64 = 3000;

struct Made {
    state: u64,
    line: u32,
    exprs: Vec<Expr>,
    /// Whether indices grow with the counter.
    grows: bool,
    /// The end of the loop, where it is a number.
    end: u32,
}

impl Made {
    /// A random number below `most` (splitmix64).
    fn below(&mut self, most: u32) -> u32 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.state ^ (self.state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % u64::from(most)) as u32
    }

    fn site(&mut self) -> Site {
        self.line += 1;
        Site { file: "turns", line: self.line, column: 1 }
    }

    fn push(&mut self, expr: Expr) -> ExprId {
        self.exprs.push(expr);
        ExprId(self.exprs.len() as u32 - 1)
    }

    fn number(&mut self, number: u32) -> ExprId {
        self.push(Expr::Const(Const::of(number)))
    }

    fn slot(&mut self, slot: u32) -> ExprId {
        self.push(Expr::Slot(SlotId(slot)))
    }

    fn binary(&mut self, op: BinaryOp, x: ExprId, y: ExprId) -> ExprId {
        self.push(Expr::Binary(op, x, y))
    }

    fn var(&mut self) -> SlotId {
        SlotId(VARS.start + self.below(VARS.end - VARS.start))
    }

    fn value(&mut self) -> ExprId {
        match self.below(4) {
            0 => self.slot(COUNTER),
            1 => {
                let number = self.below(9);
                self.number(number)
            }
            _ => {
                let var = self.var();
                self.slot(var.0)
            }
        }
    }

    fn sum(&mut self) -> ExprId {
        use BinaryOp::{Add, Mul, Sub, Xor};
        let (x, y) = (self.value(), self.value());
        let op = [Add, Sub, Mul, Xor][self.below(4) as usize];
        self.binary(op, x, y)
    }

    /// What grows with the counter, until it wraps around.
    fn growing(&mut self) -> ExprId {
        let factors = [1, 1, 1, 2, 3, 0x2000_0000, 0x4000_0001, 0x5555_5556, 0x8000_0000, u32::MAX];
        let factor = factors[self.below(factors.len() as u32) as usize];
        let (counter, by, more) = (self.slot(COUNTER), self.number(factor), self.value());
        let product = self.binary(BinaryOp::Mul, counter, by);
        match self.below(6) {
            0 => self.binary(BinaryOp::Add, product, more),
            1 => self.binary(BinaryOp::Mul, product, more),
            2 => self.binary(BinaryOp::Max, product, more),
            3 => self.binary(BinaryOp::Min, product, more),
            _ => product,
        }
    }

    /// A random index: mostly the counter, and mostly within bounds.
    fn index(&mut self) -> Vec<ExprId> {
        if self.grows {
            return vec![self.growing()];
        }
        vec![match self.below(12) {
            0..=5 => self.slot(COUNTER),
            6 => {
                let (counter, one) = (self.slot(COUNTER), self.number(1));
                self.binary(BinaryOp::Add, counter, one)
            }
            7 => self.value(),
            _ => return self.within(),
        }]
    }

    /// A random index within the bounds of all views.
    fn within(&mut self) -> Vec<ExprId> {
        let (value, seven) = (self.value(), self.number(7));
        vec![self.binary(BinaryOp::And, value, seven)]
    }

    fn load(&mut self, place: Place) -> Stmt {
        Stmt::Load { dst: self.var(), place, index: self.index(), site: self.site() }
    }

    fn store(&mut self, place: Place) -> Stmt {
        Stmt::Store { place, index: self.index(), value: self.value(), site: self.site() }
    }

    fn load_lanes(&mut self) -> Stmt {
        let (place, index) = (READ[self.below(2) as usize], self.index());
        let four = self.number(4);
        let index = if self.below(2) == 0 { index[0] } else { self.binary(BinaryOp::Mul, index[0], four) };
        Stmt::LoadLanes { dst: LANES, place, index, site: self.site() }
    }

    fn stmt(&mut self, depth: u32) -> Stmt {
        match self.below(17) {
            0..=4 => {
                let place = READ[self.below(2) as usize];
                self.load(place)
            }
            5 => self.load(ITEMS),
            6 | 7 => self.store(ITEMS),
            8 => self.load(SHARED),
            9 => self.store(SHARED),
            10 => Stmt::Load { dst: self.var(), place: LOCAL, index: self.within(), site: self.site() },
            11 => Stmt::Store { place: LOCAL, index: self.within(), value: self.value(), site: self.site() },
            12 if depth > 0 => {
                let (x, y) = (self.value(), self.value());
                let condition = self.binary(BinaryOp::Lt, x, y);
                let then = vec![self.stmt(depth - 1), self.stmt(depth - 1)];
                let otherwise = if self.below(2) == 0 { vec![] } else { vec![self.stmt(depth - 1)] };
                Stmt::If { condition, then, otherwise }
            }
            13 => {
                let (x, y) = (self.value(), self.number(1));
                let right = self.binary(BinaryOp::Or, x, y);
                let right = if self.below(8) == 0 { x } else { right };
                Stmt::Divide { dst: self.var(), op: DivOp::Rem, left: self.value(), right, site: self.site() }
            }
            14 if self.below(4) == 0 => {
                let (x, y) = (self.value(), self.number(5));
                let condition = self.binary(BinaryOp::Ne, x, y);
                Stmt::Assert { condition, message: "no fives".into(), site: self.site() }
            }
            15 if self.grows || self.below(4) == 0 => self.moves_on(),
            16 if self.grows => self.load_lanes(),
            _ if self.grows && self.below(2) == 0 => Stmt::Assign { slot: self.var(), value: self.growing() },
            _ => Stmt::Assign { slot: self.var(), value: self.sum() },
        }
    }

    /// Makes the loop end earlier, or later.
    fn moves_on(&mut self) -> Stmt {
        let ways = [(COUNTER, BinaryOp::Add, 1), (END, BinaryOp::Min, 9), (END, BinaryOp::Max, 20)];
        let (slot, op, number) = ways[self.below(3) as usize];
        let (x, y) = (self.slot(slot), self.number(number));
        Stmt::Assign { slot: SlotId(slot), value: self.binary(op, x, y) }
    }

    /// A loop in one of the two forms, and in both ways to ask.
    fn sweep(&mut self, body: &mut Vec<Stmt>) {
        let begin = self.below(3);
        let begin = self.number(begin);
        body.push(Stmt::Assign { slot: SlotId(COUNTER), value: begin });
        let rounds = self.below(24);
        self.end = rounds;
        let rounds = match self.below(3) {
            0 => self.push(Expr::Extent(ITEMS, 0)),
            1 => self.number(rounds),
            _ => {
                let value = self.number(rounds);
                body.push(Stmt::Assign { slot: SlotId(END), value });
                self.slot(END)
            }
        };
        let counter = self.slot(COUNTER);
        let step = 1 + self.below(3);
        let mut step = self.number(step);
        if self.below(4) == 0 {
            let value = self.value();
            let few = self.binary(BinaryOp::Min, value, step);
            let one = self.number(1);
            step = self.binary(BinaryOp::Max, few, one);
        }
        let next = if self.below(2) == 0 {
            self.binary(BinaryOp::Add, counter, step)
        } else {
            let left = self.binary(BinaryOp::Sub, rounds, counter);
            let more = self.binary(BinaryOp::Gt, left, step);
            let next = self.binary(BinaryOp::Add, counter, step);
            self.push(Expr::Select(more, next, rounds))
        };
        let leave = vec![Stmt::Break(LOOP)];
        let test = if self.below(2) == 0 {
            Stmt::If { condition: self.binary(BinaryOp::Ge, counter, rounds), then: leave, otherwise: vec![] }
        } else {
            Stmt::If { condition: self.binary(BinaryOp::Lt, counter, rounds), then: vec![], otherwise: leave }
        };
        let mut turn = vec![test];
        turn.extend((0..1 + self.below(7)).map(|_| self.stmt(1)));
        let continuing = vec![Stmt::Assign { slot: SlotId(COUNTER), value: next }];
        body.push(Stmt::Loop { label: LOOP, body: turn, continuing, bounded: true, site: self.site() });
    }
}

/// A launch of one thread: a loop, and then its slots and its array in the first buffer.
fn case(seed: u64) -> Case {
    let mut made = Made { state: seed, line: 0, exprs: Vec::new(), grows: seed % 2 == 1, end: 0 };
    let mut body = Vec::new();
    made.sweep(&mut body);
    for slot in 0..VARS.end {
        let (index, value, site) = (vec![made.number(slot)], made.slot(slot), made.site());
        body.push(Stmt::Store { place: OUT, index, value, site });
    }
    for at in 0..8 {
        let (from, to, site) = (vec![made.number(at)], vec![made.number(VARS.end + at)], made.site());
        let dst = SlotId(VARS.start);
        body.push(Stmt::Load { dst, place: LOCAL, index: from, site });
        body.push(Stmt::Store { place: OUT, index: to, value: made.slot(dst.0), site });
    }
    for at in 0..4 {
        let (from, to, site) = (vec![made.number(at)], vec![made.number(VARS.end + 8 + at)], made.site());
        let dst = SlotId(VARS.start);
        body.push(Stmt::Load { dst, place: Place::Local(LANES), index: from, site });
        body.push(Stmt::Store { place: OUT, index: to, value: made.slot(dst.0), site });
    }
    let params = [("out", Access::Shared), ("x", Access::PerItem), ("y", Access::Read), ("z", Access::Read)];
    let params = params.into_iter().chain([("w", Access::Shared)]);
    let view =
        |(name, access)| Param { name, kind: ParamKind::View { access, element: Type::U32, rank: 1 }, field: None };
    // Some views end before others.
    let mut lens = [VARS.end + 12, 8 + made.below(16), 8 + made.below(24), 16 + made.below(24), 25];
    // The first index beyond is that of a turn that there is not.
    if made.grows && made.end >= 8 {
        lens[2..4].fill(made.end);
    }
    let argument = |len: u32| {
        let contents = (0..u64::from(len)).map(|i| (i + seed).wrapping_mul(0x9e37_79b9) >> 7 & 31).collect();
        // Some views begin where several elements are not aligned.
        let before = vec![(seed / 8 % 3) as u32];
        ArgumentValue::View(ViewValue { extent: vec![len], before, after: vec![], contents })
    };
    let site = made.site();
    let kernel = Kernel {
        params: params.map(view).collect(),
        locals: vec![LocalArray::new(Type::U32, 8), LocalArray::new(Type::U32, 4)],
        slots: vec![Slot { ty: Type::U32, name: None }; VARS.end as usize],
        exprs: made.exprs,
        body,
        ..Kernel::new(format!("turns_{seed}"), site, 1)
    };
    let arguments = lens.into_iter().map(argument).collect();
    Case { note: String::new(), blocks: vec![1], threads: vec![1], warp_size: 0, shared_len: 0, arguments, kernel }
}

#[test]
fn as_one_turn_after_another() {
    let devices: Vec<_> = Device::all().into_iter().filter(|device| device.name().starts_with("cuda")).collect();
    if devices.is_empty() {
        test_skips::skipped("no CUDA device is here");
    }
    let (mut batched, mut hoisted, mut faults) = (0, 0, 0);
    for seed in 0..COUNT {
        let case = case(seed);
        let module = crate::tools::module(&case.kernel, &PtxTarget::new(90));
        batched += u64::from(module.body.contains(crate::tools::BATCHED));
        hoisted += u64::from(module.body.contains(crate::tools::HOISTED));
        let left = outcome(&case, &Device::simulated(0)).unwrap_or_else(|error| panic!("{error}\n{case}"));
        faults += u64::from(left.fault.is_some());
        for device in &devices {
            let found = outcome(&case, device).unwrap_or_else(|error| panic!("{error}\n{case}"));
            assert_eq!(found, left, "{}: seed {seed}\n{case}\n{}", device.name(), module.body);
        }
    }
    println!("{batched} of {COUNT} batched, {hoisted} without checks, {faults} with faults");
    assert!(batched * 5 >= COUNT, "only {batched} of {COUNT} run several turns at a time");
    assert!(hoisted * 10 >= COUNT, "only {hoisted} of {COUNT} have their checks made before");
    assert!((1..10).contains(&(faults * 10 / COUNT)), "{faults} of {COUNT} have faults");
}

#[test]
fn assembles() {
    let Some(ptxas) = crate::tools::assembler() else { return };
    let modules: Vec<_> = (0..300).map(|seed| crate::tools::module(&case(seed).kernel, &PtxTarget::new(90))).collect();
    let (said, _) = crate::tools::assemble(&ptxas, &crate::tools::together(&modules), 90);
    let complaints = crate::tools::complaints(&said, |_| true);
    assert!(complaints.is_empty(), "{complaints:#?}");
}
