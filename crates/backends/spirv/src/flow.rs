//! Control flow: the IR's loops, labelled blocks and exits as SPIR-V's structured constructs.
//!
//! A loop is a loop construct, a labelled block that is left is a switch with one case. SPIR-V lets code leave the
//! innermost construct alone, or the innermost loop from within switches in it (SPIR-V 1.6, 2.11.1 "Exiting
//! constructs"). An exit that goes further sets the number `leave`, leaves the innermost construct, and is gone on
//! with behind it.
//!
//! Where the driver wants it ([`crate::Workarounds::leave_loops_at_the_head`]) a loop is left at its head alone: an
//! exit sets the loop's number `done` and goes to the continue target, so that what lives behind the loop is a value of
//! its head. What `done` is set to is the launch's number, which no compiler knows:
//! where a cut of the loop by the driver must be reported, `done` is tested again behind the loop, and a compiler that
//! knew the answer would not test it.

use rspirv::dr::Operand;
use rspirv::spirv::{LoopControl, Op, SelectionControl, Word};
use wattle_ir::counted::HeadTest;
use wattle_ir::fault::Fault;
use wattle_ir::visit::Jump;
use wattle_ir::{ExprId, Label, Site, Stmt, Type};

use crate::Lacking;
use crate::emit::Emitter;
use crate::layout::ArgumentWord;

/// The constructs around what is being made, outermost first.
#[derive(Default)]
pub struct Flow {
    constructs: Vec<Construct>,
    leave: Option<Word>,
    /// The exits that the numbers in `leave` stand for, from 1.
    exits: Vec<Jump>,
}

#[derive(Clone, Copy)]
enum Kind {
    Switch,
    Loop { continues: Word, done: Option<Word> },
}

struct Construct {
    /// The construct's label, or `None` for the whole body.
    label: Option<Label>,
    kind: Kind,
    merge: Word,
    /// Exits that go further than this construct.
    pending: Vec<Jump>,
    /// Whether code behind it can be reached.
    left: bool,
    /// Whether its continue target can be reached.
    continued: bool,
}

/// A loop's blocks, and what goes into them.
#[derive(Clone, Copy)]
struct Turn<'l> {
    head: Word,
    start: Word,
    continues: Word,
    merge: Word,
    /// The test at the head, which stands before the body.
    test: Option<HeadTest>,
    done: Option<Word>,
    body: &'l [Stmt],
    continuing: &'l [Stmt],
    /// Whether the body leaves the loop, or something around it.
    leaves_inside: bool,
}

impl Construct {
    fn new(label: Option<Label>, kind: Kind, merge: Word) -> Construct {
        Construct { label, kind, merge, pending: Vec::new(), left: false, continued: false }
    }
}

/// Whether code in `block` leaves for `label`, or, for `None`, for something around `block`.
fn leaves(block: &[Stmt], label: Option<Label>, inside: &mut Vec<Label>) -> bool {
    block.iter().any(|stmt| {
        let goes = |to: Label| label.map_or(!inside.contains(&to), |label| label == to);
        match stmt.jump() {
            Some(Jump::Break(to) | Jump::Continue(to)) => return goes(to),
            Some(Jump::Return) => return label.is_none(),
            None => {}
        }
        // A loop without a bound looks whether it shall stop, and then the thread ends.
        if label.is_none() && matches!(stmt, Stmt::Loop { bounded: false, .. }) {
            return true;
        }
        let own = stmt.parts().label;
        inside.extend(own);
        let found = stmt.blocks().any(|block| leaves(block, label, inside));
        if own.is_some() {
            inside.pop();
        }
        found
    })
}

impl Emitter<'_> {
    /// Emits the kernel's whole body. A thread that ends leaves it, and comes to what stands behind.
    pub(crate) fn body(&mut self) -> Result<(), Lacking> {
        let kernel = self.kernel;
        if leaves(&kernel.body, None, &mut Vec::new()) {
            self.switch(None, &kernel.body)
        } else {
            self.block(&kernel.body)
        }
    }

    pub(crate) fn block(&mut self, block: &[Stmt]) -> Result<(), Lacking> {
        let mut accessed = 0;
        for (number, stmt) in block.iter().enumerate() {
            if !self.asm.is_open() {
                break;
            }
            if number < accessed {
                continue;
            }
            match self.packed(&block[number..]) {
                Some(count) => accessed = number + count,
                None => self.stmt(stmt)?,
            }
        }
        Ok(())
    }

    fn branch(&mut self, to: Word) {
        self.asm.terminate(Op::Branch, vec![Operand::IdRef(to)]);
    }

    fn set(&mut self, variable: Word, value: Word) {
        self.asm.act(Op::Store, [variable, value].map(Operand::IdRef).to_vec());
    }

    /// Emits code that only some of the ways to what stands behind it come through: nothing that it computes is known
    /// there.
    pub(crate) fn on_some_ways<T>(&mut self, make: impl FnOnce(&mut Self) -> T) -> T {
        let made = self.asm.made();
        let value = make(self);
        self.asm.forget(made);
        value
    }

    pub(crate) fn if_else(&mut self, condition: ExprId, then: &[Stmt], otherwise: &[Stmt]) -> Result<(), Lacking> {
        let condition = self.value(condition);
        let (yes, no, end) = (self.asm.id(), self.asm.id(), self.asm.id());
        let no_or_end = if otherwise.is_empty() { end } else { no };
        self.merge_here(end);
        self.asm.terminate(Op::BranchConditional, [condition, yes, no_or_end].map(Operand::IdRef).to_vec());
        let mut reached = otherwise.is_empty();
        for (label, block) in [(yes, then), (no, otherwise)] {
            if label == no && otherwise.is_empty() {
                continue;
            }
            self.asm.label(label);
            self.known.clear();
            self.on_some_ways(|emitter| emitter.block(block))?;
            reached |= self.asm.is_open();
            if self.asm.is_open() {
                self.branch(end);
            }
        }
        self.go_on_at(end, reached);
        Ok(())
    }

    fn merge_here(&mut self, end: Word) {
        let control = Operand::SelectionControl(SelectionControl::NONE);
        self.asm.act(Op::SelectionMerge, vec![Operand::IdRef(end), control]);
    }

    /// Begins the block where a construct's ways meet.
    fn go_on_at(&mut self, merge: Word, reached: bool) {
        self.asm.label(merge);
        if !reached {
            self.asm.terminate(Op::Unreachable, vec![]);
        }
    }

    pub(crate) fn labelled(&mut self, label: Label, body: &[Stmt]) -> Result<(), Lacking> {
        if leaves(body, Some(label), &mut Vec::new()) { self.switch(Some(label), body) } else { self.block(body) }
    }

    fn switch(&mut self, label: Option<Label>, body: &[Stmt]) -> Result<(), Lacking> {
        let (start, merge, zero) = (self.asm.id(), self.asm.id(), self.asm.word(0));
        self.merge_here(merge);
        self.asm.terminate(Op::Switch, [zero, start].map(Operand::IdRef).to_vec());
        self.asm.label(start);
        self.flow.constructs.push(Construct::new(label, Kind::Switch, merge));
        let done = self.on_some_ways(|emitter| emitter.block(body));
        let falls = self.asm.is_open();
        if falls {
            self.branch(merge);
        }
        let Some(construct) = self.flow.constructs.pop() else { return done };
        done?;
        self.go_on_at(merge, falls || construct.left);
        self.go_further(&construct.pending);
        Ok(())
    }

    pub(crate) fn loop_over(
        &mut self,
        label: Label,
        body: &[Stmt],
        continuing: &[Stmt],
        bounded: bool,
        site: Site,
    ) -> Result<(), Lacking> {
        let at_head = self.features.workarounds.leave_loops_at_the_head;
        // A condition computed twice would be computed once, and the loop's cut go unseen.
        let test = HeadTest::of(label, body).filter(|_| !self.tells_cuts());
        let rest = if test.is_some() { &body[1..] } else { body };
        let leaves_inside =
            !bounded || leaves(rest, Some(label), &mut Vec::new()) || leaves(rest, None, &mut vec![label]);
        let (word, no) = (self.asm.u32(), self.asm.word(0));
        let done = (at_head && (leaves_inside || test.is_none())).then(|| self.asm.local(word, Some("done".into())));
        if let Some(done) = done {
            self.set(done, no);
        }
        let [head, start, continues, merge] = [(); 4].map(|()| self.asm.id());
        self.branch(head);
        self.flow.constructs.push(Construct::new(Some(label), Kind::Loop { continues, done }, merge));
        let turn = Turn { head, start, continues, merge, test, done, body: rest, continuing, leaves_inside };
        let made = self.on_some_ways(|emitter| emitter.turn(&turn, bounded, site));
        let Some(construct) = self.flow.constructs.pop() else { return made.map(|_| ()) };
        let left_at_head = made?;
        self.go_on_at(merge, left_at_head || construct.left);
        self.known.clear();
        self.report_cut(done, site);
        self.go_further(&construct.pending);
        Ok(())
    }

    /// Emits a loop from its head to its continue target; says whether it is left at the head.
    fn turn(&mut self, turn: &Turn<'_>, bounded: bool, site: Site) -> Result<bool, Lacking> {
        let Turn { head, start, continues, merge, test, done, body, continuing, leaves_inside } = *turn;
        self.asm.head(head);
        self.known.clear();
        let left = self.left_at_head(test, done);
        let control = Operand::LoopControl(LoopControl::NONE);
        self.asm.act(Op::LoopMerge, vec![Operand::IdRef(merge), Operand::IdRef(continues), control]);
        match left {
            Some(left) => {
                self.asm.terminate(Op::BranchConditional, [left, merge, start].map(Operand::IdRef).to_vec());
            }
            None => self.branch(start),
        }
        self.asm.label(start);
        self.known.clear();
        self.on_some_ways(|emitter| emitter.iteration(body, bounded, site))?;
        let falls = self.asm.is_open();
        if falls {
            self.branch(continues);
        }
        self.asm.label(continues);
        self.known.clear();
        if falls || self.flow.constructs.last().is_some_and(|construct| construct.continued) {
            self.continuing(continuing, done.filter(|_| leaves_inside))?;
        }
        self.branch(head);
        self.asm.comes_back(head);
        Ok(left.is_some())
    }

    /// The condition on which the loop is left at its head, or `None` if it never is.
    fn left_at_head(&mut self, test: Option<HeadTest>, done: Option<Word>) -> Option<Word> {
        let bool = self.asm.ty(Type::Bool);
        let condition = test.map(|test| {
            let value = self.value(test.condition);
            if test.leaves_if { value } else { self.asm.of(Op::LogicalNot, bool, &[value]) }
        });
        let done = done.map(|done| self.is_done(done));
        match (condition, done) {
            (Some(condition), Some(done)) => Some(self.asm.of(Op::LogicalOr, bool, &[condition, done])),
            (one, other) => one.or(other),
        }
    }

    fn iteration(&mut self, body: &[Stmt], bounded: bool, site: Site) -> Result<(), Lacking> {
        if !bounded && self.features.watched {
            let stop = self.shall_stop();
            let (yes, end) = (self.asm.id(), self.asm.id());
            self.merge_here(end);
            self.asm.terminate(Op::BranchConditional, [stop, yes, end].map(Operand::IdRef).to_vec());
            self.asm.label(yes);
            self.on_some_ways(|emitter| {
                emitter.report_stop(site);
                emitter.exit(Jump::Return);
            });
            self.asm.label(end);
        }
        self.block(body)
    }

    /// Emits what is done between iterations, unless the loop is being left.
    fn continuing(&mut self, continuing: &[Stmt], done: Option<Word>) -> Result<(), Lacking> {
        let Some(done) = done.filter(|_| !continuing.is_empty()) else { return self.block(continuing) };
        let bool = self.asm.ty(Type::Bool);
        let left = self.is_done(done);
        let goes_on = self.asm.of(Op::LogicalNot, bool, &[left]);
        let mut made = Ok(());
        self.when(goes_on, |emitter| made = emitter.block(continuing));
        made
    }

    fn is_done(&mut self, done: Word) -> Word {
        let (word, bool, zero) = (self.asm.u32(), self.asm.ty(Type::Bool), self.asm.word(0));
        let said = self.asm.of(Op::Load, word, &[done]);
        self.asm.of(Op::INotEqual, bool, &[said, zero])
    }

    /// Whether loops check behind themselves that the driver did not cut them short.
    fn tells_cuts(&self) -> bool {
        self.features.workarounds.loops_end_after.is_some()
    }

    /// Emits, behind a loop, the report that the driver cut it short.
    fn report_cut(&mut self, done: Option<Word>, site: Site) {
        let Some(done) = done.filter(|_| self.tells_cuts() && self.asm.is_open()) else { return };
        let (word, bool) = (self.asm.u32(), self.asm.ty(Type::Bool));
        let number = self.entry.word(ArgumentWord::Number);
        let said = self.asm.of(Op::Load, word, &[done]);
        let cut = self.asm.of(Op::INotEqual, bool, &[said, number]);
        self.when(cut, |emitter| emitter.fault(site, Fault::LoopCut, &[]));
    }

    pub(crate) fn exit(&mut self, exit: Jump) {
        let (target, continues) = match exit {
            Jump::Return => (None, false),
            Jump::Break(label) => (Some(label), false),
            Jump::Continue(label) => (Some(label), true),
        };
        let constructs = &self.flow.constructs;
        let Some(at) = constructs.iter().rposition(|construct| construct.label == target) else {
            // The verifier has seen that there is a construct of that label.
            return self.asm.terminate(Op::Unreachable, vec![]);
        };
        let is_loop = |construct: &Construct| matches!(construct.kind, Kind::Loop { .. });
        let top = constructs.len() - 1;
        let direct = at == top || (is_loop(&constructs[at]) && !constructs[at + 1..].iter().any(is_loop));
        if direct {
            return self.leave(at, continues);
        }
        let number = match self.flow.exits.iter().position(|known| *known == exit) {
            Some(number) => number,
            None => {
                self.flow.exits.push(exit);
                self.flow.exits.len() - 1
            }
        };
        let (leave, number) = (self.leave_variable(), self.asm.word(number as u32 + 1));
        self.set(leave, number);
        let pending = &mut self.flow.constructs[top].pending;
        if !pending.contains(&exit) {
            pending.push(exit);
        }
        self.leave(top, false);
    }

    fn leave_variable(&mut self) -> Word {
        let word = self.asm.u32();
        match self.flow.leave {
            Some(leave) => leave,
            None => *self.flow.leave.insert(self.asm.local(word, Some("leave".into()))),
        }
    }

    /// Emits the exit from a construct that can be left from here.
    fn leave(&mut self, at: usize, continues: bool) {
        let construct = &mut self.flow.constructs[at];
        let merge = construct.merge;
        match construct.kind {
            Kind::Loop { continues: to, .. } if continues => {
                construct.continued = true;
                self.branch(to);
            }
            Kind::Loop { continues: to, done: Some(done) } => {
                (construct.left, construct.continued) = (true, true);
                let yes = self.entry.word(ArgumentWord::Number);
                self.set(done, yes);
                self.branch(to);
            }
            Kind::Switch | Kind::Loop { .. } => {
                construct.left = true;
                self.branch(merge);
            }
        }
    }

    /// Emits, behind a construct, the exits that go further.
    fn go_further(&mut self, pending: &[Jump]) {
        let bool = self.asm.ty(Type::Bool);
        for exit in pending {
            let number = self.flow.exits.iter().position(|known| known == exit).unwrap_or(0);
            let (leave, word) = (self.leave_variable(), self.asm.u32());
            let (number, zero) = (self.asm.word(number as u32 + 1), self.asm.word(0));
            let said = self.asm.of(Op::Load, word, &[leave]);
            let goes = self.asm.of(Op::IEqual, bool, &[said, number]);
            let (yes, end) = (self.asm.id(), self.asm.id());
            self.merge_here(end);
            self.asm.terminate(Op::BranchConditional, [goes, yes, end].map(Operand::IdRef).to_vec());
            self.asm.label(yes);
            self.on_some_ways(|emitter| {
                emitter.set(leave, zero);
                emitter.exit(*exit);
            });
            self.asm.label(end);
        }
    }
}
