//! The lowering table, written down a second time: the table of DESIGN.md, section 3, cell by cell.

use wattle_memory::{
    Classes, FenceOrder, Kind, Label, Level, Lowered, Lowering, Model, ReadOrder, Scope, Target, UpdateOrder,
    WriteOrder, ptx_fence_name, ptx_scope_name,
};

const OLD: Target = Target::Ptx { sm: 80 };
const NEW: Target = Target::Ptx { sm: 90 };

/// An instruction in a few words: its ordering, its scope, and Vulkan's bits if it has any.
fn text(label: &Label) -> String {
    let kind = match label.kind {
        Kind::Read => "read",
        Kind::Write => "write",
        Kind::Fence => "fence",
        Kind::Barrier => "barrier",
        Kind::MakeAvailable | Kind::MakeVisible => "operation",
    };
    let order = match (label.sc, label.acquire, label.release) {
        (true, true, true) => " sc",
        (false, true, true) => " acq_rel",
        (false, true, false) => " acquire",
        (false, false, true) => " release",
        (false, false, false) => "",
        (true, ..) => " sc alone",
    };
    let about = match label.semantics {
        Classes::NONE => "",
        Classes::BOTH => " both",
        Classes::BUFFER => " buffer",
        _ => " block",
    };
    let mut text = format!("{kind}{order} {:?}{about}", label.level);
    for (is, word) in [
        (label.atomic, " atomic"),
        (label.makes_available, " available"),
        (label.makes_visible, " visible"),
        (label.coherent, " coherent"),
        (label.private, " private"),
    ] {
        text += if is { word } else { "" };
    }
    text
}

fn steps(target: Target, widest: Scope, order: FenceOrder, scope: Scope) -> String {
    let Ok(steps) = Lowering::new(target, widest).fence(order, scope) else { return "none".into() };
    let steps = steps.into_iter().map(|step| match step {
        Lowered::Fence(label) => text(&label),
        Lowered::HiddenUpdate { read, write } => format!("hidden {} / {}", text(&read), text(&write)),
    });
    steps.collect::<Vec<_>>().join("; ")
}

const ORDERS: [FenceOrder; 4] = [FenceOrder::Acquire, FenceOrder::Release, FenceOrder::AcqRel, FenceOrder::SeqCst];

/// The rows of one target and scope: acquire, release, acq_rel, seq_cst.
#[track_caller]
fn fences(target: Target, widest: Scope, scope: Scope, expected: [&str; 4]) {
    assert_eq!(ORDERS.map(|order| steps(target, widest, order, scope)), expected, "{target} {scope}");
}

#[test]
fn one_sided_fences_of_sm_90() {
    for target in [Target::Portable, NEW, Target::Ptx { sm: 100 }] {
        for (scope, level) in [(Scope::Block, "Block"), (Scope::Device, "Device"), (Scope::System, "System")] {
            let [acquire, release, both, sc] = [
                format!("fence acquire {level} both visible"),
                format!("fence release {level} both available"),
                format!("fence acq_rel {level} both available visible"),
                format!("fence sc {level} both available visible"),
            ];
            fences(target, Scope::System, scope, [&acquire, &release, &both, &sc]);
            fences(target, scope, scope, [&acquire, &release, &both, &sc]);
        }
    }
}

#[test]
fn before_sm_90_a_fence_does_both() {
    for target in [Target::Ptx { sm: 70 }, OLD, Target::Ptx { sm: 89 }] {
        for (scope, level) in [(Scope::Block, "Block"), (Scope::Device, "Device"), (Scope::System, "System")] {
            let both = format!("fence acq_rel {level} both available visible");
            let sc = format!("fence sc {level} both available visible");
            fences(target, Scope::System, scope, [&both, &both, &both, &sc]);
        }
    }
}

#[test]
fn vulkan_has_no_system_scope_and_no_sequentially_consistent_fence() {
    let acquire = |level| format!("fence acquire {level} both visible");
    let release = |level| format!("fence release {level} both available");
    let both = |level| format!("fence acq_rel {level} both available visible");
    let hidden =
        "hidden read acquire Device both atomic visible coherent / write release Device both atomic available coherent";
    for (widest, scope, level) in [
        (Scope::Block, Scope::Block, "Block"),
        // Fences of mixed scope do not compose.
        (Scope::Device, Scope::Block, "Device"),
        (Scope::System, Scope::Block, "Device"),
        (Scope::Device, Scope::Device, "Device"),
        (Scope::System, Scope::Device, "Device"),
    ] {
        let sc = format!("{}; {hidden}; {}", both(level), both(level));
        fences(Target::Vulkan, widest, scope, [&acquire(level), &release(level), &both(level), &sc]);
    }
    fences(Target::Vulkan, Scope::System, Scope::System, ["none"; 4]);
}

#[test]
fn the_host_knows_the_block_and_everything() {
    for (scope, level) in [(Scope::Block, "Block"), (Scope::Device, "System"), (Scope::System, "System")] {
        let [acquire, release, both, sc] = [
            format!("fence acquire {level} both visible"),
            format!("fence release {level} both available"),
            format!("fence acq_rel {level} both available visible"),
            format!("fence sc {level} both available visible"),
        ];
        fences(Target::Host, Scope::System, scope, [&acquire, &release, &both, &sc]);
    }
}

#[test]
fn scopes() {
    let levels = |target, widest| Scope::ALL.map(|scope| Lowering::new(target, widest).level(scope).ok());
    let own = [Some(Level::Block), Some(Level::Device), Some(Level::System)];
    for widest in Scope::ALL {
        assert_eq!([levels(Target::Portable, widest), levels(OLD, widest), levels(NEW, widest)], [own; 3]);
        let host = [Level::Block, Level::System, Level::System];
        assert_eq!(levels(Target::Host, widest), host.map(Some));
    }
    assert_eq!(levels(Target::Vulkan, Scope::Block), [Some(Level::Block), Some(Level::Device), None]);
    assert_eq!(levels(Target::Vulkan, Scope::Device), [Some(Level::Device), Some(Level::Device), None]);
    assert_eq!(levels(Target::Vulkan, Scope::System), [Some(Level::Device), Some(Level::Device), None]);
}

#[test]
fn what_a_target_lacks_is_said() {
    let error = |target| Lowering::new(target, Scope::System).fence(FenceOrder::AcqRel, Scope::System).unwrap_err();
    assert_eq!(
        error(Target::Vulkan).to_string(),
        "vulkan has no system scope: its memory model orders nothing between devices (use Scope::Device, or a CUDA \
         device)"
    );
    let elsewhere = wattle_memory::NoScope { target: NEW, scope: Scope::System };
    assert_eq!(elsewhere.to_string(), "ptx:sm_90 has no system scope");
    let vulkan = Lowering::new(Target::Vulkan, Scope::System);
    assert!(vulkan.atomic_read(ReadOrder::Relaxed, Scope::System, Classes::BUFFER).is_err());
    assert!(vulkan.atomic_write(WriteOrder::Relaxed, Scope::System, Classes::BUFFER).is_err());
    assert!(vulkan.update(UpdateOrder::Relaxed, Scope::System, Classes::BUFFER).is_err());
}

#[test]
fn atomics() {
    for (target, level, coherent) in [
        (Target::Portable, "Device", ""),
        (OLD, "Device", ""),
        (NEW, "Device", ""),
        (Target::Vulkan, "Device", " coherent"),
        (Target::Host, "System", ""),
    ] {
        let lowering = Lowering::new(target, Scope::Device);
        assert_eq!(lowering.target(), target);
        let at = (Scope::Device, Classes::BUFFER);
        let read = |order| text(&lowering.atomic_read(order, at.0, at.1).unwrap());
        let write = |order| text(&lowering.atomic_write(order, at.0, at.1).unwrap());
        let relaxed = [format!("read {level} atomic{coherent}"), format!("write {level} atomic{coherent}")];
        let ordered = [
            format!("read acquire {level} both atomic visible{coherent}"),
            format!("write release {level} both atomic available{coherent}"),
        ];
        assert_eq!([read(ReadOrder::Relaxed), write(WriteOrder::Relaxed)], relaxed, "{target}");
        assert_eq!([read(ReadOrder::Acquire), write(WriteOrder::Release)], ordered, "{target}");
        let update = |order| {
            let (read, write) = lowering.update(order, at.0, at.1).unwrap();
            [text(&read), text(&write)]
        };
        let [plain_read, plain_write] = relaxed.clone();
        let [acquiring, releasing] = ordered.clone();
        assert_eq!(update(UpdateOrder::Relaxed), relaxed, "{target}");
        assert_eq!(update(UpdateOrder::Acquire), [acquiring, plain_write], "{target}");
        assert_eq!(update(UpdateOrder::Release), [plain_read, releasing], "{target}");
        assert_eq!(update(UpdateOrder::AcqRel), ordered, "{target}");
    }
}

#[test]
fn storage_classes_are_kept() {
    for storage in [Classes::BUFFER, Classes::BLOCK] {
        let lowering = Lowering::new(Target::Vulkan, Scope::Block);
        assert_eq!(lowering.read(storage, true).storage, storage);
        assert_eq!(lowering.write(storage, true).storage, storage);
        assert_eq!(lowering.atomic_read(ReadOrder::Acquire, Scope::Block, storage).unwrap().storage, storage);
        assert_eq!(lowering.atomic_write(WriteOrder::Release, Scope::Block, storage).unwrap().storage, storage);
        let (read, write) = lowering.update(UpdateOrder::AcqRel, Scope::Block, storage).unwrap();
        assert_eq!((read.storage, write.storage), (storage, storage));
    }
}

#[test]
fn plain_accesses_are_weak_but_for_shared_memory_on_the_host() {
    for target in [Target::Portable, OLD, NEW, Target::Vulkan, Target::Host] {
        let lowering = Lowering::new(target, Scope::System);
        for shared in [false, true] {
            let expected = match (target, shared) {
                (Target::Host, true) => ["read System atomic", "write System atomic"],
                // The access is non-private on Vulkan, like every access that other threads may see.
                _ => ["read Thread", "write Thread"],
            };
            let found = [lowering.read(Classes::BUFFER, shared), lowering.write(Classes::BUFFER, shared)];
            assert_eq!(found.map(|label| text(&label)), expected, "{target} {shared}");
        }
    }
}

#[test]
fn barriers() {
    for (target, widest, expected) in [
        (Target::Portable, Scope::System, "barrier acq_rel Block both available visible"),
        (OLD, Scope::System, "barrier acq_rel Block both available visible"),
        (NEW, Scope::System, "barrier acq_rel Block both available visible"),
        (Target::Host, Scope::System, "barrier acq_rel Block both available visible"),
        (Target::Vulkan, Scope::Block, "barrier acq_rel Block both available visible"),
        (Target::Vulkan, Scope::Device, "barrier acq_rel Device both available visible"),
        (Target::Vulkan, Scope::System, "barrier acq_rel Device both available visible"),
    ] {
        assert_eq!(text(&Lowering::new(target, widest).barrier()), expected, "{target} {widest}");
    }
}

#[test]
fn a_failed_compare_exchange_writes_in_ptx_alone() {
    let writes = |target| Lowering::new(target, Scope::Device).failed_exchange_writes();
    assert_eq!(
        [Target::Portable, OLD, NEW, Target::Vulkan, Target::Host].map(writes),
        [false, true, true, false, false]
    );
}

#[test]
fn names_of_ptx() {
    let levels = [Level::Thread, Level::Subgroup, Level::Block, Level::QueueFamily, Level::Device, Level::System];
    assert_eq!(levels.map(ptx_scope_name), ["cta", "cta", "cta", "gpu", "gpu", "sys"]);
    let fence = Label::fence(Level::Device);
    let names = [fence.acquiring(), fence.releasing(), fence.acquiring().releasing(), fence.sequentially_consistent()]
        .map(|label| ptx_fence_name(&label).unwrap());
    assert_eq!(names, ["fence.acquire.gpu", "fence.release.gpu", "fence.acq_rel.gpu", "fence.sc.gpu"]);
    assert_eq!(ptx_fence_name(&fence), None);
    assert_eq!(ptx_fence_name(&Label::barrier(Level::Block)), None);
    assert_eq!(ptx_fence_name(&Label::atomic_read(Level::Device).acquiring()), None);
}

#[test]
fn targets() {
    let families = Target::ALL.map(|target| (target.family(), target.to_string(), target.model()));
    let expected = [
        ("portable", "portable".to_owned(), Model::Portable),
        ("ptx", "ptx:sm_90".to_owned(), Model::Ptx),
        ("vulkan", "vulkan".to_owned(), Model::Vulkan),
        ("host", "host".to_owned(), Model::Rust),
    ];
    assert_eq!(families, expected);
    for target in
        [Target::Portable, OLD, NEW, Target::Ptx { sm: 70 }, Target::Ptx { sm: 120 }, Target::Vulkan, Target::Host]
    {
        assert_eq!(target.to_string().parse(), Ok(target));
    }
    assert_eq!("ptx".parse(), Ok(NEW));
    for wrong in ["ptx:sm_69", "ptx:sm_121", "ptx:sm_", "cuda", ""] {
        assert_eq!(
            wrong.parse::<Target>().unwrap_err().to_string(),
            format!(
                "there is no target `{wrong}`: write portable, ptx:sm_90 (or another from sm_70 to sm_120), vulkan or host"
            )
        );
    }
}
