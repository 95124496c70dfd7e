//! Load batching: which loops run four turns at a time, what the assembler makes of them, and that they do what the
//! plain loop does, in its order.

use wattle::prelude::*;
use wattle_ptx::PtxTarget;

#[kernel]
fn copied(acc: &Acc, x: PerItem<u32>, y: Read<u32>) {
    for (i, x) in acc.items(&mut x) {
        *x = y[i];
    }
}

#[kernel]
fn added(acc: &Acc, x: PerItem<u32>, y: Read<u32>) {
    for (i, x) in acc.items(&mut x) {
        *x = *x + y[i] * 3;
    }
}

#[kernel]
fn summed(acc: &Acc, x: Shared<u32>, y: Read<u32>) {
    let mut sum = 1;
    for i in acc.indices(THREADS_IN_GRID, 1..y.len()) {
        sum = sum * 31 + y[i];
    }
    x[acc.thread_in_grid()] = sum;
}

#[kernel]
fn gathered(acc: &Acc, x: PerItem<u32>, y: Read<u32>) {
    for (i, x) in acc.items(&mut x) {
        *x = y[y[i] & 7];
    }
}

#[kernel]
fn counted(acc: &Acc, x: Atomic<u32>, y: Read<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..y.len()) {
        x.fetch_add_with(y[i] & 7, 1, Scope::Device, Order::Relaxed);
    }
}

#[kernel]
fn shifted(acc: &Acc, x: Shared<u32>, y: Read<u32>) {
    if acc.thread_in_grid() == 0 {
        for i in 0..y.len() {
            x[i] = y[i] + x[i];
        }
    }
}

#[kernel]
fn followed(acc: &Acc, x: Shared<u32>, y: Read<u32>) {
    let mut at = 0;
    for _ in 0..y.len() {
        at = y[at];
    }
    x[acc.thread_in_grid()] = at;
}

#[kernel]
fn loads_what_turns_store(acc: &Acc, x: Shared<u32>, y: Read<u32>) {
    if acc.thread_in_grid() == 0 {
        for i in 0..y.len() {
            x[i + 1] = x[i] + y[i];
        }
    }
}

#[kernel]
fn left_early(acc: &Acc, x: Shared<u32>, y: Read<u32>) {
    for i in acc.indices(THREADS_IN_GRID, 0..y.len()) {
        if y[i] == 7 {
            break;
        }
        x[i] = 1;
    }
}

#[kernel]
fn with_a_barrier(acc: &Acc, x: Shared<u32>, y: Read<u32>) {
    for i in 0..y.len() {
        x[acc.thread_in_grid()] = y[i];
        acc.sync_block();
    }
}

#[kernel]
fn with_a_fence(acc: &Acc, x: Shared<u32>, y: Read<u32>) {
    for i in 0..y.len() {
        x[acc.thread_in_grid()] = y[i];
        acc.mem_fence(Scope::Device, Order::Release);
    }
}

#[kernel]
fn with_a_loop(acc: &Acc, x: Shared<u32>, y: Read<u32>) {
    for i in 0..y.len() {
        let mut sum = y[i];
        while sum < 8 {
            sum += 1;
        }
        x[acc.thread_in_grid()] = sum;
    }
}

#[kernel]
fn asserted(acc: &Acc, x: PerItem<u32>, y: Read<u32>, bad: u32) {
    for (i, x) in acc.items(&mut x) {
        let value = y[i];
        assert!(i != bad, "not this one");
        *x = value;
    }
}

#[kernel]
fn stepped(acc: &Acc, x: Shared<u32>, y: Read<u32>, begin: u32, end: u32, step: u32) {
    let (mut turns, mut sum) = (0, 0);
    for i in (begin..end).step_by(step) {
        turns += 1;
        sum = sum * 31 + (i ^ y[i & 3]);
    }
    x[2 * acc.thread_in_grid()] = turns;
    x[2 * acc.thread_in_grid() + 1] = sum;
}

fn text(kernel: &dyn wattle_core::Kernel) -> String {
    crate::tools::module(&kernel.build().unwrap(), &PtxTarget::new(90)).body
}

/// The number of loads that come first, or `None` if no turns are batched.
fn loads_first(kernel: &dyn wattle_core::Kernel) -> Option<usize> {
    let text = text(kernel);
    let (_, batched) = text.split_once(crate::tools::BATCHED)?;
    let memory: Vec<_> = batched.lines().filter_map(|line| line.trim().split_once(".global")).collect();
    Some(memory.iter().take_while(|(name, _)| *name == "ld").count())
}

#[test]
fn which_loops() {
    let device = Device::host();
    let (mut x, y) = (device.alloc_zeroed::<u32>(4).unwrap(), device.alloc_zeroed::<u32>(4).unwrap());
    let words = device.alloc_zeroed::<u32>(4).unwrap();
    assert_eq!(loads_first(&copied(&mut x, &y)), Some(4));
    assert_eq!(loads_first(&added(&mut x, &y)), Some(8), "the elements are the turn's own");
    assert_eq!(loads_first(&gathered(&mut x, &y)), Some(8));
    assert_eq!(loads_first(&counted(&words, &y)), Some(4));
    assert_eq!(loads_first(&asserted(&mut x, &y, 5)), Some(4));
    // The load of the plain loop follows.
    assert_eq!(loads_first(&summed(&x, &y)), Some(5));
    assert_eq!(loads_first(&stepped(&x, &y, 0, 4, 1)), Some(5));
    // The loads of `x` stay behind what earlier turns store.
    assert_eq!(loads_first(&shifted(&x, &y)), Some(4));
    assert_eq!(loads_first(&loads_what_turns_store(&x, &y)), Some(4));
    assert_eq!(loads_first(&followed(&x, &y)), None);
    assert_eq!(loads_first(&left_early(&x, &y)), None);
    assert_eq!(loads_first(&with_a_barrier(&x, &y)), None);
    assert_eq!(loads_first(&with_a_fence(&x, &y)), None);
    assert_eq!(loads_first(&with_a_loop(&x, &y)), None);
}

/// Loads come first so that several are under way before a thread waits for one.
#[test]
fn loads_under_way() {
    let (Some(ptxas), Some(nvdisasm)) = (crate::tools::assembler(), crate::tools::disassembler()) else { return };
    let stream =
        crate::tools::kernels().into_iter().filter(|(scenario, _)| scenario == "stream").map(|(_, kernel)| kernel);
    let mut seen = 0;
    for kernel in stream {
        let name = |name: &str| kernel.name.starts_with(&format!("stream_{name}"));
        let loads = match () {
            () if name("copy") || name("mul") => 4,
            () if name("add") || name("triad") => 8,
            () => continue,
        };
        let (said, code) =
            crate::tools::assemble(&ptxas, &crate::tools::module(&kernel, &PtxTarget::new(90)).text(), 90);
        let registers = said.split("Used ").nth(1).and_then(|said| said.split(' ').next());
        let registers: u32 = registers.and_then(|number| number.parse().ok()).expect("ptxas says so");
        assert!(registers <= 32, "{}: {registers} registers, so that not all threads fit", kernel.name);
        assert!(crate::tools::complaints(&said, |_| false).is_empty(), "{said}");
        let code = crate::tools::disassemble(&nvdisasm, &code);
        let memory = code.lines().filter(|line| line.contains("LDG") || line.contains("STG"));
        let runs: Vec<_> = memory.map(|line| line.contains("CONSTANT")).collect();
        let longest = runs.split(|load| !load).map(<[bool]>::len).max();
        // Of eight loads of 8 bytes ptxas begins to store after five, to stay within the registers.
        assert!(longest == Some(loads) || (loads == 8 && longest >= Some(5)), "{}: {longest:?} {code}", kernel.name);
        seen += 1;
    }
    assert_eq!(seen, 8);
}

/// All CUDA devices, soft-cuda's included.
fn devices() -> Vec<Device> {
    let devices: Vec<_> = Device::all().into_iter().filter(|device| device.name().starts_with("cuda")).collect();
    if devices.is_empty() {
        test_skips::skipped("no CUDA device is here");
    }
    devices
}

/// What a launch over `lens` elements of `x` and `y` leaves in `x`, and the error that it reports.
fn outcome(device: &Device, lens: [usize; 2], launch: &Launch) -> (Vec<u32>, String) {
    let queue = device.queue().unwrap();
    let [mut x, y] = lens.map(|len| {
        let mut buffer = device.alloc::<u32>(len).unwrap();
        let numbers: Vec<_> = (0..len as u32).map(|i| i.wrapping_mul(0x9e37_79b9) >> 9).collect();
        buffer.write(&queue, &numbers).unwrap();
        buffer
    });
    let said = launch(&queue, &mut x, &y).map_or_else(|error| error.to_string(), |()| String::new());
    (x.read(&device.queue().unwrap()).unwrap(), said)
}

pub type Launch = dyn Fn(&Queue, &mut Buffer<u32>, &Buffer<u32>) -> Result<()>;

/// A launch leaves and reports on each CUDA device what it does on the simulated one.
#[track_caller]
pub fn agrees(lens: [usize; 2], launch: &Launch) -> String {
    let (left, said) = outcome(&Device::simulated(0), lens, launch);
    for device in devices() {
        let (found, says) = outcome(&device, lens, launch);
        assert_eq!(found, left, "on {}, {lens:?}", device.name());
        assert_eq!(says, said, "on {}, {lens:?}", device.name());
    }
    said
}

#[test]
fn every_number_of_turns() {
    for len in (1..20).chain([61, 64, 67]) {
        for spec in [ThreadSpec::new(1, 1), ThreadSpec::new(2, 2)] {
            agrees([len, len], &move |queue, x, y| queue.launch(spec, copied(x, y)));
            agrees([len, len], &move |queue, x, y| queue.launch(spec, added(x, y)));
            agrees([4, len], &move |queue, x, y| queue.launch(spec, summed(&*x, y)));
            agrees([len, len], &move |queue, x, y| queue.launch(spec, shifted(&*x, y)));
            agrees([len + 1, len], &move |queue, x, y| queue.launch(spec, loads_what_turns_store(&*x, y)));
        }
    }
}

/// The fault that is reported is that of the first turn, whatever was loaded before.
#[test]
fn faults_in_order() {
    let one = ThreadSpec::new(1, 1);
    for there in 0..14 {
        let said = agrees([14, there.max(1)], &move |queue, x, y| queue.launch(one, copied(x, y)));
        assert!(said.contains(&format!("index {}", there.max(1))), "{said}");
    }
    // In turn 2, and in 3 beyond the end; in 6, and in 5 beyond the end.
    for (bad, there, first) in [(2, 3, "not this one"), (6, 5, "index 5"), (5, 6, "not this one")] {
        let said = agrees([14, there], &move |queue, x, y| queue.launch(one, asserted(x, y, bad)));
        assert!(said.contains(first), "{said}");
    }
}

/// Steps and ends that leave no room above them do not overflow.
#[test]
fn near_the_greatest_number() {
    let most = u32::MAX;
    let steps = [1, 2, 3, 7, 0x4000_0000, 0x5555_5554, 0x5555_5555, 0x5555_5556, 0x8000_0000, most];
    for step in steps {
        for begin in [0, most - 27, most - 4, most - 3, most - 1] {
            let end = if step < 8 { begin.saturating_add(40) } else { most };
            let launch = move |queue: &Queue, x: &mut Buffer<u32>, y: &Buffer<u32>| {
                queue.launch(ThreadSpec::new(1, 1), stepped(&*x, y, begin, end, step))
            };
            assert_eq!(agrees([2, 4], &launch), "");
        }
    }
}
