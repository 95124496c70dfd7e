//! Which two events in the arms of a branch are one event for a compiler.
//!
//! A compiler makes one instruction of two equal ones in the arms of a branch, and an event that all arms have depends
//! on none of them. Equal are instructions, and not what a kernel's author has written: the lowering table gives one
//! instruction to several scopes and orders, each target to others.

use crate::{Kind, Label, Level};

/// What two events are together that are one instruction only if they are equal.
pub(super) fn if_equal(one: Label, other: Label) -> Option<Label> {
    (one == other).then_some(one)
}

/// What two events are together where one instruction does the accesses of all scopes, as the host's processor does
/// them.
pub(super) fn of_any_scope(one: Label, other: Label) -> Option<Label> {
    match one.kind {
        Kind::Read | Kind::Write => if_equal(narrowed(one, other), narrowed(other, one)),
        Kind::Fence | Kind::Barrier | Kind::MakeAvailable | Kind::MakeVisible => if_equal(one, other),
    }
}

/// What two events are together where they are one instruction on some target: Vulkan widens block scope to the
/// device's and the host the device's to the system's, and PTX before sm_90 has one fence that is not sequentially
/// consistent. What becomes of two fences keeps the order that both have.
pub(super) fn on_some_target(one: Label, other: Label) -> Option<Label> {
    let weakened = |one: Label, other: Label| match one.kind {
        Kind::Fence => Label {
            acquire: one.acquire && other.acquire,
            makes_visible: one.makes_visible && other.makes_visible,
            release: one.release && other.release,
            makes_available: one.makes_available && other.makes_available,
            ..one
        },
        Kind::Read | Kind::Write | Kind::Barrier | Kind::MakeAvailable | Kind::MakeVisible => one,
    };
    // A fence of the thread alone is no instruction.
    if (one.level == Level::Thread) != (other.level == Level::Thread) {
        return None;
    }
    if_equal(weakened(narrowed(one, other), other), weakened(narrowed(other, one), one))
}

/// The label with the narrower scope of the two.
fn narrowed(label: Label, other: Label) -> Label {
    Label { level: label.level.min(other.level), ..label }
}

#[cfg(test)]
mod tests {
    use super::{if_equal, of_any_scope, on_some_target};
    use crate::{FenceOrder, Label, Level, Lowered, Lowering, Model, Scope, Target};

    const BLOCK: Label = Label::atomic_write(Level::Block);
    const DEVICE: Label = Label::atomic_write(Level::Device);

    #[test]
    fn scopes_are_one_where_a_target_makes_them_one() {
        assert_eq!(if_equal(BLOCK, DEVICE), None);
        assert_eq!(of_any_scope(DEVICE, BLOCK), Some(BLOCK));
        assert_eq!(on_some_target(BLOCK, DEVICE), Some(BLOCK));
        assert_eq!(on_some_target(BLOCK, DEVICE.releasing()), None);
        assert_eq!(on_some_target(BLOCK, Label::atomic_read(Level::Block)), None);
        let fence = |level| Label::fence(level).acquiring().releasing();
        assert_eq!(of_any_scope(fence(Level::Block), fence(Level::Device)), None);
        assert_eq!(on_some_target(fence(Level::Block), fence(Level::Device)), Some(fence(Level::Block)));
        assert_eq!(on_some_target(fence(Level::Block), Label::fence(Level::Thread)), None);
    }

    /// Equal accesses are one in every model; those of two scopes are where the model is that of instructions which do
    /// not have them.
    #[test]
    fn every_model_says_what_is_one() {
        for model in Model::ALL {
            assert_eq!(model.merged(BLOCK, BLOCK), Some(BLOCK), "{model:?}");
            let scopes = match model {
                Model::Portable | Model::Rust => Some(BLOCK),
                Model::Ptx | Model::Vulkan | Model::Sc | Model::Unordered => None,
            };
            assert_eq!(model.merged(BLOCK, DEVICE), scopes, "{model:?}");
            let fences = (Label::fence(Level::Block).releasing(), Label::fence(Level::Device).releasing());
            let fence = (model == Model::Portable).then_some(fences.0);
            assert_eq!(model.merged(fences.0, fences.1), fence, "{model:?}");
        }
    }

    /// Whatever two fences some target has one instruction for are one here, and keep no more than each of them has.
    #[test]
    fn fences_that_a_target_makes_one_are_one() {
        let orders = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];
        let fences = || orders.into_iter().flat_map(|order| Scope::ALL.map(|scope| (order, scope)));
        let lowered = |target, (order, scope)| Lowering::new(target, Scope::System).fence(order, scope).ok();
        let label = |fence| match lowered(Target::Portable, fence).and_then(|steps| steps.0[0]) {
            Some(Lowered::Fence(label)) => label,
            other => panic!("{other:?}"),
        };
        for one in fences() {
            for other in fences() {
                let merged = on_some_target(label(one), label(other));
                for target in [Target::Ptx { sm: 70 }, Target::Ptx { sm: 90 }, Target::Vulkan, Target::Host] {
                    let is_one = lowered(target, one).is_some_and(|steps| Some(steps) == lowered(target, other));
                    assert!(!is_one || merged.is_some(), "{target}: {one:?} and {other:?}");
                }
                if let Some(merged) = merged {
                    let within = |of: Label| {
                        merged.level <= of.level
                            && (of.acquire || !merged.acquire)
                            && (of.release || !merged.release)
                            && (of.makes_visible || !merged.makes_visible)
                            && (of.makes_available || !merged.makes_available)
                            && merged.sc == of.sc
                    };
                    assert!(within(label(one)) && within(label(other)), "{one:?} and {other:?}: {merged:?}");
                }
            }
        }
    }
}
