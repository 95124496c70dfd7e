//! What could be weaker: each fence, atomic access and barrier of a scenario with its weaker variants.

use wattle_machine::{Action, Instruction, Program};
use wattle_memory::{FenceOrder, Lowering, ReadOrder, Scope, WriteOrder};

use super::changes::{Change, FENCES, UPDATES, fence, programs, single, together, update_within};
use crate::program::Strength;
use crate::report::Report;

/// The weaker variants of each instruction, the weakest first.
pub(super) fn weakenings(report: &Report) -> Vec<Vec<Change>> {
    let mut all = Vec::new();
    for (number, program) in programs(report) {
        let lowering = Lowering::new(report.target, program.widest_scope());
        // A scope that the target widens to the own one again gives the same code.
        let differs = |narrower: Scope, own: Scope| narrower == own || lowering.level(narrower) != lowering.level(own);
        for instruction in program.instructions() {
            // An instruction that never runs cannot be weakened.
            if !report.executed.contains(&(number, instruction.at)) {
                continue;
            }
            let change = |strength: Strength, text: String| single(number, program, &instruction, strength, text);
            let scopes = |own: Scope| {
                Scope::ALL.into_iter().filter(move |scope| *scope <= own && differs(*scope, own)).collect::<Vec<_>>()
            };
            let mut variants = Vec::new();
            match instruction.action {
                Action::Fence { order, scope } => {
                    variants.push(change(Strength::Fence(None), format!("{} is not needed", fence(order, scope))));
                    for weaker in FENCES.into_iter().filter(|weaker| weaker.is_within(order)) {
                        for narrower in scopes(scope) {
                            if (weaker, narrower) == (order, scope) {
                                continue;
                            }
                            let text = format!("{} would do for {}", fence(weaker, narrower), fence(order, scope));
                            variants.push(change(Strength::Fence(Some((weaker, narrower))), text));
                        }
                    }
                }
                Action::Load { order, scope, .. } => {
                    let weaker = [ReadOrder::Relaxed, ReadOrder::Acquire].map(|order| (order, format!("{order:?}")));
                    let weaker = weaker.into_iter().filter(|(weaker, _)| weaker.acquires() <= order.acquires());
                    let access = Accessing {
                        number,
                        program,
                        instruction: &instruction,
                        what: "load",
                        scope,
                        scopes: scopes(scope),
                    };
                    variants.extend(access.weaker(weaker, (order, format!("{order:?}")), Strength::Load));
                    if let Some(first) = instruction.seq_cst {
                        let behind = fence(FenceOrder::SeqCst, scope);
                        let text = format!("the load could be Relaxed at {scope} scope behind {behind}, not SeqCst");
                        let kept = (first, Strength::Fence(Some((FenceOrder::SeqCst, scope))));
                        let parts = [kept, (instruction.at, Strength::Load(ReadOrder::Relaxed, scope))];
                        variants.push(together(number, program, &instruction, &parts, text));
                    }
                }
                Action::Store { order, scope, .. } => {
                    let weaker = [WriteOrder::Relaxed, WriteOrder::Release].map(|order| (order, format!("{order:?}")));
                    let weaker = weaker.into_iter();
                    let weaker = weaker
                        .filter(|(weaker, _)| instruction.seq_cst.is_some() || weaker.releases() <= order.releases());
                    let access = Accessing {
                        number,
                        program,
                        instruction: &instruction,
                        what: "store",
                        scope,
                        scopes: scopes(scope),
                    };
                    variants.extend(access.weaker(weaker, (order, format!("{order:?}")), Strength::Store));
                }
                Action::Update { order, scope, .. } => {
                    let weaker = UPDATES.map(|order| (order, format!("{order:?}"))).into_iter();
                    let weaker =
                        weaker.filter(|(weaker, _)| instruction.seq_cst.is_some() || update_within(*weaker, order));
                    let access = Accessing {
                        number,
                        program,
                        instruction: &instruction,
                        what: "update",
                        scope,
                        scopes: scopes(scope),
                    };
                    variants.extend(access.weaker(weaker, (order, format!("{order:?}")), Strength::Update));
                }
                Action::Barrier => variants.push(change(Strength::Barrier(false), "sync_block() is not needed".into())),
                Action::WarpBarrier => {
                    variants.push(change(Strength::Barrier(false), "the warp's sync() is not needed".into()))
                }
                Action::Plain { .. } => {}
            }
            if !variants.is_empty() {
                all.push(variants);
            }
        }
    }
    all
}

/// An atomic access whose order or scope could be weaker.
struct Accessing<'a> {
    number: u32,
    program: &'a Program,
    instruction: &'a Instruction,
    what: &'static str,
    scope: Scope,
    /// The scopes to try: its own, and the narrower ones that the target keeps apart from it.
    scopes: Vec<Scope>,
}

impl Accessing<'_> {
    /// The access with each of these orders at each scope up to its own, and with its own order at narrower scopes. A
    /// sequentially consistent access loses its fence with its order.
    fn weaker<O: Copy + PartialEq>(
        &self,
        orders: impl Iterator<Item = (O, String)>,
        (own, own_name): (O, String),
        strength: fn(O, Scope) -> Strength,
    ) -> Vec<Change> {
        let &Accessing { number, program, instruction, what, scope, .. } = self;
        let scopes = || self.scopes.iter().copied();
        let is = if instruction.seq_cst.is_some() { "SeqCst" } else { &own_name };
        let text = |name: &str, narrower: Scope| {
            format!("the {what} could be {name} at {narrower} scope, not {is} at {scope} scope")
        };
        let mut variants = Vec::new();
        for (order, name) in orders {
            for narrower in
                scopes().filter(|narrower| instruction.seq_cst.is_some() || (order, *narrower) != (own, scope))
            {
                let fence = instruction.seq_cst.map(|first| (first, Strength::Fence(None)));
                let parts: Vec<_> = fence.into_iter().chain([(instruction.at, strength(order, narrower))]).collect();
                variants.push(together(number, program, instruction, &parts, text(&name, narrower)));
            }
        }
        if let Some(first) = instruction.seq_cst {
            for narrower in scopes().filter(|narrower| *narrower < scope) {
                let fence = Strength::Fence(Some((FenceOrder::SeqCst, narrower)));
                let parts = [(first, fence), (instruction.at, strength(own, narrower))];
                variants.push(together(number, program, instruction, &parts, text("SeqCst", narrower)));
            }
        }
        variants
    }
}
