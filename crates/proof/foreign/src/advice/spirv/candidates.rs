//! The changes that advice tries in a SPIR-V module, and where.

use std::collections::HashSet;

use wattle_modules::code::{Access, NO_REG, Op, Ordering};
use wattle_modules::spirv::{Added, Edit, Orders, Place, Synchronization};
use wattle_modules::types::Space;

use super::words::{
    ACQUIRE, ACQUIRE_RELEASE, MAKE_AVAILABLE, MAKE_VISIBLE, OF_SUBGROUP, OF_WORKGROUP, RELEASE, UNIFORM, WORKGROUP,
    Words,
};
use super::{Candidates, Change, Module};

/// The side of an instruction on which a statement is added: the edit that adds it, and its name in words.
type Side = (fn(Vec<Added>) -> Edit, &'static str);

const BEFORE: Side = (Edit::Before, "before it");
const BEHIND: Side = (Edit::After, "behind it");
/// At the jump back of a loop, whose line is that of its head as a rule.
const AT_THE_END: Side = (Edit::Before, "at the end of the loop's body");
/// At the jump to the head of a loop.
const BEFORE_THE_LOOP: Side = (Edit::Before, "before the loop");
/// At the condition of a loop that is tested in every turn, where no statement can stand.
const IN_EVERY_TURN: Side = (Edit::Before, "before the loop and at the end of its body");

impl Module<'_> {
    /// The changes of the module that are worth a trial, by kind.
    pub(super) fn all(&self) -> Candidates {
        let mut found = Candidates { visible: self.visible(), ..Candidates::default() };
        let mut seen = HashSet::new();
        // The place whose accesses follow one another, and the last of them.
        let mut run: Option<(String, usize)> = None;
        for (step, operation) in self.world.kernel().steps.iter().enumerate() {
            let Some(at) = self.instruction(step).filter(|at| seen.insert(*at)) else { continue };
            let of_memory = operation.op.outline(|_| {}, |_| {}).access.filter(is_shared);
            if let Some(side) = self.side_of_branch(step) {
                self.around(step, side, &mut found);
            }
            if let Some(known) = self.module().synchronization(at) {
                self.strengthen(step, at, known, &mut found);
            }
            found.increments.extend(self.increment(step, at));
            let Some(_) = of_memory else {
                // What is done in another turn of a loop, or behind a barrier, is not the same run.
                let ends = matches!(&operation.op, Op::Branch { .. })
                    || matches!(&operation.op, Op::Ordering(ordering) if matches!(**ordering, Ordering::Barrier { .. }));
                if let (true, Some((_, last))) = (ends, &run) {
                    self.around(*last, BEHIND, &mut found);
                    run = None;
                }
                continue;
            };
            let place = self.world.place_of(step);
            if run.as_ref().is_none_or(|(last, _)| *last != place) {
                if let Some((_, last)) = run {
                    self.around(last, BEHIND, &mut found);
                }
                self.around(step, BEFORE, &mut found);
            }
            run = Some((place, step));
        }
        if let Some((_, last)) = run {
            self.around(last, BEHIND, &mut found);
        }
        // In GLSL the workgroup's memory alone has the shorter word, and one statement is less than two.
        let is_longer = |change: &Change| change.text.ends_with(IN_EVERY_TURN.1);
        found.block.sort_by_key(|change| (is_of_buffers(change.instructions()), is_longer(change)));
        found
    }

    /// The side of the branch at step `at` on which a barrier is tried; `None` if the step is no branch, or only leads
    /// on to code that is in no loop.
    fn side_of_branch(&self, at: usize) -> Option<Side> {
        let steps = &self.world.kernel().steps;
        let target = |step: usize| steps[step].target().filter(|_| matches!(steps[step].op, Op::Branch { .. }));
        let own = target(at)?;
        if own <= at {
            return Some(AT_THE_END);
        }
        let jumps_back_to = |to: usize| (to..steps.len()).filter_map(target).any(|head| head == to);
        if steps[at].guard.reg == NO_REG {
            return jumps_back_to(own).then_some(BEFORE_THE_LOOP);
        }
        // A loop's condition stands at its head, before any other one.
        let is_condition = |step: usize| target(step).is_some() && steps[step].guard.reg != NO_REG;
        let mut heads = (at + 1..steps.len()).filter_map(target).filter(|&head| head <= at);
        let is_head = heads.any(|head| !(head..at).any(is_condition));
        Some(if is_head { IN_EVERY_TURN } else { BEFORE })
    }

    /// The memory that threads share and the kernel accesses, as semantics have it.
    fn memories(&self) -> u32 {
        let of = |step: &wattle_modules::code::Step| step.op.outline(|_| {}, |_| {}).access.map(|access| access.space);
        let spaces = self.world.kernel().steps.iter().filter_map(of);
        spaces.fold(0, |all, space| all | memory(space))
    }

    /// The semantics of an atomic operation with an order: of all memory that threads share, or as OpenCL's model has
    /// it.
    fn of_atomic(&self, order: u32) -> u32 {
        if self.module().has_opencl_model() { order } else { order | self.memories() | self.made(order) }
    }

    /// What makes available and visible, where the module has to say it.
    fn made(&self, semantics: u32) -> u32 {
        if !self.module().has_vulkan_model() {
            return 0;
        }
        let available = semantics & (RELEASE | ACQUIRE_RELEASE) != 0;
        let visible = semantics & (ACQUIRE | ACQUIRE_RELEASE) != 0;
        (if available { MAKE_AVAILABLE } else { 0 }) | if visible { MAKE_VISIBLE } else { 0 }
    }

    /// A fence, a barrier or an atomic operation with a wider scope and with stronger semantics, and with fences around
    /// it.
    fn strengthen(&self, step: usize, at: usize, known: Synchronization, found: &mut Candidates) {
        let Synchronization { orders, scope, semantics } = known;
        let (widest, memories) = (self.module().widest_scope(), self.memories());
        if scope.is_some_and(|scope| scope == OF_WORKGROUP || scope == OF_SUBGROUP)
            && orders != Orders::Barrier
            && self.words.has_scopes()
        {
            let text = self.words.wider(orders, widest, semantics.unwrap_or(ACQUIRE_RELEASE | memories));
            found.scopes.push(self.change(step, text, vec![(at, Edit::Scope(widest))]));
        }
        let order = match orders {
            Orders::Load => ACQUIRE,
            Orders::Store => RELEASE,
            Orders::Update | Orders::Fence | Orders::Barrier => ACQUIRE_RELEASE,
        };
        let is_atomic = matches!(orders, Orders::Load | Orders::Store | Orders::Update);
        let wanted = if is_atomic { self.of_atomic(order) } else { order | memories | self.made(order) };
        match semantics.filter(|&has| has != wanted && !(is_atomic && self.words.are_alike(has, wanted))) {
            Some(_) if orders == Orders::Barrier && self.words == Words::Glsl && memories != WORKGROUP => {
                // `barrier()` has no words for other memory than that of the workgroup.
                let semantics = order | memories & !WORKGROUP;
                let (fence, text) = (Added::Fence { scope: widest, semantics }, self.words.fence(widest, semantics));
                for (edit, side) in [BEFORE, BEHIND] {
                    found.orders.push(self.change(step, format!("add {text} {side}"), vec![(at, edit(vec![fence]))]));
                }
            }
            Some(_) if !is_atomic || self.words.has_orders() => {
                let scope = scope.unwrap_or(widest);
                let text = self.words.stronger(orders, scope, wanted);
                found.orders.push(self.change(step, text, vec![(at, Edit::Semantics(wanted))]));
            }
            Some(_) | None => {}
        }
        if !is_atomic || !self.words.has_fences() {
            return;
        }
        let semantics = ACQUIRE_RELEASE | memories | self.made(ACQUIRE_RELEASE);
        for (edit, side) in [BEHIND, BEFORE] {
            let text = format!("add {} {side}", self.words.fence(widest, semantics));
            let fence = vec![Added::Fence { scope: widest, semantics }];
            found.fences.push(self.change(step, text, vec![(at, edit(fence))]));
        }
    }

    /// Adds the barriers of the workgroup and of the subgroup at a step.
    fn around(&self, step: usize, (edit, side): Side, found: &mut Candidates) {
        let Some(at) = self.instruction(step) else { return };
        let of = self.memories_of_statement(step);
        let all = self.memories();
        let of_subgroups = self.module().uses_subgroups() && self.words.has_subgroup_barriers();
        // A barrier for the workgroup's memory alone comes first, where the statement accesses that.
        let mut tried = vec![(OF_WORKGROUP, WORKGROUP), (OF_WORKGROUP, all), (OF_SUBGROUP, all)];
        tried.retain(|&(among, memories)| match among {
            OF_SUBGROUP => of_subgroups,
            _ => memories == all || of & memories != 0 || of == 0 && all & memories != 0,
        });
        tried.dedup();
        for (among, memories) in tried {
            let changes = if among == OF_SUBGROUP { &mut found.warp } else { &mut found.block };
            let semantics = ACQUIRE_RELEASE | memories | self.made(ACQUIRE_RELEASE);
            let mut added = vec![Added::Barrier { among, scope: among, semantics }];
            if self.words == Words::Glsl && among == OF_WORKGROUP {
                // What a compiler makes of `barrier()`, and of the fences around it: the one behind it acquires.
                added = vec![Added::Barrier { among, scope: among, semantics: ACQUIRE_RELEASE | WORKGROUP }];
                if memories & UNIFORM != 0 {
                    let (scope, semantics) = (self.module().widest_scope(), ACQUIRE_RELEASE | UNIFORM);
                    added.insert(0, Added::Fence { scope, semantics });
                    added.push(Added::Fence { scope, semantics });
                }
            }
            let text = format!("add {} {side}", self.words.barrier(among, semantics));
            if !changes.iter().any(|known| known.text == text && known.at == self.world.place_of(step)) {
                changes.push(self.change(step, text, vec![(at, edit(added))]));
            }
        }
    }

    /// The memory that threads share and the statement of a step accesses.
    fn memories_of_statement(&self, step: usize) -> u32 {
        let steps = &self.world.kernel().steps;
        let place = self.world.place_of(step);
        let is_its = |&at: &usize| self.world.place_of(at) == place;
        let own = (0..step).rev().take_while(is_its).chain((step..steps.len()).take_while(is_its));
        let memory = |at: usize| steps[at].op.outline(|_| {}, |_| {}).access.map_or(0, |access| memory(access.space));
        own.fold(0, |all, at| all | memory(at))
    }

    /// Each variable that threads share, with accesses that are for others to see.
    fn visible(&self) -> Vec<Change> {
        let Some(spirv) = self.world.spirv() else { return Vec::new() };
        let (mut weaker, mut stronger) = (Vec::new(), Vec::new());
        for (number, variable) in spirv.variables().iter().enumerate() {
            let of_workgroup = matches!(variable.place, Place::Workgroup(_));
            let id = self.module().id(&variable.name).filter(|_| variable.place != Place::Push);
            let Some((id, declared)) = id.and_then(|id| Some((id, self.module().defined(id)?))) else { continue };
            let name =
                if self.words == Words::Spirv { format!("%{}", variable.name) } else { self.module().source_name(id) };
            let line = self.module().line(declared);
            let add = |changes: &mut Vec<Change>, text: String, edits: Vec<(usize, Edit)>| {
                let instruction = self.world.source_line(line);
                let at = format!("{}:{line}", self.origin.file);
                let edits = super::Edits::Instructions(edits);
                let kernel = self.world.kernel().name.clone();
                changes.push(Change { at, text, instruction, kernel, module: 0, edits });
            };
            if !self.module().has_vulkan_model() {
                // WGSL has no word for it.
                if !of_workgroup && self.words != Words::Wgsl {
                    add(&mut weaker, self.words.coherent(&name), vec![(declared, Edit::Coherent)]);
                }
                continue;
            }
            let accesses = |scope: Option<u32>| {
                let steps = (0..self.world.kernel().steps.len()).filter(|step| spirv.root(*step) == Some(number));
                let mut at: Vec<usize> = steps.filter_map(|step| self.instruction(step)).collect();
                at.sort_unstable();
                at.dedup();
                at.retain(|at| self.module().synchronization(*at).is_none());
                at.into_iter().map(|at| (at, Edit::NonPrivate(scope))).collect::<Vec<_>>()
            };
            let scope = if of_workgroup { OF_WORKGROUP } else { self.module().widest_scope() };
            for (changes, scope) in [(&mut weaker, None), (&mut stronger, Some(scope))] {
                let edits = accesses(scope);
                if !edits.is_empty() {
                    add(changes, self.words.visible(&name, scope), edits);
                }
            }
        }
        weaker.append(&mut stronger);
        weaker
    }

    /// The sum that begins at a load, as an atomic one.
    fn increment(&self, step: usize, at: usize) -> Option<Change> {
        let (added, store) = self.module().increment(at)?;
        let edits = vec![(at, Edit::Add(self.module().widest_scope(), added)), (store, Edit::Nothing)];
        Some(self.change(step, self.words.increment().to_owned(), edits))
    }

    /// A plain access of a buffer as an atomic one: a load that acquires, a store that releases, or where the source
    /// has no such thing, an update.
    pub(super) fn atomic(&self, step: usize) -> Option<Change> {
        let of = self.world.kernel().steps[step].op.outline(|_| {}, |_| {}).access?;
        let at = self.instruction(step)?;
        let (is_load, is_integer) = self.module().plain_access(at)?;
        if of.space != Space::Global || self.words.has_atomic_integers_alone() && !is_integer {
            return None;
        }
        let scope = self.module().widest_scope();
        let order = if is_load { ACQUIRE } else { RELEASE };
        let semantics = if self.words.has_orders() { self.of_atomic(order) } else { 0 };
        let edit = if self.words.has_atomic_accesses() { Edit::Atomic(scope, semantics) } else { Edit::Update(scope) };
        Some(self.change(step, self.words.atomic(is_load, scope, semantics), vec![(at, edit)]))
    }
}

/// Whether changes add a barrier or fence of buffers.
fn is_of_buffers(edits: &[(usize, Edit)]) -> bool {
    let semantics = |added: &Added| match *added {
        Added::Barrier { semantics, .. } | Added::Fence { semantics, .. } => semantics,
    };
    edits.iter().any(|(_, edit)| match edit {
        Edit::Before(added) | Edit::After(added) => added.iter().any(|added| semantics(added) & UNIFORM != 0),
        Edit::Semantics(_)
        | Edit::Scope(_)
        | Edit::Coherent
        | Edit::NonPrivate(_)
        | Edit::Atomic(..)
        | Edit::Update(_)
        | Edit::Add(..)
        | Edit::Nothing => false,
    })
}

/// The memory of a space, as semantics have it.
fn memory(space: Space) -> u32 {
    match space {
        Space::Global => UNIFORM,
        Space::Generic => UNIFORM | WORKGROUP,
        Space::Shared => WORKGROUP,
        Space::Local | Space::Param | Space::Const => 0,
    }
}

/// Whether other threads can see what an access is to.
fn is_shared(access: &&Access) -> bool {
    memory(access.space) != 0
}
