//! Uses that conflict and that nothing orders are refused at enqueue; all others are accepted.

use wattle::prelude::*;
use wattle::{DeviceKind, ErrorKind, Result, View, ViewMut};

use crate::harness::{Case, Outcome, is_small, kind, not_possible, refused, says};
use crate::kernels::{
    counts, counts_with_host, owns, owns_box, owns_two, reads, reads_and_owns, reads_two, shares, shares_and_counts,
};

pub const CASES: &[Case] = &[
    ("each conflicting pair is refused, each other is accepted", pairs),
    ("the same queue orders", |device| ordered(device, |first, _, _| Ok(first))),
    ("an event orders", |device| ordered(device, by_event)),
    ("waiting for the queue orders", |device| ordered(device, by_wait)),
    ("waiting for an event on the host orders", |device| ordered(device, by_event_wait)),
    ("events order by transitivity", |device| ordered(device, by_transitivity)),
    ("an event orders what came before it, and not what comes after", event_is_a_point),
    ("waiting for a queue that waited for another orders", waiting_is_transitive),
    ("disjoint slices and boxes are accepted, overlapping ones refused", parts),
    ("overlapping views within one launch are refused", within_one_launch),
    ("overlapping views of a kernel and its host part are refused", with_a_host_part),
    ("a copy onto itself is refused", copy_onto_itself),
    ("guards and work on the device", guards),
    ("a refused launch leaves no trace", no_trace),
    ("a refused launch leaves earlier uses in place", earlier_uses_stay),
    ("buffers of another device are refused", wrong_device),
];

/// What is done to a buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Use {
    Read,
    PerItem,
    Shared,
    Atomic,
    Fill,
    CopyTo,
    CopyFrom,
    FromHost,
    ToHost,
}
use Use::{Atomic as AtomicUse, CopyFrom, CopyTo, Fill, FromHost, PerItem as PerItemUse, Read as ReadUse};

pub const ALL: [Use; 9] = [ReadUse, PerItemUse, Use::Shared, AtomicUse, Fill, CopyTo, CopyFrom, FromHost, Use::ToHost];

impl Use {
    /// A letter for uses that go together, and whether they do with themselves.
    fn access(self) -> (char, bool) {
        match self {
            ReadUse | CopyFrom | Use::ToHost => ('r', true),
            Use::Shared => ('s', true),
            AtomicUse => ('a', true),
            PerItemUse | Fill | CopyTo | FromHost => ('w', false),
        }
    }

    pub fn conflicts(self, other: Use) -> bool {
        self.access().0 != other.access().0 || !self.access().1
    }

    /// What a message must say of it.
    pub fn words(self) -> &'static [&'static str] {
        match self {
            ReadUse => &["the launch of `reads`", "parameter `x`: Read"],
            PerItemUse => &["the launch of `owns`", "parameter `x`: PerItem"],
            Use::Shared => &["the launch of `shares`", "parameter `x`: Shared"],
            AtomicUse => &["the launch of `counts`", "parameter `x`: Atomic"],
            Fill => &["a fill"],
            CopyTo => &["a copy (destination)"],
            CopyFrom => &["a copy (source)"],
            FromHost => &["a copy from the host"],
            Use::ToHost => &["a copy to the host"],
        }
    }

    #[track_caller]
    pub fn enqueue(self, queue: &Queue, x: &mut ViewMut<u32>, seen: &View<u32>) -> Result<()> {
        let spec = FrameSpec::cover(4, 2);
        // Another buffer for each, so that the other end conflicts with nothing.
        match self {
            ReadUse => queue.launch(spec, reads(seen)),
            PerItemUse => queue.launch(spec, owns(x)),
            Use::Shared => queue.launch(spec, shares(seen)),
            AtomicUse => queue.launch(spec, counts(seen)),
            Fill => queue.fill(x, 7),
            CopyTo => queue.copy(x, &queue.device().alloc_zeroed::<u32>(4)?),
            CopyFrom => queue.copy(&mut queue.device().alloc::<u32>(4)?, seen),
            FromHost => queue.copy_from_host(x, &[1, 2, 3, 4]),
            Use::ToHost => queue.copy_to_host(&mut [0; 4], seen),
        }
    }
}

pub struct Data {
    pub exclusive: ViewMut<u32>,
    pub view: View<u32>,
}

pub fn data(device: &Device) -> Result<Data> {
    let mut buffer = device.alloc_zeroed::<u32>(4)?;
    Ok(Data { exclusive: buffer.view_mut(), view: buffer.view() })
}

/// The pairs that are tried.
fn all_pairs() -> impl Iterator<Item = (Use, Use)> {
    let every = if is_small() { 2 } else { 1 };
    let all = ALL.into_iter().flat_map(|first| ALL.into_iter().map(move |second| (first, second)));
    all.step_by(every)
}

pub fn here(line: u32) -> String {
    format!("clocks.rs:{line}")
}

fn pairs(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    for (first, second) in all_pairs() {
        let Data { mut exclusive, view } = data(device)?;
        let lines = [line!() + 1, line!() + 2];
        first.enqueue(&one, &mut exclusive, &view)?;
        let result = second.enqueue(&two, &mut exclusive, &view);
        // The host has waited for a copy to the host.
        if first.conflicts(second) && first != Use::ToHost {
            let error = match result {
                Ok(()) => panic!("{first:?} then {second:?} was accepted"),
                Err(error) => error,
            };
            kind!(error, ErrorKind::Conflict { .. });
            says(&error, first.words());
            says(&error, second.words());
            says(&error, &[&here(lines[0]), &here(lines[1]), "help: wait for the first"]);
            let ErrorKind::Conflict { first: named, second: also, .. } = error.kind() else { unreachable!() };
            assert!(named.contains(&here(lines[0])) && also.contains(&here(lines[1])), "the wrong way round: {error}");
            // It can be done once the first is over.
            one.wait()?;
            second.enqueue(&two, &mut exclusive, &view)?;
        } else if let Err(error) = result {
            panic!("{first:?} then {second:?} was refused: {error}");
        }
        two.wait()?;
        one.wait()?;
    }
    Ok(())
}

/// Chooses the queue for the second use, after the first was enqueued on the first queue.
type Order = for<'q> fn(&'q Queue, &'q Queue, &'q Queue) -> Result<&'q Queue>;

fn by_event<'q>(one: &'q Queue, two: &'q Queue, _: &'q Queue) -> Result<&'q Queue> {
    two.wait_for(&one.record()?)?;
    Ok(two)
}

fn by_wait<'q>(one: &'q Queue, two: &'q Queue, _: &'q Queue) -> Result<&'q Queue> {
    one.wait()?;
    Ok(two)
}

fn by_event_wait<'q>(one: &'q Queue, two: &'q Queue, _: &'q Queue) -> Result<&'q Queue> {
    let event = one.record()?;
    event.wait()?;
    assert!(event.is_complete());
    Ok(two)
}

fn by_transitivity<'q>(one: &'q Queue, two: &'q Queue, three: &'q Queue) -> Result<&'q Queue> {
    three.wait_for(&one.record()?)?;
    two.wait_for(&three.record()?)?;
    Ok(two)
}

fn ordered(device: &Device, order: Order) -> Outcome {
    let queue = || device.queue_non_blocking();
    let (one, two, three) = (queue()?, queue()?, queue()?);
    for (first, second) in all_pairs() {
        let Data { mut exclusive, view } = data(device)?;
        first.enqueue(&one, &mut exclusive, &view)?;
        let next = order(&one, &two, &three)?;
        if let Err(error) = second.enqueue(next, &mut exclusive, &view) {
            panic!("{first:?} then {second:?} was refused: {error}");
        }
        for queue in [&one, &two, &three] {
            queue.wait()?;
        }
    }
    Ok(())
}

fn event_is_a_point(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let Data { mut exclusive, view } = data(device)?;
    let before = one.record()?;
    PerItemUse.enqueue(&one, &mut exclusive, &view)?;
    two.wait_for(&before)?;
    kind!(refused(ReadUse.enqueue(&two, &mut exclusive, &view)), ErrorKind::Conflict { .. });
    // What one queue learned of another it does not give back.
    let (mut other, mut others) = (data(device)?, data(device)?);
    PerItemUse.enqueue(&two, &mut other.exclusive, &other.view)?;
    two.wait_for(&one.record()?)?;
    ReadUse.enqueue(&two, &mut exclusive, &view)?;
    kind!(refused(ReadUse.enqueue(&one, &mut other.exclusive, &other.view)), ErrorKind::Conflict { .. });
    // Waiting for an event of before is not waiting for the queue.
    let early = one.record()?;
    PerItemUse.enqueue(&one, &mut others.exclusive, &others.view)?;
    early.wait()?;
    kind!(refused(ReadUse.enqueue(&two, &mut others.exclusive, &others.view)), ErrorKind::Conflict { .. });
    one.wait()?;
    Ok(two.wait()?)
}

fn waiting_is_transitive(device: &Device) -> Outcome {
    let queue = || device.queue_non_blocking();
    let (one, two, three) = (queue()?, queue()?, queue()?);
    let Data { mut exclusive, view } = data(device)?;
    PerItemUse.enqueue(&one, &mut exclusive, &view)?;
    two.wait_for(&one.record()?)?;
    kind!(refused(ReadUse.enqueue(&three, &mut exclusive, &view)), ErrorKind::Conflict { .. });
    two.wait()?;
    ReadUse.enqueue(&three, &mut exclusive, &view)?;
    Ok(three.wait()?)
}

fn parts(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let spec = FrameSpec::cover(4, 2);
    let mut line = device.alloc_zeroed::<u32>(10)?;
    one.launch(spec, owns(&mut line.slice_mut(2..5)?))?;
    two.launch(spec, owns(&mut line.slice_mut(5..10)?))?;
    two.launch(spec, reads(&line.slice(0..2)?))?;
    let overlapping = [0..3, 3..4, 4..5, 4..10, 0..10, 2..5];
    for range in overlapping {
        let error = refused(two.launch(spec, shares(&line.slice(range)?)));
        kind!(error, ErrorKind::Conflict { .. });
    }
    one.wait()?;
    two.wait()?;
    assert_eq!(line.read(&one)?, [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);

    // Left and right halves are interleaved in memory, and disjoint all the same.
    let mut plane = device.alloc_zeroed_nd::<u32, 2>([4, 6])?;
    let spec = FrameSpec::cover([4, 3], [2, 2]);
    one.launch(spec, owns_box(&mut plane.region_mut([0, 0], [4, 3])?))?;
    two.launch(spec, owns_box(&mut plane.region_mut([0, 3], [4, 6])?))?;
    for (begin, end) in [([3, 2], [4, 4]), ([0, 0], [1, 1]), ([0, 0], [4, 6]), ([1, 2], [2, 3])] {
        let error = refused(two.launch(spec, owns_box(&mut plane.region_mut(begin, end)?)));
        kind!(error, ErrorKind::Conflict { .. });
    }
    one.wait()?;
    two.wait()?;
    assert_eq!(plane.read(&one)?, [1; 24]);
    Ok(())
}

fn within_one_launch(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let spec = FrameSpec::cover(4, 2);
    let mut x = device.alloc_zeroed::<u32>(8)?;
    let mut exclusive = x.view_mut();
    let line = line!() + 1;
    let error = refused(queue.launch(spec, reads_and_owns(&x, &mut exclusive)));
    kind!(error, ErrorKind::Conflict { .. });
    says(&error, &["`reads_and_owns`", "`from`: Read", "`to`: PerItem", &here(line), "help: give each parameter"]);
    let error = refused(queue.launch(spec, shares_and_counts(&x, &x)));
    says(&error, &["`shares_and_counts`", "`plain`: Shared", "`word`: Atomic"]);
    let overlapping = (x.slice_mut(0..5)?, x.slice_mut(4..8)?);
    says(&refused(queue.launch(spec, owns_two(overlapping.0, overlapping.1))), &["`x`: PerItem", "`y`: PerItem"]);
    // Not a trace of that.
    queue.launch(spec, reads_two(&x, &x))?;
    let disjoint = (x.slice_mut(0..4)?, x.slice_mut(4..8)?);
    queue.launch(spec, owns_two(disjoint.0, disjoint.1))?;
    queue.launch(spec, shares_and_counts(&x.slice(0..1)?, &x.slice(1..2)?))?;
    assert_eq!(x.read(&queue)?[2..], [1; 6]);
    Ok(())
}

fn with_a_host_part(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let spec = ThreadSpec::new(2, 1);
    let x = match device.alloc_host_mapped::<u32, 1>(4) {
        Ok(x) => x,
        Err(error) => return not_possible(error.to_string()),
    };
    let start = |host: bool| {
        if host {
            queue.launch_with_host(LaunchOptions::new(), spec, counts(&x), shares(&x))
        } else {
            queue.launch_with_host(LaunchOptions::new(), spec, counts_with_host(&x), counts_with_host(&x))
        }
    };
    let error = refused(start(true));
    kind!(error, ErrorKind::Conflict { .. });
    says(&error, &["the launch of `counts`", "the launch of `shares`", "`x`: Atomic", "`x`: Shared"]);
    start(false)?;
    assert_eq!(x.read(&queue)?, [3, 0, 0, 0]);
    Ok(())
}

fn copy_onto_itself(device: &Device) -> Outcome {
    let queue = device.queue()?;
    let mut x = device.from_slice(&[1u32, 2, 3, 4])?;
    let (to, from) = (x.slice_mut(1..4)?, x.slice(0..3)?);
    let error = refused(queue.copy(to, &from));
    says(&error, &["a copy (source)", "a copy (destination)", "clocks.rs"]);
    let (to, from) = (x.slice_mut(2..4)?, x.slice(0..2)?);
    queue.copy(to, &from)?;
    assert_eq!(x.read(&queue)?, [1, 2, 1, 2]);
    Ok(())
}

fn guards(device: &Device) -> Outcome {
    let mut x = match device.alloc_unified::<u32, 1>(4) {
        Ok(x) => x,
        Err(error) => return not_possible(error.to_string()),
    };
    if let Err(error) = x.map() {
        kind!(error, ErrorKind::Capability { .. });
        return not_possible(error.to_string());
    }
    let queue = device.queue_non_blocking()?;
    let (mut exclusive, view) = (x.view_mut(), x.view());
    for second in ALL {
        // While the guard is there, and once it is dropped.
        let line = line!() + 1;
        let guard = x.map()?;
        let result = second.enqueue(&queue, &mut exclusive, &view);
        if second.conflicts(ReadUse) {
            let error = refused(result);
            says(&error, &["a host guard (`map`)", &here(line), "help: drop the guard first"]);
            says(&error, second.words());
        } else {
            result?;
        }
        drop(guard);
        second.enqueue(&queue, &mut exclusive, &view)?;
        // While the work is there, and once it has been waited for.
        if second.conflicts(ReadUse) {
            let error = refused(x.map());
            says(&error, second.words());
            says(&error, &["a host guard (`map`)", "queue.wait()"]);
        } else if second != Use::ToHost {
            drop(x.map()?);
        }
        if second != Use::ToHost {
            says(&refused(x.map_mut()), &["a host guard (`map_mut`)"]);
        }
        queue.wait()?;
        let mut guard = x.map_mut()?;
        guard[3] = 100;
        let error = refused(second.enqueue(&queue, &mut exclusive, &view));
        says(&error, &["a host guard (`map_mut`)", "help: drop the guard first"]);
        says(&error, second.words());
        drop(guard);
        second.enqueue(&queue, &mut exclusive, &view)?;
        queue.wait()?;
    }
    let shared = (x.map()?, x.map()?);
    assert_eq!(shared.0[3], shared.1[3]);
    Ok(())
}

fn no_trace(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let spec = FrameSpec::cover(4, 2);
    let (mut a, mut b, mut c) = (data(device)?, device.alloc_zeroed::<u32>(4)?, data(device)?);
    // `from` is free and is recorded first, `to` is in use: the launch is refused, and `from` is free as before.
    PerItemUse.enqueue(&one, &mut c.exclusive, &c.view)?;
    kind!(refused(two.launch(spec, reads_and_owns(&a.view, &mut c.exclusive))), ErrorKind::Conflict { .. });
    kind!(refused(two.copy(&mut c.exclusive, &a.view)), ErrorKind::Conflict { .. });
    PerItemUse.enqueue(&one, &mut a.exclusive, &a.view)?;
    // Nor does it keep what it was given alive, or in order: this is accepted, whatever the other queue waits for.
    two.launch(spec, owns(&mut b))?;
    one.wait()?;
    two.wait()?;
    two.launch(spec, reads_and_owns(&a.view, &mut c.exclusive))?;
    two.wait()?;
    assert_eq!(b.read(&two)?, [1; 4]);
    Ok(())
}

fn earlier_uses_stay(device: &Device) -> Outcome {
    let (one, two) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let spec = FrameSpec::cover(4, 2);
    let (mut x, mut sink, mut busy) = (data(device)?, device.alloc_zeroed::<u32>(4)?, data(device)?);
    PerItemUse.enqueue(&two, &mut busy.exclusive, &busy.view)?;
    // The first queue reads `x`. A launch there which reads it too is refused because of another buffer, so is a copy.
    one.launch(spec, reads_and_owns(&x.view, &mut sink))?;
    kind!(refused(one.launch(spec, reads_and_owns(&x.view, &mut busy.exclusive))), ErrorKind::Conflict { .. });
    kind!(refused(one.copy(&mut busy.exclusive, &x.view)), ErrorKind::Conflict { .. });
    // The first still reads.
    let error = refused(PerItemUse.enqueue(&two, &mut x.exclusive, &x.view));
    says(&error, &["`reads_and_owns`", "parameter `from`: Read"]);
    one.wait()?;
    PerItemUse.enqueue(&two, &mut x.exclusive, &x.view)?;
    Ok(two.wait()?)
}

fn wrong_device(device: &Device) -> Outcome {
    let is_host = device.properties().kind == DeviceKind::Host;
    let other = if is_host { Device::select("simulated")? } else { Device::host() };
    let queue = device.queue()?;
    let mut foreign = other.alloc_zeroed::<u32>(4)?;
    let error = refused(queue.launch(FrameSpec::cover(4, 2), owns(&mut foreign)));
    kind!(error, ErrorKind::WrongDevice { .. });
    let both = format!("device `{}` on device `{}`", other.name(), device.name());
    says(&error, &["parameter `x` of `owns`", "clocks.rs", &both]);
    says(&refused(queue.fill(&mut foreign, 1)), &["a fill", &both]);
    says(&refused(foreign.read(&queue)), &["a copy to the host", &both]);
    says(&refused(foreign.write(&queue, &[1; 4])), &["a copy from the host", &both]);
    let source = other.alloc_zeroed::<u32>(4)?;
    says(&refused(queue.copy(&mut foreign, &source)), &["a copy", &both]);
    // A copy between the two is what helps, on a queue of either.
    queue.fill(&mut device.alloc::<u32>(4)?, 1)?;
    let mut own = device.alloc::<u32>(4)?;
    other.queue()?.fill(&mut foreign, 5)?;
    queue.copy(&mut own, &foreign)?;
    queue.launch(FrameSpec::cover(4, 2), owns(&mut own))?;
    other.queue()?.copy(&mut foreign, &own)?;
    assert_eq!(foreign.read(&other.queue()?)?, [6; 4]);
    Ok(())
}
