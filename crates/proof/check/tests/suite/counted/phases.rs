//! Counters of which threads see phases alone.

use super::*;

/// A program whose threads leave something, add to words of which they see phases, wait for the phase to end, and read what the
/// others have left; two words, as a producer and a consumer have them, or one.
fn phased_case(random: &mut Random) -> Case {
    let threads = 2 + random.below(2) as usize;
    let strays = random.one_in(2);
    let together = random.one_in(2);
    // Now and then one of the threads is in a block of its own.
    let apart = if strays && random.one_in(6) { random.below(3) as usize } else { threads };
    let block = |thread: usize| if together && thread != apart { 0 } else { thread as u32 };
    let places = (0..threads).map(|thread| Placement::new(block(thread), thread as u32)).collect();
    // Of two threads each adds 1; a third one adds 2, so that a phase ends with a power of 2.
    let bits = threads as u32 - 1;
    let level = if together { Level::Block } else { Level::Device };
    let rounds = if threads == 2 && random.one_in(2) { 2 } else { 1 };
    let by_fence = random.one_in(2);
    let shifts = random.one_in(2);
    let words = if random.one_in(3) { 2 } else { 1 };
    let raises = random.one_in(3);
    let mut program = vec![Vec::new(); threads];
    for (round, thread) in (0..rounds).flat_map(|round| (0..threads as u64).map(move |thread| (round, thread))) {
        let ops = &mut program[thread as usize];
        let mut stray = |n| strays && random.one_in(n);
        let level = match (level, stray(6)) {
            (level, false) => level,
            (Level::Device, true) => Level::Block,
            (_, true) => [Level::Device, Level::Subgroup, Level::Thread][random.below(3) as usize],
        };
        let mut stray = |n| strays && random.one_in(n);
        let cell = if round == 0 { thread } else { 4 + thread };
        let late = stray(6);
        let data = Op::Store { cell, value: constant(1 + thread + 10 * round), label: Label::plain_write() };
        ops.extend(Some(data.clone()).filter(|_| !late));
        if raises && random.one_in(2) {
            ops.extend(raise(random, strays, level));
        }
        let mut stray = |n| strays && random.one_in(n);
        let turned = words == 2 && stray(3);
        for number in 0..words {
            let word = if turned { 1 - number } else { number };
            let cell = COUNTER + word;
            let (mut read, mut write) = (Label::atomic_read(level), Label::atomic_write(level));
            let mut wait = Label::atomic_read(level);
            let (releases, acquires) = (!stray(7), !stray(7));
            if releases && by_fence {
                ops.push(Op::Fence { label: Label::fence(level).releasing() });
            } else if releases {
                write = write.releasing();
            }
            if acquires && !by_fence {
                wait = wait.acquiring();
                read = if stray(3) { read.acquiring() } else { read };
            }
            let by = if thread == 2 { 2 } else { 1 };
            let by = if stray(8) { by + 1 } else { by };
            let to = 1 + word as usize;
            ops.push(Op::Add { to, cell, value: constant(by), read, write });
            if stray(12) {
                ops.push(Op::Add { to: 3, cell, value: constant(1), read, write });
            }
            ops.extend(Some(data.clone()).filter(|_| late && word == 0));
            let bits = if stray(10) { bits + 1 } else { bits };
            ops.extend(Some(Op::Shift { register: to, by: bits }).filter(|_| shifts));
            if stray(10) {
                ops.push(Op::Store { cell: 12 + thread, value: register(to), label: Label::plain_write() });
            }
            // Who only arrives at the first word waits at the second one, if there is one.
            let only_arrives = (words == 2 && word == 0 && thread == 0) || stray(10);
            if !only_arrives {
                ops.push(Op::AwaitPhase { cell, register: to, bits, shifted: shifts, label: wait });
            }
            if acquires && by_fence {
                ops.push(Op::Fence { label: Label::fence(level).acquiring() });
            }
        }
        let other = if stray(4) { thread } else { (thread + 1) % threads as u64 };
        ops.push(Op::Load { to: 5, cell: other + if round == 0 { 0 } else { 4 }, label: Label::plain_read() });
        if stray(8) {
            ops.push(Op::Store { cell: COUNTER, value: constant(0), label: Label::plain_write() });
        }
        ops.extend(raises.then(|| look(random, level)));
        let value = Value { constant: 0, registers: vec![5, 7] };
        ops.push(Op::Store { cell: 20 + thread, value, label: Label::plain_write() });
    }
    let mut program = coherent(program);
    if strays && random.one_in(2) {
        weaken(random, &mut program);
    }
    Case { program, places }
}

#[test]
fn the_runs_of_programs_with_phases_stand_for_all_executions() {
    let many = std::env::var("WATTLE_TEST_MANY").ok().and_then(|number| number.parse().ok()).unwrap_or(120u64);
    let mut random = Random(std::env::var("WATTLE_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(18));
    let (mut counted, mut raised, mut errors) = (0, 0, Vec::new());
    for number in 0..many {
        let case = phased_case(&mut random);
        for model in FAST {
            match agree(&case, model, Answers::Phases) {
                Ok(runs) => {
                    counted += u64::from(runs.is_some());
                    let raises = case.program.iter().filter(|ops| sets_flag(ops)).count() > 1;
                    raised += u64::from(runs.is_some() && raises);
                }
                Err(_) => {
                    let least = shrink(&case, |case| agree(case, model, Answers::Phases).is_err());
                    errors.push(format!("program {number}, {}", agree(&least, model, Answers::Phases).unwrap_err()));
                }
            }
        }
        assert!(errors.len() < 4, "{}", errors.join("\n"));
    }
    println!("{many} programs under four models, {counted} in phases, {raised} with flags");
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    assert!(counted > many / 2, "threads see phases: {counted}");
    assert!(raised > many / 10, "threads set a flag: {raised}");
}

#[test]
fn whoever_adds_to_a_counter_later_knows_what_was_counted() {
    let (read, write) = (Label::atomic_read(D), Label::atomic_write(D).releasing());
    let releasing = Op::Add { to: 2, cell: COUNTER, value: constant(1), read, write };
    let label = Label::atomic_read(D).acquiring();
    for model in MODELS {
        // They look at what their additions return, or do not.
        for await_both in [
            Op::AwaitPhase { cell: COUNTER, register: 2, bits: 1, shifted: false, label },
            Op::AwaitWithin { cell: COUNTER, least: 2, most: u64::MAX, label },
        ] {
            let pair = |thread: u64| vec![store(thread, 1), releasing.clone(), await_both.clone(), load(1 - thread)];
            assert!(counted(&apart(vec![pair(0), pair(1)]), model, Answers::Phases).is_some(), "{model}");
            // It waits for something else, may come before one of the two, and lets the other one go.
            let late = vec![wait(COUNTER + 1, 1), add(COUNTER)];
            let program = vec![pair(0), pair(1), late, vec![add(COUNTER + 1)]];
            assert!(counted(&apart(program), model, Answers::Phases).is_none(), "{model}");
        }
    }
}

#[test]
fn whoever_writes_a_counter_anew_knows_its_additions() {
    for model in MODELS {
        let set = |acquires: bool| {
            let fence = Some(acquire()).filter(|_| acquires);
            [vec![wait(COUNTER + 1, 1)], fence.into_iter().collect(), vec![store(COUNTER, 0)]].concat()
        };
        let program = |acquires| apart(vec![vec![add(COUNTER), release(), add(COUNTER + 1)], set(acquires)]);
        assert!(counted(&program(true), model, Answers::Phases).is_some(), "{model}");
        assert!(counted(&program(false), model, Answers::Phases).is_none(), "{model}");
    }
}
