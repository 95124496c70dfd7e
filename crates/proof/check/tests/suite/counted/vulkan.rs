//! Operations that are for Vulkan less than their flags say.

use super::*;

/// The labels of accesses and fences.
pub fn labels(program: &mut [Vec<Op>]) -> Vec<&mut Label> {
    let mut labels: Vec<&mut Label> = Vec::new();
    for op in program.iter_mut().flatten() {
        match op {
            Op::Load { label, .. } | Op::Store { label, .. } | Op::Fence { label } => labels.push(label),
            Op::LoadAt { label, .. } | Op::StoreAt { label, .. } => labels.push(label),
            Op::Await { label, .. } | Op::AwaitWithin { label, .. } | Op::AwaitPhase { label, .. } => {
                labels.push(label)
            }
            Op::Add { read, write, .. }
            | Op::Exchange { read, write, .. }
            | Op::CompareExchange { read, write, .. }
            | Op::Lock { read, write, .. } => labels.extend([read, write]),
            // A barrier has its classes and its level in place of a label.
            Op::Barrier { .. } | Op::Shift { .. } | Op::Shuffle { .. } | Op::SkipUnless { .. } | Op::Require { .. } => {
            }
            Op::SkipUnlessBelow { .. } | Op::Head | Op::RepeatBelow { .. } | Op::Accumulate { .. } => {}
        }
    }
    labels
}

/// Gives each atomic access an availability or visibility operation of its own, as Vulkan's table has it.
pub fn coherent(mut program: Vec<Vec<Op>>) -> Vec<Vec<Op>> {
    labels(&mut program).into_iter().for_each(|label| label.coherent = label.atomic);
    program
}

/// What an operation can lack for Vulkan alone.
const WEAKENINGS: [fn(&mut Label); 6] = [
    |label| label.semantics = Classes(label.semantics.0 & Classes::BLOCK.0),
    |label| label.semantics = Classes(label.semantics.0 & Classes::BUFFER.0),
    |label| label.makes_available = false,
    |label| label.makes_visible = false,
    |label| label.coherent = false,
    |label| label.private = label.is_access() && !label.atomic,
];

/// Takes something away from one operation that it is for Vulkan alone.
pub fn weaken(random: &mut Random, program: &mut [Vec<Op>]) {
    for op in program.iter_mut().flatten() {
        if let Op::Barrier { about, .. } = op
            && random.one_in(16)
        {
            *about = Classes::BUFFER;
        }
    }
    let mut labels = labels(program);
    let at = random.below(labels.len() as u64) as usize;
    WEAKENINGS[random.below(WEAKENINGS.len() as u64) as usize](labels[at]);
}

/// An operation that is for Vulkan less than its flags say makes the runs not stand for anything, where the search has more.
#[test]
fn vulkan_orders_by_each_part_of_an_operation() {
    let releasing = Label::atomic_write(D).releasing();
    let adds = Op::Add { to: 2, cell: COUNTER, value: constant(1), read: Label::atomic_read(D), write: releasing };
    let label = Label::atomic_read(D).acquiring();
    let waits = Op::AwaitWithin { cell: COUNTER, least: 2, most: u64::MAX, label };
    let by_fences =
        |thread| vec![store(thread, 1), release(), add(COUNTER), wait(COUNTER, 2), acquire(), load(1 - thread)];
    let by_accesses = |thread| vec![store(thread, 1), adds.clone(), waits.clone(), load(1 - thread)];
    let mut refused = 0;
    for (case, answers) in [
        (last(2, [true, true]), Answers::Places),
        (apart(vec![by_fences(0), by_fences(1)]), Answers::Nothing),
        (apart(vec![by_accesses(0), by_accesses(1)]), Answers::Nothing),
        (apart(vec![by_accesses(0), by_accesses(1)]), Answers::Phases),
    ] {
        assert!(agree(&case, Model::Vulkan, answers).is_ok_and(|runs| runs.is_some()), "{}", show(&case));
        let labels_of = |case: &Case| labels(&mut case.program.clone()).len();
        for (at, weaken) in (0..labels_of(&case)).flat_map(|at| WEAKENINGS.map(|weaken| (at, weaken))) {
            let mut program = case.program.clone();
            weaken(labels(&mut program)[at]);
            let weakened = Case { program, places: case.places.clone() };
            let runs = agree(&weakened, Model::Vulkan, answers).unwrap_or_else(|wrong| panic!("{wrong}"));
            refused += u32::from(runs.is_none());
        }
    }
    assert!(refused > 40, "{refused}");
}
