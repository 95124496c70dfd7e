//! What depends on the clock, which shows any number: a search cannot try them all.

use std::collections::HashSet;

use crate::exits::depends_on;
use wattle_ir::{Access, ExprId, Kernel, ParamKind, Place, Site, Stmt};

/// What a kernel does with what it reads of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// The kernel does nothing with the clock that anyone could see: it is not read, or only printed, or said by an
    /// assertion that fails.
    Unused,
    /// The kernel stores the clock, at this line, in a view of which each element is one thread's alone.
    Kept(Site),
    /// At this line a branch, an index, a divisor, an assertion or another thread depends on it.
    Decides(Site),
}

impl Timing {
    /// What the kernel does with what it reads of the clock.
    pub fn of(kernel: &Kernel) -> Timing {
        let mut flow = Flow {
            kernel,
            slots: vec![false; kernel.slots.len()],
            places: HashSet::new(),
            kept: None,
            decides: None,
            at: kernel.site,
            changed: true,
        };
        while std::mem::take(&mut flow.changed) {
            kernel.walk(&mut |stmt| flow.stmt(stmt));
        }
        match (flow.decides, flow.kept) {
            (Some(site), _) => Timing::Decides(site),
            (None, Some(site)) => Timing::Kept(site),
            (None, None) => Timing::Unused,
        }
    }
}

/// The values known to depend on the clock. Control does not, or the flow has found that.
struct Flow<'k> {
    kernel: &'k Kernel,
    slots: Vec<bool>,
    places: HashSet<Place>,
    kept: Option<Site>,
    decides: Option<Site>,
    /// The last source line passed.
    at: Site,
    changed: bool,
}

impl Flow<'_> {
    fn depends(&self, id: ExprId) -> bool {
        depends_on(self.kernel, &self.slots, id)
    }

    fn any(&self, ids: &[ExprId]) -> bool {
        ids.iter().any(|&id| self.depends(id))
    }

    /// Records that the thread's way, or another thread, depends on the clock here.
    fn decides(&mut self, depends: bool) {
        if depends && self.decides.is_none() {
            self.decides = Some(self.at);
        }
    }

    fn set(&mut self, slot: wattle_ir::SlotId, depends: bool) {
        if let Some(known) = self.slots.get_mut(slot.index()).filter(|known| depends && !**known) {
            *known = true;
            self.changed = true;
        }
    }

    fn put(&mut self, place: Place, depends: bool) {
        self.changed |= depends && self.places.insert(place);
    }

    /// Whether one thread alone has each element of the place.
    fn is_own(&self, place: Place) -> bool {
        match place {
            Place::Local(_) => true,
            Place::Shared(_) => false,
            Place::Param(id) => matches!(
                self.kernel.params.get(id.index()).map(|param| param.kind),
                Some(ParamKind::View { access: Access::PerItem, .. })
            ),
        }
    }

    fn stmt(&mut self, stmt: &Stmt) {
        self.at = stmt.site().unwrap_or(self.at);
        match stmt {
            Stmt::Clock { dst, .. } => self.set(*dst, true),
            Stmt::Assign { slot, value } => self.set(*slot, self.depends(*value)),
            Stmt::Divide { dst, left, right, .. } => {
                self.decides(self.depends(*right));
                self.set(*dst, self.any(&[*left, *right]));
            }
            Stmt::Load { dst, place, index, .. } => {
                self.decides(self.any(index));
                self.set(*dst, self.places.contains(place));
            }
            Stmt::LoadLanes { dst, place, index, .. } => {
                self.decides(self.depends(*index));
                self.put(Place::Local(*dst), self.places.contains(place));
            }
            Stmt::Store { place, index, value, .. } => {
                let depends = self.depends(*value);
                self.decides(self.any(index) || depends && !self.is_own(*place));
                self.put(*place, depends);
                if depends && !matches!(place, Place::Local(_)) {
                    self.kept.get_or_insert(self.at);
                }
            }
            Stmt::StoreLanes { place, index, values, .. } => {
                let depends = self.any(values);
                self.decides(self.depends(*index) || depends && !self.is_own(*place));
                self.put(*place, depends);
                if depends {
                    self.kept.get_or_insert(self.at);
                }
            }
            Stmt::AtomicLoad { index, .. } => self.decides(self.any(index)),
            Stmt::AtomicStore { index, value, .. } => self.decides(self.any(index) || self.depends(*value)),
            Stmt::AtomicUpdate { index, operand, .. } => self.decides(self.any(index) || self.depends(*operand)),
            Stmt::CompareExchange { index, expected, desired, .. } => {
                self.decides(self.any(index) || self.any(&[*expected, *desired]));
            }
            Stmt::If { condition, .. } | Stmt::Assert { condition, .. } => self.decides(self.depends(*condition)),
            // The other lanes are given it.
            Stmt::Warp { value, operand, .. } => {
                self.decides(self.depends(*value) || operand.is_some_and(|operand| self.depends(operand)));
            }
            // What is nested in them is walked too, and a way out of them stands behind a condition.
            Stmt::Loop { .. } | Stmt::Block { .. } => {}
            Stmt::Print { .. }
            | Stmt::Fence { .. }
            | Stmt::Barrier { .. }
            | Stmt::WarpBarrier { .. }
            | Stmt::Break(_)
            | Stmt::Continue(_)
            | Stmt::Return
            | Stmt::Fault { .. } => {}
        }
    }
}
