//! Flags that several threads set, and counters that are set while others add to them.

use super::*;

/// A cell that threads set to one value.
const FLAG: u64 = 28;

/// Sets the flag, as others may do at the same time.
pub fn raise(random: &mut Random, strays: bool, level: Level) -> Vec<Op> {
    let mut stray = |n| strays && random.one_in(n);
    let level = if stray(8) { Level::Block } else { level };
    let value = constant(if stray(8) { 2 } else { 1 });
    let (shows, plain) = (stray(10), stray(10));
    // Now and then it is the counter that is set.
    let cell = if stray(4) { COUNTER } else { FLAG };
    let (read, write) = (Label::atomic_read(level), Label::atomic_write(level));
    if random.one_in(2) {
        let label = if plain { Label::plain_write() } else { write };
        return vec![Op::Store { cell, value, label }];
    }
    let exchange = Op::Exchange { to: 6, cell, value, read, write };
    let shown = Op::Store { cell: 29, value: register(6), label: Label::plain_write() };
    std::iter::once(exchange).chain(Some(shown).filter(|_| shows)).collect()
}

pub fn sets_flag(ops: &[Op]) -> bool {
    ops.iter().any(|op| matches!(op, Op::Store { cell: FLAG, .. } | Op::Exchange { cell: FLAG, .. }))
}

/// Looks at the flag.
pub fn look(random: &mut Random, level: Level) -> Op {
    let label = if random.one_in(2) { Label::plain_read() } else { Label::atomic_read(level) };
    Op::Load { to: 7, cell: FLAG, label }
}

/// A store that other threads may come before or behind, at a counter that threads add to or wait for.
#[test]
fn a_counter_that_is_set_beside_additions_is_searched() {
    let set = |value| Op::Store { cell: COUNTER, value: constant(value), label: Label::atomic_write(D) };
    let exchange = |value| {
        let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
        Op::Exchange { to: 6, cell: COUNTER, value: constant(value), read, write }
    };
    let shows = Op::Store { cell: 1, value: register(2), label: Label::plain_write() };
    let until = |least, most| Op::AwaitWithin { cell: COUNTER, least, most, label: Label::atomic_read(D) };
    let five = Op::Load { to: 2, cell: 40, label: Label::plain_read() };
    let is_five = Op::AwaitPhase { cell: COUNTER, register: 2, bits: 0, shifted: false, label: Label::atomic_read(D) };
    let while_five = vec![store(40, 5), five, is_five, acquire(), load(0)];
    let leaves = |ops: Vec<Op>| [vec![store(0, 1), release()], ops].concat();
    for program in [
        vec![vec![add(COUNTER), shows.clone()], vec![set(5)]],
        vec![vec![add(COUNTER), shows], vec![exchange(5)]],
        // It goes on while the counter is 5: it may leave its loop before the store, and then reads what is being written.
        vec![while_five.clone(), leaves(vec![set(5), add(COUNTER)])],
        vec![vec![until(0, 4), acquire(), load(0)], leaves(vec![set(5), add(COUNTER)])],
        vec![vec![until(6, u64::MAX), acquire(), load(0)], leaves(vec![set(5), add(COUNTER)])],
        vec![vec![until(6, u64::MAX), acquire(), load(0)], leaves(vec![exchange(5), add(COUNTER)]), vec![set(5)]],
    ] {
        let case = apart(program);
        for (model, answers) in MODELS.into_iter().flat_map(|model| Answers::ALL.map(|answers| (model, answers))) {
            agree(&case, model, answers).unwrap_or_else(|wrong| panic!("{wrong}"));
        }
    }
}

/// Threads that set a flag, and one that looks at it when all have come.
#[test]
fn a_flag_that_several_set_is_one_run() {
    let set = Op::Store { cell: FLAG, value: constant(1), label: Label::atomic_write(D) };
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
    let exchange = Op::Exchange { to: 6, cell: FLAG, value: constant(1), read, write };
    for flag in [set, exchange] {
        let comes = vec![flag.clone(), release(), add(COUNTER)];
        let looks = [comes.clone(), vec![wait(COUNTER, 3), acquire(), load(FLAG)]].concat();
        let other = Op::Store { cell: FLAG, value: constant(2), label: Label::atomic_write(D) };
        let late = vec![release(), add(COUNTER), flag];
        for model in MODELS {
            let right = apart(vec![comes.clone(), comes.clone(), looks.clone()]);
            assert_eq!(agree(&right, model, Answers::Nothing), Ok(Some(1)), "{model}");
            // One sets it to something else, or behind its addition.
            let two_values = vec![vec![other.clone(), release(), add(COUNTER)], comes.clone(), looks.clone()];
            for wrong in [apart(two_values), apart(vec![late.clone(), comes.clone(), looks.clone()])] {
                assert!(counted(&wrong, model, Answers::Nothing).is_none(), "{model}");
            }
        }
    }
}
