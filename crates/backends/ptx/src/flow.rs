//! Control flow: PTX has branches and no structure, so that every exit is a branch.

use rustc_hash::{FxHashMap, FxHashSet};
use wattle_ir::visit::Jump;
use wattle_ir::{Check, ExprId, Label, Site, Stmt};

use crate::Lacking;
use crate::assemble::{BranchTarget, Value, ins};
use crate::batching::batch;
use crate::emit::Emitter;
use crate::hoisting::{WITHOUT_CHECKS, hoisted};
use crate::unroll::unrollable;

/// The labels that exits go to.
#[derive(Default)]
pub struct Flow {
    /// For each loop or block around the current code: its end, and where a loop continues.
    labels: FxHashMap<Label, (BranchTarget, Option<BranchTarget>)>,
    /// The thread's end, `None` until something goes there.
    end: Option<BranchTarget>,
}

impl Flow {
    /// Enters a loop or block.
    pub(crate) fn surround(&mut self, label: Label, end: BranchTarget, continues: Option<BranchTarget>) {
        self.labels.insert(label, (end, continues));
    }
}

/// The most assignments that are made under a predicate in place of a branch.
const MOST_PREDICATED: usize = 4;

impl Emitter<'_> {
    pub(crate) fn block(&mut self, block: &[Stmt]) -> Result<(), Lacking> {
        let mut before = None;
        let mut accessed = 0;
        for (number, stmt) in block.iter().enumerate() {
            if !self.asm.is_open() {
                break;
            }
            if number < accessed {
                continue;
            }
            if let Some(count) = self.packed(&block[number..]) {
                accessed = number + count;
                before = None;
                continue;
            }
            if let Some(count) = self.run(&block[number..]) {
                self.together(&block[number..number + count])?;
                accessed = number + count;
                before = None;
                continue;
            }
            match unrollable(self.kernel, before, stmt) {
                Some(found) => self.unrolled(&found)?,
                None => self.stmt(stmt)?,
            }
            before = Some(stmt);
        }
        Ok(())
    }

    /// Emits a check: what is done where it fails stands behind the kernel's end.
    pub(crate) fn check(&mut self, check: &Check<'_>) -> Result<(), Lacking> {
        if let Some(holds) = self.constant(check.condition) {
            return self.block(if (holds != 0) == check.fails_if { check.beyond } else { check.within });
        }
        if self.hoisted.contains(&check.condition) {
            return self.block(check.within);
        }
        let condition = self.value(check.condition);
        let (fails, end) = (self.asm.target(), self.asm.target());
        let not = if check.fails_if { "" } else { "!" };
        ins!(self, "@{not}{condition} bra {fails}");
        let known = self.known.clone();
        self.block(check.within)?;
        self.asm.place(end);
        self.known = known;
        let mut made = Ok(());
        self.apart(fails, end, |emitter| made = emitter.block(check.beyond));
        made
    }

    /// The thread's end, which reports its first fault.
    pub(crate) fn end_target(&mut self) -> BranchTarget {
        match self.flow.end {
            Some(end) => end,
            None => *self.flow.end.insert(self.asm.target()),
        }
    }

    /// Ends the entry: every path returns, and cold code follows.
    pub(crate) fn end(&mut self) {
        if let Some(end) = self.flow.end {
            self.asm.place(end);
        }
        self.report();
        ins!(self, "ret");
        self.define_reports();
    }

    /// The label that a jump goes to.
    fn target_of(&mut self, jump: Jump) -> Option<BranchTarget> {
        match jump {
            Jump::Break(label) => self.flow.labels.get(&label).map(|(end, _)| *end),
            Jump::Continue(label) => self.flow.labels.get(&label).and_then(|(_, continues)| *continues),
            Jump::Return => Some(self.end_target()),
        }
    }

    pub(crate) fn if_else(&mut self, condition: ExprId, then: &[Stmt], otherwise: &[Stmt]) -> Result<(), Lacking> {
        let condition = self.value(condition);
        // An exit becomes a branch under the predicate.
        for (block, other, not) in [(then, otherwise, ""), (otherwise, then, "!")] {
            if let [exit] = block
                && let Some(to) = exit.jump().and_then(|jump| self.target_of(jump))
            {
                ins!(self, "@{not}{condition} bra {to}");
                return self.block(other);
            }
        }
        if self.assigns_little(then) && self.assigns_little(otherwise) {
            self.predicated(condition, then, otherwise);
            return Ok(());
        }
        let (end, known) = (self.asm.target(), self.known.clone());
        if otherwise.is_empty() {
            ins!(self, "@!{condition} bra {end}");
            self.block(then)?;
            self.asm.place(end);
            return Ok(());
        }
        let no = self.asm.target();
        ins!(self, "@!{condition} bra {no}");
        self.block(then)?;
        if self.asm.is_open() {
            self.asm.branch(end);
        }
        self.asm.place(no);
        self.known = known;
        self.block(otherwise)?;
        self.asm.place(end);
        Ok(())
    }

    /// Whether a block is a few assignments of what is computed in one instruction. Expressions are pure and total, so
    /// they may be computed where they are not wanted.
    fn assigns_little(&self, block: &[Stmt]) -> bool {
        block.len() <= MOST_PREDICATED
            && block.iter().all(|stmt| match stmt {
                Stmt::Assign { value, .. } => self.is_little(*value),
                _ => false,
            })
    }

    fn is_little(&self, id: ExprId) -> bool {
        use wattle_ir::{BinaryOp, Expr};
        match self.kernel.exprs[id.index()] {
            Expr::Binary(BinaryOp::Div, ..) | Expr::Select(..) => false,
            Expr::Binary(_, x, y) => self.is_simple(x) && self.is_simple(y),
            _ => self.is_simple(id),
        }
    }

    fn predicated(&mut self, condition: Value, then: &[Stmt], otherwise: &[Stmt]) {
        // The condition may be a slot that is assigned to.
        let held = if self.slots.contains(&condition) {
            let held = self.asm.register(crate::assemble::Class::Predicate);
            self.copy(held, condition);
            held
        } else {
            condition
        };
        for (block, not) in [(then, ""), (otherwise, "!")] {
            for stmt in block {
                let Stmt::Assign { slot, value } = stmt else { continue };
                self.known.clear();
                let (value, to) = (self.value(*value), self.slot(*slot));
                if let Value::Register(class, _) = to
                    && to != value
                {
                    ins!(self, "@{not}{held} mov.{} {to}, {value}", class.name());
                }
            }
        }
    }

    pub(crate) fn labelled(&mut self, label: Label, body: &[Stmt]) -> Result<(), Lacking> {
        let end = self.asm.target();
        self.flow.surround(label, end, None);
        self.block(body)?;
        self.asm.place(end);
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
        let end = self.asm.target();
        self.known.clear();
        if !bounded {
            return self.turns(label, body, continuing, Some(site), end);
        }
        if let Some(found) = hoisted(self.kernel, &self.types, label, body, continuing)
            && let Some(fails) = self.fails_in_some_turn(&found, body)
        {
            let plain = self.asm.target();
            ins!(self, "@{fails} bra {plain}");
            self.asm.comment(format_args!("{WITHOUT_CHECKS}"));
            let aligned = std::mem::replace(&mut self.is_aligned, true);
            self.hoisted = found.conditions;
            let made = self.counted_turns(label, body, continuing, end);
            self.hoisted = FxHashSet::default();
            self.is_aligned = aligned;
            made?;
            let mut made = Ok(());
            self.apart(plain, end, |emitter| {
                let over = emitter.asm.target();
                made = emitter.turns(label, body, continuing, None, over);
            });
            self.known.clear();
            return made;
        }
        self.counted_turns(label, body, continuing, end)
    }

    /// Emits a loop that has a bound, several turns at a time where it can be.
    fn counted_turns(
        &mut self,
        label: Label,
        body: &[Stmt],
        continuing: &[Stmt],
        end: BranchTarget,
    ) -> Result<(), Lacking> {
        if let Some(found) = batch(self.kernel, label, body, continuing) {
            self.batched_turns(&found)?;
        }
        self.turns(label, body, continuing, None, end)
    }

    /// Emits a loop turn by turn. One that has no bound polls, and says so at its line.
    fn turns(
        &mut self,
        label: Label,
        body: &[Stmt],
        continuing: &[Stmt],
        polls: Option<Site>,
        end: BranchTarget,
    ) -> Result<(), Lacking> {
        let [head, continues] = [(); 2].map(|()| self.asm.target());
        self.flow.surround(label, end, Some(continues));
        self.known.clear();
        self.asm.place(head);
        self.block(body)?;
        self.asm.place(continues);
        self.block(continuing)?;
        if self.asm.is_open() {
            if let Some(site) = polls.filter(|_| self.watched) {
                self.leave_if_stopped(site);
            }
            self.asm.branch(head);
        }
        self.asm.place(end);
        Ok(())
    }

    pub(crate) fn exit(&mut self, jump: Jump) {
        // The verifier has seen that there is somewhere to go.
        let to = match self.target_of(jump) {
            Some(to) => to,
            None => self.end_target(),
        };
        self.asm.branch(to);
    }
}
