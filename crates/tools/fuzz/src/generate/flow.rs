//! Statements between barriers, where each thread goes its own way.

use wattle_ir::message::{Message, Piece, Spec, Style, Text};
use wattle_ir::{BinaryOp, ExprId, Stmt, Type};

use super::{Generator, Jump};

/// How often a statement in nested loops may run, at most.
const MOST_REPEATS: u32 = 24;

impl Generator<'_> {
    /// Makes a statement, and those that it needs; blocks nest at most `depth` deep.
    pub(super) fn statement(&mut self, depth: u32, jumps: &mut Vec<Jump>, out: &mut Vec<Stmt>) {
        let place = self.random.place();
        self.budget = self.budget.saturating_sub(1);
        self.any_statement(depth, jumps, out);
        self.random.mark(place);
    }

    fn any_statement(&mut self, depth: u32, jumps: &mut Vec<Jump>, out: &mut Vec<Stmt>) {
        match self.random.below(if depth == 0 { 20 } else { 27 }) {
            0..=4 => self.assignment(out),
            5 | 6 => self.division(out),
            7 | 8 => self.local_access(out),
            9..=12 => self.region_access(out),
            13..=15 => self.common_access(out),
            16 => self.fence(out),
            17 if self.profile.prints && self.random.one_in(3) => self.print(out),
            17 => self.assertion(out),
            18 | 19 => self.jump(jumps, out),
            20..=22 => {
                let condition = self.value(Type::Bool, 3);
                let then = self.nested(depth, jumps);
                let otherwise = if self.random.coin() { Vec::new() } else { self.nested(depth, jumps) };
                out.push(Stmt::If { condition, then, otherwise });
            }
            23 | 24 if self.repeats < MOST_REPEATS => self.random_loop(depth, jumps, out),
            25 => {
                let label = self.label();
                jumps.push(Jump { label, breaks: true, continues: false });
                let body = self.nested(depth, jumps);
                jumps.pop();
                out.push(Stmt::Block { label, body });
            }
            _ if self.tail && self.random.one_in(3) => {
                let condition = self.value(Type::Bool, 2);
                let mut then = Vec::new();
                if self.random.coin() {
                    self.simple(&mut then);
                }
                then.push(Stmt::Return);
                out.push(Stmt::If { condition, then, otherwise: Vec::new() });
            }
            _ => self.assignment(out),
        }
    }

    fn nested(&mut self, depth: u32, jumps: &mut Vec<Jump>) -> Vec<Stmt> {
        let mut block = Vec::new();
        let mut count = 0;
        while count == 0 || self.random.more(count, 4) {
            self.statement(depth - 1, jumps, &mut block);
            count += 1;
            // What stands behind a jump is never done; now and then something does.
            let over = matches!(block.last(), Some(Stmt::Break(_) | Stmt::Continue(_)));
            if self.budget == 0 || (over && !self.random.one_in(4)) {
                break;
            }
        }
        block
    }

    /// Makes a statement without control flow.
    pub(super) fn simple(&mut self, out: &mut Vec<Stmt>) {
        match self.random.below(6) {
            0 | 1 => self.assignment(out),
            2 => self.division(out),
            3 => self.local_access(out),
            4 => self.region_access(out),
            _ => self.common_access(out),
        }
    }

    fn assignment(&mut self, out: &mut Vec<Stmt>) {
        let ty = self.any_type();
        let value = self.value(ty, 3);
        let slot = self.var(ty);
        self.assign(slot, value, out);
    }

    fn assertion(&mut self, out: &mut Vec<Stmt>) {
        // Assertions are few, and other faults come first.
        let wrong = self.profile.faults && self.random.one_in(3);
        let condition = if wrong { self.value(Type::Bool, 2) } else { self.truism() };
        let message = self.message("it holds");
        out.push(Stmt::Assert { condition, message, site: self.site() });
    }

    fn print(&mut self, out: &mut Vec<Stmt>) {
        let message = self.message("a line");
        out.push(Stmt::Print { message, site: self.site() });
    }

    /// Makes a message with some values. Floats are whole numbers: others may be subnormal, which is not promised.
    fn message(&mut self, text: &'static str) -> Message {
        let mut pieces = vec![Piece::Literal(text.into())];
        let mut arguments = Vec::new();
        for number in 0..self.random.below(4) as usize {
            let ty = self.any_type();
            arguments.push(if ty.is_float() { self.whole(ty) } else { self.value(ty, 2) });
            let style = if ty.is_int() && self.random.coin() { Style::LowerHex } else { Style::Display };
            let width = self.random.coin().then_some(6);
            let spec = Spec { style, width, zero: self.random.one_in(3), ..Spec::PLAIN };
            pieces.extend([Piece::Literal(" ".into()), Piece::Value(number, spec)]);
        }
        Message { text: Text(pieces.into()), arguments }
    }

    /// Makes a condition that always holds.
    fn truism(&mut self) -> ExprId {
        let ty = self.element();
        let x = if ty.is_float() { self.value(Type::U32, 2) } else { self.value(ty, 2) };
        let y = self.value(self.ty(x), 1);
        match self.random.below(3) {
            0 => {
                let least = self.binary(BinaryOp::Min, x, y);
                self.binary(BinaryOp::Le, least, x)
            }
            1 => {
                let both = self.binary(BinaryOp::Xor, x, y);
                let again = self.binary(BinaryOp::Xor, both, y);
                self.binary(BinaryOp::Eq, again, x)
            }
            _ => {
                let (some, none) = (self.binary(BinaryOp::Lt, x, y), self.binary(BinaryOp::Ge, x, y));
                self.binary(BinaryOp::Xor, some, none)
            }
        }
    }

    fn jump(&mut self, jumps: &[Jump], out: &mut Vec<Stmt>) {
        let Some(jump) = self.random.choose(jumps) else {
            return self.assignment(out);
        };
        let goes_on = jump.continues && (!jump.breaks || self.random.coin());
        let jump = if goes_on { Stmt::Continue(jump.label) } else { Stmt::Break(jump.label) };
        if self.random.one_in(5) {
            out.push(jump);
            return;
        }
        let condition = self.value(Type::Bool, 2);
        let mut then = Vec::new();
        if self.random.one_in(3) {
            self.simple(&mut then);
        }
        then.push(jump);
        let (then, otherwise) = if self.random.one_in(4) { (Vec::new(), then) } else { (then, Vec::new()) };
        out.push(Stmt::If { condition, then, otherwise });
    }

    /// Makes a loop that ends: it has a counter that nothing else sets, and each round passes its increment and test.
    fn random_loop(&mut self, depth: u32, jumps: &mut Vec<Jump>, out: &mut Vec<Stmt>) {
        let counter = self.slot(Type::U32, Some("i"));
        let most = self.random.below(5);
        let limit = self.limit(most, out);
        let zero = self.u32(0);
        self.assign(counter, zero, out);
        self.readable.push(counter);
        let (label, site) = (self.label(), self.site());
        let before = self.repeats;
        self.repeats *= most.max(1);
        let (mut body, mut continuing) = (Vec::new(), Vec::new());
        let next = self.next(counter);
        let count = self.value_of(counter);
        let exit = |condition| Stmt::If { condition, then: vec![Stmt::Break(label)], otherwise: Vec::new() };
        let form = self.random.below(3);
        if form == 0 {
            let over = self.binary(BinaryOp::Ge, count, limit);
            body.push(exit(over));
        } else {
            self.assign(counter, next, &mut body);
            if form == 1 {
                let over = self.binary(BinaryOp::Gt, count, limit);
                body.push(exit(over));
            }
        }
        // In the third form the test is at the end, and `continue` would go past it.
        jumps.push(Jump { label, breaks: true, continues: form != 2 });
        let inner = self.nested(depth, jumps);
        jumps.pop();
        body.extend(inner);
        if form == 2 {
            let over = self.binary(BinaryOp::Ge, count, limit);
            body.push(exit(over));
        }
        if self.random.one_in(3) {
            self.continuing(&mut continuing);
        }
        if form == 0 {
            self.assign(counter, next, &mut continuing);
        }
        self.repeats = before;
        let bounded = self.random.coin();
        out.push(Stmt::Loop { label, body, continuing, bounded, site });
    }

    /// How many rounds a loop makes, at most `most`: a constant, or a slot that is set before the loop.
    fn limit(&mut self, most: u32, out: &mut Vec<Stmt>) -> ExprId {
        let most = self.u32(most);
        if self.random.coin() {
            return most;
        }
        let value = self.value(Type::U32, 2);
        let rounds = self.binary(BinaryOp::Min, value, most);
        let limit = self.slot(Type::U32, Some("limit"));
        self.assign(limit, rounds, out);
        self.readable.push(limit);
        self.value_of(limit)
    }

    pub(super) fn next(&mut self, counter: wattle_ir::SlotId) -> ExprId {
        let (count, one) = (self.value_of(counter), self.u32(1));
        self.binary(BinaryOp::Add, count, one)
    }

    /// Makes what a loop does between two rounds.
    fn continuing(&mut self, out: &mut Vec<Stmt>) {
        self.simple(out);
        if self.random.one_in(4) {
            let condition = self.value(Type::Bool, 2);
            let mut then = Vec::new();
            self.simple(&mut then);
            out.push(Stmt::If { condition, then, otherwise: Vec::new() });
        }
    }
}
