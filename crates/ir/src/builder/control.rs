//! Choices, loops, blocks and calls while a kernel is built.

use super::{Builder, Iterate, LoopHandle, MAX_CALL_DEPTH, Open, Val};
use crate::{Label, Site, Stmt, VerifyError};

impl Builder {
    /// Opens the branch for `condition`. A constant condition is decided here, and the other branch dropped.
    pub fn if_begin(&self, condition: Val<'_, bool>) {
        self.enter(Open::Then { condition: condition.id });
    }

    /// Closes the branch and opens the other one.
    pub fn if_else(&self) {
        if let (Some(Open::Then { condition }), then) = self.leave() {
            self.enter(Open::Otherwise { condition, then });
        }
    }

    /// Closes the innermost `if`, after its last branch.
    pub fn if_end(&self) {
        let (condition, then, otherwise) = match self.leave() {
            (Some(Open::Otherwise { condition, then }), otherwise) => (condition, then, otherwise),
            (Some(Open::Then { condition }), then) => (condition, then, Vec::new()),
            (Some(Open::Loop { .. } | Open::Continuing { .. } | Open::Block { .. }) | None, _) => return,
        };
        match self.constant(condition) {
            Some(constant) => {
                let taken = if constant.raw != 0 { then } else { otherwise };
                taken.into_iter().for_each(|stmt| self.push(stmt));
            }
            None if then.is_empty() && otherwise.is_empty() => {}
            None => self.push(Stmt::If { condition, then, otherwise }),
        }
    }

    /// Opens a loop's body.
    #[track_caller]
    pub fn loop_begin(&self, bounded: bool) -> LoopHandle<'_> {
        let label = self.new_label();
        self.enter(Open::Loop { label, bounded, site: Site::caller() });
        LoopHandle::simple(label)
    }

    /// Closes a loop's body and opens what it does between iterations.
    pub(crate) fn loop_continuing(&self) {
        if let (Some(Open::Loop { label, bounded, site }), body) = self.leave() {
            self.enter(Open::Continuing { label, bounded, site, body });
        }
    }

    pub(crate) fn loop_close(&self) {
        let stmt = match self.leave() {
            (Some(Open::Loop { label, bounded, site }), body) => {
                Stmt::Loop { label, body, continuing: Vec::new(), bounded, site }
            }
            (Some(Open::Continuing { label, bounded, site, body }), continuing) => {
                Stmt::Loop { label, body, continuing, bounded, site }
            }
            (Some(Open::Then { .. } | Open::Otherwise { .. } | Open::Block { .. }) | None, _) => return,
        };
        self.push(stmt);
    }

    /// Opens the loop over `source`; gives the loop and what the pattern binds.
    #[track_caller]
    pub fn for_begin<'b, I: Iterate<'b>>(&'b self, source: I) -> (LoopHandle<'b>, I::Item) {
        source.begin(self)
    }

    /// Closes a loop.
    pub fn loop_end(&self, handle: LoopHandle<'_>) {
        handle.end(self);
    }

    /// Leaves the innermost loop that has begun, unless `condition` holds.
    #[track_caller]
    pub fn while_condition(&self, handle: &LoopHandle<'_>, condition: Val<'_, bool>) {
        self.if_begin(condition);
        self.if_else();
        self.break_to(handle.break_label());
        self.if_end();
    }

    /// Opens a block that a break can leave.
    pub fn block_begin(&self) -> Label {
        let label = self.new_label();
        self.enter(Open::Block { label });
        label
    }

    /// Closes the innermost labelled block.
    pub fn block_end(&self) {
        if let (Some(Open::Block { label }), body) = self.leave() {
            self.push(Stmt::Block { label, body });
        }
    }

    /// Builds `break`, out of the loop or block `label`.
    pub fn break_to(&self, label: Label) {
        self.push(Stmt::Break(label));
    }

    /// Builds `continue`, of the loop `label`.
    pub fn continue_to(&self, label: Label) {
        self.push(Stmt::Continue(label));
    }

    /// Builds `return`, of the kernel itself.
    pub fn return_(&self) {
        self.push(Stmt::Return);
    }

    /// Begins the body of a device function, unless calls are nested too deeply.
    #[track_caller]
    pub fn call_begin(&self, function: &str) -> bool {
        let at = Site::caller();
        let state = &mut *self.state.borrow_mut();
        if state.defect.is_some() {
            // What is built from here on is never used.
            return false;
        }
        if state.call_depth == MAX_CALL_DEPTH {
            state.defect.get_or_insert_with(|| VerifyError {
                kernel: state.kernel.name.clone(),
                at,
                what: format!(
                    "device functions are built in place, and `{function}` is {MAX_CALL_DEPTH} calls deep; \
                     write the recursion as a loop"
                ),
            });
            return false;
        }
        state.call_depth += 1;
        true
    }

    /// Ends the body of a device function.
    pub fn call_end(&self) {
        self.state.borrow_mut().call_depth -= 1;
    }

    fn new_label(&self) -> Label {
        let state = &mut *self.state.borrow_mut();
        state.labels += 1;
        Label(state.labels - 1)
    }

    fn enter(&self, open: Open) {
        let state = &mut *self.state.borrow_mut();
        state.open.push(open);
        state.blocks.push(Vec::new());
    }

    fn leave(&self) -> (Option<Open>, Vec<Stmt>) {
        let state = &mut *self.state.borrow_mut();
        match state.open.pop() {
            Some(open) => (Some(open), state.blocks.pop().unwrap_or_default()),
            None => (None, Vec::new()),
        }
    }
}
