//! Each measured loop has exactly the operation that its row names, and the loop that it is compared with has not: read in
//! what is emitted for PTX and for Vulkan.

use wattle::memory::Scope;
use wattle::{Device, Simulated as _};
use wattle_cost::{Operation, OperationKind};

/// The words of PTX that an operation becomes on sm_90 (PTX ISA 8.6: `fence`, `ld`, `st`, `atom`, `bar`).
fn in_ptx(operation: &Operation) -> Vec<String> {
    let scope = match operation.scope {
        Some(Scope::Block) => "cta",
        Some(Scope::Device) => "gpu",
        Some(Scope::System) => "sys",
        None => "",
    };
    let order = match operation.order {
        Some("Relaxed") => "relaxed",
        Some("Acquire") => "acquire",
        Some("Release") => "release",
        Some("AcqRel") => "acq_rel",
        Some("SeqCst") => "sc",
        Some(other) => panic!("an order `{other}`"),
        None => "",
    };
    // A sequentially consistent access is a fence and a weaker access.
    let expanded = |access: &str, weaker: &str, rest: &str| match order {
        "sc" => vec![format!("fence.sc.{scope}"), format!("{access}.{weaker}.{scope}{rest}")],
        _ => vec![format!("{access}.{order}.{scope}{rest}")],
    };
    match operation.kind {
        OperationKind::Fence => vec![format!("fence.{order}.{scope}")],
        OperationKind::Load => expanded("ld", "acquire", ".global"),
        OperationKind::Store => expanded("st", "relaxed", ".global"),
        OperationKind::Exchange => expanded("atom", "acquire", ".global.exch"),
        OperationKind::CompareExchange => expanded("atom", "acquire", ".global.cas"),
        OperationKind::Add => expanded("atom", "acquire", ".global.add"),
        OperationKind::SyncBlock => vec!["bar.sync".to_owned()],
        OperationKind::SyncWarp => vec!["bar.warp.sync".to_owned()],
    }
}

/// The instruction of SPIR-V that an operation becomes.
fn in_spirv(kind: OperationKind) -> &'static str {
    match kind {
        OperationKind::Fence => "OpMemoryBarrier",
        OperationKind::Load => "OpAtomicLoad",
        OperationKind::Store => "OpAtomicStore",
        OperationKind::Exchange => "OpAtomicExchange",
        OperationKind::CompareExchange => "OpAtomicCompareExchange",
        OperationKind::Add => "OpAtomicIAdd",
        OperationKind::SyncBlock | OperationKind::SyncWarp => "OpControlBarrier",
    }
}

#[test]
fn each_loop_has_its_operation_in_ptx() {
    let target = wattle_ptx::PtxTarget::new(90);
    let gpu = Device::simulated(0);
    for operation in Operation::all(&Scope::ALL) {
        let texts = operation.kernels(&gpu).unwrap().map(|kernel| {
            let built = kernel.build().expect("it verifies");
            wattle_ptx::build(&built, &target).expect("sm_90 has it").text()
        });
        for word in in_ptx(&operation) {
            let [with, without] = texts.each_ref().map(|text| text.matches(&word).count());
            assert_eq!(with, without + 1, "{operation}: `{word}` in\n{}", texts[0]);
        }
        let fences = texts.each_ref().map(|text| text.matches("fence.").count());
        let is_fenced = operation.kind == OperationKind::Fence || operation.order == Some("SeqCst");
        assert_eq!(fences, [usize::from(is_fenced), 0], "{operation}:\n{}", texts[0]);
    }
}

#[test]
fn each_loop_has_its_operation_in_spirv() {
    let gpu = Device::simulated(0);
    for operation in Operation::all(&[Scope::Block, Scope::Device]) {
        let texts = operation.kernels(&gpu).unwrap().map(|kernel| {
            let built = kernel.build().expect("it verifies");
            let module = wattle_spirv::build(&built, &wattle_spirv::Features::all()).expect("Vulkan has it");
            wattle_spirv::disassemble(&module.words).expect("a module")
        });
        let word = format!("{} ", in_spirv(operation.kind));
        let [with, without] = texts.each_ref().map(|text| text.matches(&word).count());
        assert!(with > without, "{operation}: `{word}` {with} times and {without} without, in\n{}", texts[0]);
    }
}

#[test]
fn all_operations_are_there() {
    // 4 fences, 3 loads, 3 stores and 5 of each read-modify-write in 3 scopes, and 2 barriers.
    let all = Operation::all(&Scope::ALL);
    assert_eq!(all.len(), (4 + 3 + 3 + 3 * 5) * 3 + 2);
    let mut names: Vec<String> = all.iter().map(ToString::to_string).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), all.len());
    assert!(names.contains(&"fence SeqCst device".to_owned()), "{names:?}");
}
