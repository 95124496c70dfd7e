//! Random programs: many of them with a single execution, or with races that barriers, fences and atomic accesses nearly rule out.

use crate::brute::random::{Case, Random};
use crate::script::{Op, Value, constant};
use wattle_memory::{Classes, Label, Level, Placement};

/// A program whose threads in block 0 meet at barriers, with half of its accesses plain, and mostly to cells that no
/// other thread touches before the next barrier.
pub fn case(random: &mut Random, accesses: u64) -> Case {
    let threads = 2 + random.below(2) as usize;
    let together = if random.one_in(4) { threads - 1 } else { threads };
    let place = |thread: usize| match thread < together {
        true => Placement::new(0, thread as u32),
        false => Placement::new(1, 0),
    };
    let places = (0..threads).map(place).collect();
    let barriers = if together > 1 { random.below(3) } else { 0 };
    let cells = 2 + random.below(3);
    let shuffles = together > 1 && random.one_in(3);
    let (shift, plain_only, atomics) = (random.below(4), random.one_in(2), random.below(4));
    let mut program = vec![Vec::new(); threads];
    for phase in 0..=barriers {
        let about = random.pick(&[Classes::BOTH, Classes::BOTH, Classes::BLOCK, Classes::BUFFER, Classes::NONE]);
        for (thread, ops) in program.iter_mut().enumerate() {
            for _ in 0..random.below(1 + accesses / threads as u64 / (1 + barriers)) + 1 {
                let near = (thread as u64 + phase * shift) % cells;
                let cell = if random.one_in(6) { random.below(cells) } else { near };
                let atomic = !plain_only && random.below(4) < atomics;
                ops.push(op(random, ops.len(), cell, atomic));
            }
            // What a thread stores behind a shuffle is what another one has read.
            if shuffles && thread < together {
                let (register, from) = (random.below(8) as usize, random.below(together as u64));
                ops.push(Op::Shuffle { to: 7, register, from, members: together as u32 });
                let near = (thread as u64 + phase * shift) % cells;
                let class = if near.is_multiple_of(2) { Classes::BUFFER } else { Classes::BLOCK };
                let value = Value { constant: 1, registers: vec![7] };
                ops.push(Op::Store { cell: near, value, label: Label::plain_write().of(class) });
            }
            if phase < barriers && thread < together {
                ops.push(Op::Barrier { members: together as u32, about, level: Level::Block });
            }
        }
    }
    Case { program, places }
}

/// A program of three threads of a block, of which two meet at barriers of their own, as the lanes of a warp do; each mostly
/// touches one cell of two between those.
pub fn case_of_groups(random: &mut Random) -> Case {
    let mut program = vec![Vec::new(); 3];
    let (first, meetings, atomics) = (random.below(2), 1 + random.below(3), random.one_in(2));
    for meeting in 0..meetings {
        let (count, of_all) = (1 + random.below(3), random.one_in(3));
        for (thread, ops) in program.iter_mut().enumerate() {
            for _ in 0..count {
                let usual = if thread == 2 { 2 } else { (first + thread as u64 + meeting) % 2 };
                let cell = if random.one_in(8) { random.below(3) } else { usual };
                let atomic = atomics && random.one_in(3);
                ops.push(op(random, ops.len(), cell, atomic));
            }
            // Threads meet where they have come equally far.
            ops.push(match (of_all, thread) {
                (true, _) => Op::Barrier { members: 3, about: Classes::BOTH, level: Level::Block },
                (false, 2) => Op::Fence { label: Label::fence(Level::Thread) },
                (false, _) => Op::Barrier { members: 2, about: Classes::BOTH, level: Level::Block },
            });
        }
    }
    Case { program, places: (0..3).map(|thread| Placement::new(0, thread)).collect() }
}

/// What becomes of the fences behind a barrier.
#[derive(Clone, Copy, PartialEq)]
enum Acquire {
    All,
    Nobody,
    /// All but one thread.
    NotOne,
    /// One thread does so behind its accesses.
    OneLate,
    /// One thread neither does so nor accesses anything.
    OneIdle,
    /// Each thread, or not.
    Some,
}

/// A program of threads of a block that release before its barriers and acquire behind them, by fences of some storage classes,
/// or forget to; each mostly touches a cell that another one has touched before the last barrier.
pub fn case_of_fences(random: &mut Random) -> Case {
    let threads = 2 + random.below(2) as usize;
    let mut program = vec![Vec::new(); threads];
    let careful = !random.one_in(3);
    for phase in 0..2 + random.below(3) {
        let about = random.pick(&[Classes::BOTH, Classes::BLOCK, Classes::BUFFER, Classes::NONE]);
        let semantics = random.pick(&[Classes::BOTH, Classes::BOTH, Classes::BUFFER, Classes::BLOCK]);
        let level = random.pick(&[Level::Block, Level::Device, Level::Device, Level::Subgroup]);
        let acquire = match careful {
            true => random.pick(&[
                Acquire::All,
                Acquire::All,
                Acquire::Nobody,
                Acquire::NotOne,
                Acquire::OneLate,
                Acquire::OneIdle,
            ]),
            false => Acquire::Some,
        };
        let one = random.below(threads as u64) as usize;
        for (thread, ops) in program.iter_mut().enumerate() {
            let mut fence = |label: Label| {
                let own = if careful || random.one_in(2) { semantics } else { Classes::BUFFER };
                let makes_available = label.release && (careful || !random.one_in(8));
                Op::Fence { label: Label { semantics: own, makes_available, ..label } }
            };
            let (release, behind) = (fence(Label::fence(level).releasing()), fence(Label::fence(level).acquiring()));
            if phase > 0 {
                ops.extend((careful || !random.one_in(4)).then_some(release));
                ops.push(Op::Barrier { members: threads as u32, about, level: Level::Block });
            }
            let early = match acquire {
                Acquire::All => true,
                Acquire::Nobody => false,
                Acquire::NotOne | Acquire::OneLate | Acquire::OneIdle => thread != one,
                Acquire::Some => !random.one_in(4),
            };
            ops.extend((phase > 0 && early).then(|| behind.clone()));
            for _ in 0..1 + random.below(2) {
                let near = (thread as u64 + phase) % threads as u64;
                let cell = if random.one_in(8) { random.below(threads as u64) } else { near };
                if acquire != Acquire::OneIdle || thread != one {
                    ops.push(op(random, ops.len(), cell, false));
                }
            }
            ops.extend((phase > 0 && acquire == Acquire::OneLate && thread == one).then_some(behind));
        }
    }
    let apart = random.one_in(2);
    let place = |thread: u32| Placement { subgroup: if apart { thread } else { 0 }, ..Placement::new(0, thread) };
    Case { program, places: (0..threads as u32).map(place).collect() }
}

/// A program in which a thread writes plainly, and another one accesses the same cell if it finds that an atomic flag is set. Fences,
/// atomic accesses that release and acquire, and barriers of the two blocks, or of a group of one block, may stand between, as many
/// as order the two or fewer.
pub fn case_of_messages(random: &mut Random) -> Case {
    let apart = random.one_in(2);
    let level = Level::Device;
    let (mut read, mut write) = (Label::atomic_read(level), Label::atomic_write(level));
    (read.coherent, write.coherent) = (true, true);
    let barrier = || Op::Barrier { members: 2, about: Classes::BOTH, level: Level::Block };
    // The writer and its neighbour.
    let mut writer = vec![Op::Store { cell: 0, value: constant(7), label: Label::plain_write() }];
    let mut neighbour = Vec::new();
    let released = random.below(4);
    match released {
        0 => writer.push(Op::Fence { label: Label::fence(level).releasing() }),
        1 => {
            writer.push(barrier());
            neighbour.push(barrier());
        }
        2 => write = write.releasing(),
        _ => {}
    }
    let by_neighbour = released == 1 && random.one_in(2);
    let flag = match random.one_in(2) {
        true => Op::Store { cell: 4, value: constant(1), label: write },
        false => Op::Add {
            to: 1,
            cell: 4,
            value: constant(1),
            read: Label { coherent: true, ..Label::atomic_read(level) },
            write,
        },
    };
    if by_neighbour {
        neighbour.push(flag)
    } else {
        writer.push(flag)
    }
    // The reader and its neighbour.
    let acquired = random.below(if apart { 4 } else { 3 });
    let (mut reader, mut other) = (Vec::new(), Vec::new());
    if acquired == 2 {
        read = read.acquiring();
    }
    let flagged = random.below(2);
    reader.push(Op::Load { to: 0, cell: 4, label: read });
    if acquired == 3 {
        reader.push(barrier());
        other.push(barrier());
    }
    let access = match random.one_in(2) {
        true => Op::Load { to: 2, cell: 0, label: Label::plain_read() },
        false => Op::Store { cell: 0, value: constant(2), label: Label::plain_write() },
    };
    let fence = (acquired == 0).then(|| Op::Fence { label: Label::fence(level).acquiring() });
    let behind: Vec<Op> = fence.into_iter().chain([access]).collect();
    if flagged == 1 || random.one_in(2) {
        reader.push(Op::SkipUnless { register: 0, value: 1, equal: true, count: behind.len() });
    }
    reader.extend(behind);
    let (program, places) = match apart {
        true => (vec![writer, neighbour, reader, other], [(0, 0), (0, 1), (1, 0), (1, 1)].to_vec()),
        false => (vec![writer, neighbour, reader], [(0, 0), (0, 1), (0, 2)].to_vec()),
    };
    Case { program, places: places.into_iter().map(|(block, thread)| Placement::new(block, thread)).collect() }
}

fn op(random: &mut Random, at: usize, cell: u64, atomic: bool) -> Op {
    let (to, value) = (at % 8, constant(1 + random.below(9)));
    // A cell is in one storage class.
    let class = if cell.is_multiple_of(2) { Classes::BUFFER } else { Classes::BLOCK };
    if !atomic {
        return match random.below(2) {
            0 => Op::Load { to, cell, label: Label::plain_read().of(class) },
            _ => Op::Store { cell, value, label: Label::plain_write().of(class) },
        };
    }
    let level = random.pick(&[Level::Block, Level::Device, Level::Device]);
    let (mut read, mut write) = (Label::atomic_read(level).of(class), Label::atomic_write(level).of(class));
    (read.coherent, write.coherent) = (true, true);
    if random.one_in(4) {
        (read, write) = (read.acquiring(), write.releasing());
    }
    let cell = 4 + cell;
    match random.below(8) {
        0 => Op::Load { to, cell, label: read },
        1 => Op::Store { cell, value, label: write },
        2 => Op::Exchange { to, cell, value, read, write },
        3 => Op::Fence { label: Label::fence(level).acquiring().releasing() },
        _ => Op::Add { to, cell, value, read, write },
    }
}
