//! Host tasks that wait for other queues: those that would wait for themselves are refused.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use wattle::Result;
use wattle::prelude::*;

use crate::harness::{Case, Outcome, says};
use crate::kernels::owns;
use crate::queues::four;

pub const CASES: &[Case] = &[
    ("host tasks of two queues that wait for each other are told so", tasks_wait_for_each_other),
    ("a host task that waits for what comes after it is told so", task_waits_for_later),
    ("a host task that waits for another's queue in good order", tasks_wait_in_order),
];

fn tasks_wait_for_each_other(device: &Device) -> Outcome {
    let make_line = line!() + 1;
    let make = |blocking| if blocking { device.queue() } else { device.queue_non_blocking() };
    for (one_blocks, other_blocks) in [(false, false), (true, false), (false, true), (true, true)] {
        let line = line!() + 1;
        let one = Arc::new(if one_blocks { device.queue()? } else { device.queue_non_blocking()? });
        let other = Arc::new(make(other_blocks)?);
        let errors = Arc::new(Mutex::new(Vec::new()));
        let (uses_one, uses_other, seen, inner_seen) = (one.clone(), other.clone(), errors.clone(), errors.clone());
        let task = move || {
            let keep = |errors: &Mutex<Vec<_>>, result: Result<()>| errors.lock().unwrap().extend(result.err());
            let inner = move || {
                keep(&inner_seen, uses_one.wait());
                Ok(())
            };
            keep(&seen, uses_other.host_task(inner).and_then(|()| uses_other.wait()));
            Ok(())
        };
        one.host_task(task)?;
        one.wait()?;
        other.wait()?;
        let errors = errors.lock().unwrap();
        // One of the two waits is refused, so that the other one ends.
        assert_eq!(errors.len(), 1, "{errors:?}");
        let names = [format!("waiting_tasks.rs:{line}"), format!("waiting_tasks.rs:{make_line}")];
        says(&errors[0], &[&names[0], &names[1], "wait for ever", device.name()]);
    }
    Ok(())
}

fn task_waits_for_later(device: &Device) -> Outcome {
    let (one, other) = (device.queue_non_blocking()?, Arc::new(device.queue_non_blocking()?));
    let (ready, go) = channel::<wattle::Event>();
    let waits = other.clone();
    let errors = Arc::new(Mutex::new(Vec::new()));
    let seen = errors.clone();
    one.host_task(move || {
        let Ok(event) = go.recv() else { return Ok(()) };
        seen.lock().unwrap().extend([waits.wait(), event.wait()].into_iter().filter_map(Result::err));
        Ok(())
    })?;
    let event = one.record()?;
    other.wait_for(&event)?;
    ready.send(event).map_err(|_| Error::check("the task is gone"))?;
    one.wait()?;
    other.wait()?;
    let errors = errors.lock().unwrap();
    assert_eq!(errors.len(), 2, "{errors:?}");
    errors.iter().for_each(|error| says(error, &["wait for ever"]));
    Ok(())
}

fn tasks_wait_in_order(device: &Device) -> Outcome {
    for blocking in [false, true] {
        let one = Arc::new(if blocking { device.queue()? } else { device.queue_non_blocking()? });
        let other = Arc::new(device.queue_non_blocking()?);
        let mut x = device.alloc_zeroed::<u32>(4)?;
        let early = one.record()?;
        one.launch(four(), owns(&mut x))?;
        let (uses_one, uses_other) = (one.clone(), other.clone());
        // The other's task waits for this queue, but the task here does not wait for the other.
        one.host_task(move || {
            early.wait()?;
            uses_other.host_task(move || uses_one.wait())
        })?;
        one.wait()?;
        other.wait()?;
        assert_eq!(x.read(&one)?, [1; 4]);
    }
    Ok(())
}
