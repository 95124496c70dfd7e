//! Threads that take tickets: places to write to, and pieces of work.

use super::*;

/// The first of the cells that tickets say which to write to, and of those that they say which to read.
const PLACES: u64 = 40;
const WORK: u64 = 60;
/// A cell that threads add to without a look at the result.
const SUM: u64 = 30;

fn take(cell: u64, level: Level) -> Op {
    Op::Add { to: 2, cell, value: constant(1), read: Label::atomic_read(level), write: Label::atomic_write(level) }
}

/// A ticket of another counter, in a register that nothing else is in.
fn take_another() -> Op {
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
    Op::Add { to: 7, cell: COUNTER + 1, value: constant(1), read, write }
}

fn put(base: u64, value: Value) -> Op {
    Op::StoreAt { base, register: 2, value, label: Label::plain_write() }
}

fn find(to: usize, base: u64) -> Op {
    Op::LoadAt { to, base, register: 2, label: Label::plain_read() }
}

fn sum(value: u64) -> Op {
    Op::Add { to: 5, cell: SUM, value: constant(value), read: Label::atomic_read(D), write: Label::atomic_write(D) }
}

/// An addition of some number of places.
fn take_many(count: u64) -> Op {
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
    Op::Add { to: 2, cell: COUNTER, value: constant(count), read, write }
}

/// Work that is shared: threads take pieces until there are no more.
fn shared_work(pieces: u64, piece: Vec<Op>) -> Vec<Op> {
    work_in_steps(pieces, 1, piece)
}

/// As [`shared_work`], by a thread that takes some pieces at a time, and does the first of them.
fn work_in_steps(pieces: u64, step: u64, piece: Vec<Op>) -> Vec<Op> {
    let skip = Op::SkipUnlessBelow { register: 2, below: pieces, count: piece.len() };
    let mut ops = vec![Op::Head, take_many(step), skip];
    ops.extend(piece);
    let count = ops.len() - 1;
    ops.push(Op::RepeatBelow { register: 2, below: pieces, count });
    ops
}

/// What a thread does with a ticket.
fn with_ticket(random: &mut Random, strays: bool, thread: u64) -> Vec<Op> {
    let mut ops = Vec::new();
    let mut stray = |n| strays && random.one_in(n);
    let base = if stray(6) { PLACES + 1 } else { PLACES };
    let (elsewhere, early, late, shows, keeps) = (stray(8), stray(8), stray(6), stray(8), stray(8));
    if early {
        ops.push(find(4, PLACES));
    }
    if random.one_in(3) {
        ops.push(find(3, if elsewhere { PLACES + 1 } else { WORK }));
    }
    let value = match random.below(3) {
        0 => constant(1 + thread),
        1 => register(3),
        _ => register(2),
    };
    ops.push(put(base, value));
    if random.one_in(4) {
        ops.push(find(4, if late { PLACES } else { base }));
    }
    if random.one_in(4) {
        ops.push(sum(if random.one_in(3) { 1 + thread } else { 1 }));
    }
    if shows {
        ops.push(Op::Store { cell: 20 + thread, value: register(2), label: Label::plain_write() });
    } else if random.one_in(4) {
        ops.push(store(20 + thread, 7));
    }
    if random.one_in(4) {
        ops.push(Op::Accumulate { to: 6, from: 2 });
    }
    if keeps {
        ops.push(load(20 + thread));
        ops.push(Op::Store { cell: 10, value: register(3), label: Label::plain_write() });
    }
    ops
}

fn ticket_case(random: &mut Random) -> Case {
    let threads = 2 + random.below(2);
    let strays = random.one_in(2);
    let together = random.one_in(3);
    let places = (0..threads as u32).map(|thread| Placement::new(if together { 0 } else { thread }, thread)).collect();
    let pieces = (threads == 2 || random.one_in(4)).then(|| random.below(3)).filter(|_| random.one_in(2));
    let mut program = Vec::new();
    for thread in 0..threads {
        let mut stray = |n| strays && random.one_in(n);
        let (other_counter, narrow, twice, plain, steps) = (stray(6), stray(10), stray(5), stray(10), stray(10));
        let mut ops = Vec::new();
        if random.one_in(3) {
            ops.push(store(WORK + 10 + thread, 1));
        }
        if plain {
            let cell = [PLACES, PLACES + 1, COUNTER, WORK, 20][random.below(5) as usize];
            ops.push(if random.one_in(2) { store(cell, 9) } else { load(cell) });
        }
        match pieces {
            Some(pieces) => {
                let piece = with_ticket(random, strays, thread);
                ops.extend(work_in_steps(pieces, if steps { 2 } else { 1 }, piece));
            }
            None => {
                let cell = if other_counter { COUNTER + 1 } else { COUNTER };
                let level = if narrow { Level::Block } else { D };
                for _ in 0..if twice { 2 } else { 1 } {
                    ops.push(if steps { take_many(2) } else { take(cell, level) });
                    ops.extend(with_ticket(random, strays, thread));
                }
            }
        }
        if random.one_in(4) {
            ops.push(sum(1));
        }
        // What a thread keeps of its tickets: in a cell of its own, in a sum, or to decide by.
        let label = Label::plain_write();
        match random.below(8) {
            0 | 1 => ops.push(Op::Store { cell: 16 + thread, value: register(6), label }),
            2 => {
                let (read, write) = (Label::atomic_read(D), Label::atomic_write(D));
                ops.push(Op::Add { to: 5, cell: SUM + 1, value: register(6), read, write });
            }
            3 if strays => ops.push(Op::StoreAt { base: PLACES, register: 6, value: constant(3), label }),
            4 if strays => {
                ops.push(Op::SkipUnless { register: 6, value: 1, equal: true, count: 1 });
                ops.push(store(PLACES, 8));
            }
            _ => {}
        }
        program.push(ops);
    }
    if together && random.one_in(2) {
        let mut looked = vec![COUNTER, SUM, WORK + 10];
        looked.extend(strays.then_some(PLACES));
        let cell = looked[random.below(looked.len() as u64) as usize];
        for (thread, ops) in (0..).zip(&mut program) {
            ops.push(Op::Barrier { members: threads as u32, about: Classes::BOTH, level: D });
            ops.push(load(cell));
            ops.push(Op::Store { cell: 24 + thread, value: register(3), label: Label::plain_write() });
        }
    }
    // Tickets of another counter behind a barrier, of which some leave something where the first ones did.
    if together && random.one_in(2) {
        let below = random.below(3);
        for (thread, ops) in (0..).zip(&mut program) {
            ops.push(Op::Barrier { members: threads as u32, about: Classes::BOTH, level: D });
            ops.push(take_another());
            ops.push(Op::SkipUnlessBelow { register: 7, below, count: 1 });
            let (value, label) = (constant(50 + thread), Label::plain_write());
            let place = Op::StoreAt { base: PLACES, register: 7, value, label };
            ops.push(if random.one_in(2) { place } else { store(20 + thread, 8) });
        }
    }
    let mut program = coherent(program);
    if strays && random.one_in(3) {
        weaken(random, &mut program);
    }
    Case { program, places }
}

#[test]
fn one_run_stands_for_all_orders_of_tickets() {
    let many = std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(150u64);
    let mut random = Random(std::env::var("WATTLE_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(3));
    let (mut counted_all, mut varying, mut working, mut errors) = (0, 0, 0, Vec::new());
    for number in 0..many {
        let case = ticket_case(&mut random);
        for model in FAST {
            match agree(&case, model, Answers::Tickets) {
                Ok(None) => {}
                Ok(Some(_)) => {
                    counted_all += 1;
                    let differs =
                        counted(&case, model, Answers::Tickets).is_some_and(|counted| !counted.varying.is_empty());
                    varying += u64::from(differs);
                    working += u64::from(case.program.iter().flatten().any(|op| *op == Op::Head));
                }
                Err(_) => {
                    let least = shrink(&case, |case| agree(case, model, Answers::Tickets).is_err());
                    errors.push(format!("program {number}, {}", agree(&least, model, Answers::Tickets).unwrap_err()));
                }
            }
        }
        assert!(errors.len() < 4, "{}", errors.join("\n"));
    }
    println!(
        "{many} programs under four models, {counted_all} in one run, {varying} of them open, {working} share work"
    );
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(counted_all > many, "threads take tickets: {counted_all}");
    assert!(varying > many / 6, "executions leave different values: {varying}");
    assert!(working > many / 10, "threads share work: {working}");
}

/// A stream compaction, and work that is shared, with more threads than a search goes through.
#[test]
fn many_threads_take_tickets_in_one_run() {
    let left = |case: &Case, model| {
        let counted = counted(case, model, Answers::Tickets).expect("one run");
        let [memory] = &counted.memories[..] else { panic!("{counted:?}") };
        let known: Vec<_> = memory.iter().filter(|(address, _)| !counted.varying.contains_key(address)).collect();
        (known.into_iter().map(|(address, value)| (address.element, *value)).collect::<Vec<_>>(), counted)
    };
    for model in MODELS {
        let compaction = apart((0..32).map(|thread| vec![take(COUNTER, D), put(PLACES, constant(thread))]).collect());
        let (known, counted) = left(&compaction, model);
        assert_eq!(known, [(COUNTER, 32)]);
        let each: BTreeSet<u64> = (0..32).collect();
        assert_eq!(counted.varying.len(), 32);
        assert!(counted.varying.values().all(|values| values.as_ref() == Some(&each)), "{counted:?}");

        let piece = vec![find(3, WORK), put(PLACES, Value { constant: 5, registers: vec![2, 3] }), sum(1)];
        let work = apart((0..8).map(|_| shared_work(16, piece.clone())).collect());
        let (known, _) = left(&work, model);
        let places = (0..16).map(|piece| (PLACES + piece, 5 + piece));
        let expected: Vec<_> = [(COUNTER, 24), (SUM, 16)].into_iter().chain(places).collect();
        assert_eq!(known, expected, "{model}");
    }
}

/// A cell in which tickets may leave something once, and then again, may have what was left first.
#[test]
fn what_is_perhaps_left_twice_has_each_of_the_values() {
    let barrier = Op::Barrier { members: 3, about: Classes::BOTH, level: D };
    let first = Op::SkipUnlessBelow { register: 2, below: 2, count: 1 };
    let second = Op::SkipUnlessBelow { register: 7, below: 1, count: 1 };
    let thread = |thread: u64| {
        let [once, again] = [7, 9].map(|value| store(20 + thread, value));
        vec![take(COUNTER, D), first.clone(), once, barrier.clone(), take_another(), second.clone(), again]
    };
    let together = |program: Vec<Vec<Op>>| {
        let places = (0..program.len() as u32).map(|thread| Placement::new(0, thread)).collect();
        Case { program: coherent(program), places }
    };
    // What is left first may not be known: one of the threads has added to it.
    let unknown = |thread: u64| {
        let adds = sum(1 + thread);
        let again = Op::Store { cell: SUM, value: constant(9), label: Label::plain_write() };
        let only = Op::SkipUnless { register: 7, value: 2, equal: true, count: if thread == 0 { 1 } else { 0 } };
        let behind = [barrier.clone(), take_another(), only];
        let again = Some(again).filter(|_| thread == 0);
        [take(COUNTER, D), first.clone(), adds].into_iter().chain(behind).chain(again).collect::<Vec<_>>()
    };
    let value = |case: &Case, model, element| {
        assert_eq!(agree(case, model, Answers::Tickets), Ok(Some(1)), "{model}");
        let counted = counted(case, model, Answers::Tickets).expect("one run");
        counted.varying.get(&Address { memory: 0, element }).cloned()
    };
    for model in MODELS {
        let known = value(&together((0..3).map(thread).collect()), model, 20);
        assert_eq!(known, Some(Some(BTreeSet::from([0, 7, 9]))), "{model}");
        assert_eq!(value(&together((0..3).map(unknown).collect()), model, SUM), Some(None), "{model}");
    }
}

/// A thread that reserves two places, where others reserve one, or none.
#[test]
fn threads_reserve_different_numbers_of_places() {
    let label = Label::plain_write();
    let fills = |count: u64| {
        let puts = (0..count).map(|place| put(PLACES + place, constant(10 * count + place)));
        [take_many(count)].into_iter().chain(puts).collect::<Vec<_>>()
    };
    for model in MODELS {
        for counts in [vec![2, 1], vec![2, 1, 0], vec![3, 0, 0], vec![1, 2, 2]] {
            let case = apart(counts.iter().map(|&count| fills(count)).collect());
            assert_eq!(agree(&case, model, Answers::Tickets), Ok(Some(1)), "{model}, {counts:?}");
        }
        let many = apart((0..20).map(|thread| fills(thread % 4)).collect());
        let counted_all = counted(&many, model, Answers::Tickets).expect("one run");
        let known = counted_all.memories[0].iter().find(|(address, _)| address.element == COUNTER);
        assert_eq!(known.map(|(_, value)| *value), Some(30), "{model}");
        // One comes round to add again, and gets places that are no sum of what the others add once.
        let round = work_in_steps(8, 1, vec![put(PLACES, constant(1))]);
        let others = (0..5).map(|thread| vec![take_many(2), Op::Store { cell: thread, value: register(2), label }]);
        assert!(counted(&apart(others.chain([round]).collect()), model, Answers::Tickets).is_none(), "{model}");
        // One writes behind what it has reserved, or at the place of somebody who has reserved none.
        let beyond = [fills(2), vec![put(PLACES + 2, constant(1))]].concat();
        for wrong in [vec![beyond, fills(1)], vec![[fills(0), vec![put(PLACES, constant(1))]].concat(), fills(1)]] {
            assert!(counted(&apart(wrong), model, Answers::Tickets).is_none(), "{model}");
        }
    }
}

/// Each thread adds up the pieces of work that it gets: which these are is left open, and their sum is not known, but nothing races.
#[test]
fn what_threads_keep_of_their_tickets_is_left_open() {
    let total = Op::Add {
        to: 5,
        cell: SUM + 1,
        value: register(6),
        read: Label::atomic_read(D),
        write: Label::atomic_write(D),
    };
    let keep = |thread: u64| Op::Store { cell: thread, value: register(6), label: Label::plain_write() };
    let piece = vec![put(PLACES, register(2)), Op::Accumulate { to: 6, from: 2 }];
    for model in MODELS {
        let thread = |thread| [shared_work(40, piece.clone()), vec![total.clone(), keep(thread)]].concat();
        let case = apart((0..6).map(thread).collect());
        let counted_all = counted(&case, model, Answers::Tickets).expect("one run");
        let open: Vec<u64> = counted_all.varying.keys().map(|address| address.element).collect();
        assert_eq!(open, [0, 1, 2, 3, 4, 5, SUM + 1], "{model}");
        // A thread that decides by its sum may do anything.
        let decides = vec![Op::SkipUnless { register: 6, value: 3, equal: true, count: 1 }, store(PLACES, 1)];
        let thread = |thread| [shared_work(40, piece.clone()), decides.clone(), vec![keep(thread)]].concat();
        assert!(counted(&apart((0..6).map(thread).collect()), model, Answers::Tickets).is_none(), "{model}");
    }
}

/// Programs for which one run does not stand for all executions, each for another reason.
#[test]
fn tickets_that_let_threads_meet_are_searched() {
    let pair = |ops: [Vec<Op>; 2]| apart(ops.into());
    let takes = |then: Vec<Op>| [vec![take(COUNTER, D)], then].concat();
    let mut narrow = takes(vec![put(PLACES, constant(1))]);
    narrow[0] = take(COUNTER, Level::Block);
    let put_one = || put(PLACES, constant(1));
    for model in MODELS {
        for case in [
            // Two places each, or the place of another ticket.
            pair([takes(vec![put_one(), put(PLACES + 1, constant(2))]), takes(vec![put_one()])]),
            pair([takes(vec![put_one(), find(3, PLACES + 1)]), takes(vec![put_one()])]),
            // A plain access to what others have places in, before and behind.
            pair([takes(vec![put_one()]), vec![store(PLACES, 1)]]),
            pair([takes(vec![put_one()]), takes(vec![put_one(), load(PLACES)])]),
            // Additions that are not atomic to each other, or not of one size.
            pair([narrow.clone(), narrow.clone()]),
            pair([
                [vec![take_many(2)], vec![put_one(), put(PLACES + 2, constant(1))]].concat(),
                takes(vec![put_one()]),
            ]),
            // Somebody sets the counter, or looks at it.
            pair([takes(vec![put_one()]), takes(vec![load(COUNTER)])]),
            pair([
                takes(vec![put_one()]),
                takes(vec![Op::Store { cell: COUNTER, value: constant(0), label: Label::atomic_write(D) }]),
            ]),
        ] {
            assert!(counted(&case, model, Answers::Tickets).is_none(), "{model}\n{}", show(&case));
        }
    }
}
