//! The lint sees what spirv-val does not: each rule, by breaking it in a module that keeps it.

use rspirv::binary::Assemble as _;
use rspirv::dr::{Instruction, Module, Operand, load_words};
use rspirv::spirv::{MemoryAccess, MemoryModel, MemorySemantics, Op};
use wattle_check::Simulated as _;
use wattle_core::{Device, Work};
use wattle_spirv::{Features, build, lint};

fn module(scenario: &str) -> Module {
    let scenario = wattle_kernels::find(scenario).expect("a scenario");
    let size = match scenario.work {
        Work::Fixed(_) => None,
        Work::Sized(_, sizes) => Some(sizes.proof),
    };
    let kernels = scenario.launched(&Device::simulated(0), size).kernels;
    let kernel = kernels[0].build().expect("it has been launched");
    load_words(build(&kernel, &Features::all()).expect("every feature is there").words).expect("a module")
}

/// Breaks each instruction of that kind, one at a time, and returns the lint's findings for each.
fn broken(scenario: &str, op: Op, breaks: fn(&mut Instruction) -> bool) -> Vec<String> {
    let sound = module(scenario);
    assert_eq!(lint(&sound.assemble()), Ok(vec![]));
    let mut said = Vec::new();
    for number in 0.. {
        let mut module = sound.clone();
        let broke = module.all_inst_iter_mut().filter(|found| found.class.opcode == op).nth(number).map(breaks);
        let Some(broke) = broke else { break };
        if broke {
            let findings = lint(&module.assemble()).expect("a module");
            said.push(findings.iter().map(|finding| finding.what).collect::<Vec<_>>().join("; "));
        }
    }
    assert!(!said.is_empty(), "nothing to break");
    said
}

fn all(said: &[String], what: &str) {
    assert!(said.iter().all(|said| said.contains(what)), "{what}: {said:?}");
}

/// Gives an instruction other semantics, through a constant of its own.
fn with_semantics(scenario: &str, op: Op, bits: MemorySemantics) -> Vec<String> {
    let mut module = module(scenario);
    let header = module.header.as_mut().expect("a header");
    let id = header.bound;
    header.bound += 1;
    let word = module.types_global_values.iter().find(|global| global.class.opcode == Op::TypeInt);
    let word = word.and_then(|ty| ty.result_id).expect("a word");
    let value = vec![Operand::LiteralBit32(bits.bits())];
    module.types_global_values.push(Instruction::new(Op::Constant, Some(word), Some(id), value));
    let mut changed = 0;
    for instruction in module.all_inst_iter_mut().filter(|instruction| instruction.class.opcode == op) {
        for operand in &mut instruction.operands {
            if matches!(operand, Operand::IdMemorySemantics(_)) {
                *operand = Operand::IdMemorySemantics(id);
                changed += 1;
            }
        }
    }
    assert!(changed > 0, "nothing to break");
    lint(&module.assemble()).expect("a module").into_iter().map(|finding| finding.what.to_owned()).collect()
}

#[test]
fn private_accesses_to_shared_memory() {
    for op in [Op::Load, Op::Store] {
        let said = broken("last-block-sum", op, |instruction| {
            let access = instruction.operands.iter_mut().find(|operand| matches!(operand, Operand::MemoryAccess(_)));
            access.map(|access| *access = Operand::MemoryAccess(MemoryAccess::NONE)).is_some()
        });
        all(&said, "without NonPrivatePointer");
    }
}

#[test]
fn another_memory_model() {
    let said = broken("publication", Op::MemoryModel, |instruction| {
        instruction.operands[1] = Operand::MemoryModel(MemoryModel::GLSL450);
        true
    });
    all(&said, "not the Vulkan memory model");
}

#[test]
fn fences_and_barriers_that_order_nothing() {
    use MemorySemantics as S;
    let both = S::UNIFORM_MEMORY | S::WORKGROUP_MEMORY;
    for (op, scenario) in [(Op::MemoryBarrier, "publication"), (Op::ControlBarrier, "block-scan")] {
        let says = |bits| with_semantics(scenario, op, bits).join("; ");
        assert!(says(both).contains("no order"));
        assert!(says(S::ACQUIRE_RELEASE | S::MAKE_AVAILABLE | S::MAKE_VISIBLE).contains("not both of UniformMemory"));
        let one_class = S::ACQUIRE_RELEASE | S::UNIFORM_MEMORY | S::MAKE_AVAILABLE | S::MAKE_VISIBLE;
        assert!(says(one_class).contains("not both of UniformMemory"));
        assert!(says(S::ACQUIRE_RELEASE | both | S::MAKE_VISIBLE).contains("a release without MakeAvailable"));
        assert!(says(S::ACQUIRE_RELEASE | both | S::MAKE_AVAILABLE).contains("an acquire without MakeVisible"));
        assert!(says(S::SEQUENTIALLY_CONSISTENT | both).contains("sequentially consistent"));
    }
    let half = S::ACQUIRE | both | S::MAKE_VISIBLE;
    assert!(with_semantics("block-scan", Op::ControlBarrier, half).join("; ").contains("both ways"));
}

#[test]
fn atomics_that_make_no_sense() {
    use MemorySemantics as S;
    let both = S::UNIFORM_MEMORY | S::WORKGROUP_MEMORY;
    let (acquire, release) = (S::ACQUIRE | both | S::MAKE_VISIBLE, S::RELEASE | both | S::MAKE_AVAILABLE);
    let loads = with_semantics("orderings", Op::AtomicLoad, release);
    assert!(loads.contains(&"a load never releases".to_owned()), "{loads:?}");
    let stores = with_semantics("orderings", Op::AtomicStore, acquire);
    assert!(stores.contains(&"a store never acquires".to_owned()), "{stores:?}");
    let exchanges = with_semantics("publication", Op::AtomicCompareExchange, release);
    assert!(exchanges.iter().any(|said| said.contains("releases nothing")), "{exchanges:?}");
    let classes_alone = with_semantics("orderings", Op::AtomicLoad, both);
    assert!(classes_alone.contains(&"no order".to_owned()), "{classes_alone:?}");
}

#[test]
fn words_that_are_no_module() {
    assert!(lint(&[1, 2, 3]).is_err());
}
