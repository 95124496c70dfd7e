//! The memories that unordered writes leave: each of those that some order of the fences leaves, and all of their
//! combinations.

use wattle::checker::Verdict;
use wattle::memory::Target;
use wattle::prelude::*;

const PTX: Target = Target::Ptx { sm: 90 };

/// Each block writes its own cell and, behind a fence, the other one's.
#[kernel]
fn crossed(acc: &Acc, cells: Shared<u32>) {
    let block = acc.thread_in_grid();
    cells[block] = block + 1;
    acc.mem_fence(Scope::Device, Order::SeqCst);
    cells[1 - block] = block + 1;
}

#[test]
fn whichever_fence_is_first() {
    for never in [[1u32, 1], [2, 2]] {
        let run = move |device: &Device| -> Result<()> {
            let (queue, cells) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
            queue.launch(ThreadSpec::new(2, 1), crossed(&cells))?;
            assert_ne!(cells.read(&queue)?, never);
            Ok(())
        };
        // A race is no error for PTX. The two questions are mirror images.
        let report = Checker::for_target(PTX).check(run).expect("it can be judged");
        assert_eq!(report.verdict, Verdict::Violated, "{never:?}");
    }
}

#[kernel]
fn many(acc: &Acc, cells: Shared<u32>, count: u32) {
    for cell in 0..count {
        cells[cell] = acc.thread_in_grid() + 1;
    }
}

fn first_of(count: u32, value: u32) -> Verdict {
    let run = move |device: &Device| -> Result<()> {
        let (queue, cells) = (device.queue()?, device.alloc_zeroed::<u32>(20)?);
        queue.launch(ThreadSpec::new(2, 1), many(&cells, count))?;
        assert_ne!(cells.read(&queue)?[0], value);
        Ok(())
    };
    Checker::for_target(PTX).check(run).expect("it can be judged").verdict
}

#[test]
fn none_is_passed_over() {
    for value in [1, 2] {
        assert_eq!(first_of(11, value), Verdict::Violated, "{value}");
    }
    // There are 2^20 of them, and not all are kept.
    assert_ne!(first_of(20, 3), Verdict::Holds);
}
