//! What the clocks keep of queues that are gone, of the tasks of a queue, and of launches that were refused.

use wattle::prelude::*;
use wattle::{ErrorKind, ViewMut};

use crate::clocks::Use::{PerItem as PerItemUse, Read as ReadUse};
use crate::clocks::{ALL, Data, data};
use crate::harness::{Case, Outcome, kind, refused, size};
use crate::kernels::reads_and_owns;

pub const CASES: &[Case] = &[
    ("queues that are gone still count", dropped_queue),
    ("the work of a queue that is gone without an event is waited for", dropped_without_event),
    ("what a host task enqueues elsewhere comes after what its queue did", task_orders),
    ("other threads never see a launch that is refused in the end", refused_is_never_seen),
    ("short-lived queues that order each other", short_lived),
];

fn dropped_queue(device: &Device) -> Outcome {
    let Data { mut exclusive, view } = data(device)?;
    let gone = device.queue_non_blocking()?;
    PerItemUse.enqueue(&gone, &mut exclusive, &view)?;
    let event = gone.record()?;
    drop(gone);
    let queue = device.queue()?;
    kind!(refused(ReadUse.enqueue(&queue, &mut exclusive, &view)), ErrorKind::Conflict { .. });
    event.wait()?;
    let mut seen = [0; 4];
    queue.copy_to_host(&mut seen, &view)?;
    assert_eq!(seen, [1; 4]);
    Ok(())
}

fn dropped_without_event(device: &Device) -> Outcome {
    for second in ALL {
        let Data { mut exclusive, view } = data(device)?;
        let gone = device.queue_non_blocking()?;
        PerItemUse.enqueue(&gone, &mut exclusive, &view)?;
        drop(gone.record()?);
        PerItemUse.enqueue(&gone, &mut exclusive, &view)?;
        drop(gone);
        let queue = device.queue_non_blocking()?;
        second.enqueue(&queue, &mut exclusive, &view)?;
        queue.wait()?;
        if !second.conflicts(ReadUse) {
            let mut seen = [0; 4];
            queue.copy_to_host(&mut seen, &view)?;
            assert_eq!(seen, [2; 4]);
        }
    }
    Ok(())
}

fn task_orders(device: &Device) -> Outcome {
    for blocking in [true, false] {
        let Data { mut exclusive, view } = data(device)?;
        let (one, two) = (device.queue_non_blocking()?, std::sync::Arc::new(device.queue_non_blocking()?));
        let own = if blocking { device.queue()? } else { device.queue_non_blocking()? };
        PerItemUse.enqueue(&one, &mut exclusive, &view)?;
        // Also what the task's queue has waited for.
        own.wait_for(&one.record()?)?;
        PerItemUse.enqueue(&own, &mut exclusive, &view)?;
        let (other, mut inner) = (two.clone(), data(device)?);
        let (sees, used) = (view.clone(), exclusive);
        own.host_task(move || {
            let mut used = used;
            PerItemUse.enqueue(&other, &mut used, &sees)?;
            PerItemUse.enqueue(&other, &mut inner.exclusive, &inner.view)
        })?;
        own.wait()?;
        two.wait()?;
        let mut seen = [0; 4];
        two.copy_to_host(&mut seen, &view)?;
        assert_eq!(seen, [3; 4]);
    }
    // What comes behind the task is not ordered before what the task enqueues.
    let Data { mut exclusive, view } = data(device)?;
    let (own, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (sender, receiver) = std::sync::mpsc::channel::<ViewMut<u32>>();
    let sees = view.clone();
    own.host_task(move || {
        let Ok(mut used) = receiver.recv() else { return Ok(()) };
        match PerItemUse.enqueue(&other, &mut used, &sees) {
            Err(error) if matches!(error.kind(), ErrorKind::Conflict { .. }) => Ok(()),
            _ => Err(wattle::Error::check("it was accepted")),
        }
    })?;
    PerItemUse.enqueue(&own, &mut exclusive, &view)?;
    sender.send(exclusive).map_err(|_| wattle::Error::check("the task is gone"))?;
    Ok(own.wait()?)
}

fn refused_is_never_seen(device: &Device) -> Outcome {
    let (one, two, busy) = (device.queue_non_blocking()?, device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (mut x, mut used) = (data(device)?, data(device)?);
    PerItemUse.enqueue(&busy, &mut used.exclusive, &used.view)?;
    let rounds = size(device, 3000, 300);
    std::thread::scope(|scope| -> Outcome {
        let sees = x.view.clone();
        let refused = scope.spawn(move || {
            (0..rounds).all(|_| {
                // `x` is free, and the other one is not.
                one.launch(FrameSpec::cover(4, 2), reads_and_owns(&sees, &mut used.exclusive)).is_err()
            })
        });
        for _ in 0..rounds {
            two.fill(&mut x.exclusive, 1)?;
        }
        assert!(refused.join().unwrap(), "it was accepted");
        Ok(())
    })?;
    two.wait()?;
    Ok(busy.wait()?)
}

fn short_lived(device: &Device) -> Outcome {
    let mut x = data(device)?;
    let main = device.queue_non_blocking()?;
    let rounds = size(device, 100, 10) as u32;
    for _ in 0..rounds {
        let short = device.queue_non_blocking()?;
        short.wait_for(&main.record()?)?;
        PerItemUse.enqueue(&short, &mut x.exclusive, &x.view)?;
        main.wait_for(&short.record()?)?;
        PerItemUse.enqueue(&main, &mut x.exclusive, &x.view)?;
    }
    let mut seen = [0; 4];
    main.copy_to_host(&mut seen, &x.view)?;
    assert_eq!(seen, [2 * rounds; 4]);
    Ok(())
}
