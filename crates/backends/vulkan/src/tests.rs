//! Tests of internals: counters, and rare events.

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use ash::vk;
use wattle::prelude::*;
use wattle_core::queue::Executor as _;
use wattle_core::{ErrorKind, Kernel, Spec, lock};

use crate::backend::VulkanBackend;
use crate::context::Context;
use crate::executor::Executor;
use crate::validation;

/// The devices of this crate as it is tested, which differ from those that `wattle` is linked with.
///
/// One test at a time holds them, since some make them unusable for a while.
fn contexts() -> (Vec<(Device, Arc<Context>)>, MutexGuard<'static, ()>) {
    static ALONE: Mutex<()> = Mutex::new(());
    let alone = lock(&ALONE);
    let found = crate::survey();
    for missing in &found.missing {
        test_skips::skipped(&missing.reason);
    }
    let opened = |device: Device| {
        let backend = device.backend().as_any().downcast_ref::<VulkanBackend>().unwrap();
        let context = backend.context().unwrap().clone();
        (device, context)
    };
    (found.devices.into_iter().map(opened).collect(), alone)
}

#[kernel]
fn adds(acc: &Acc, x: Shared<u32>, y: Shared<u32>, summand: u32) {
    let thread = acc.thread_in_grid();
    y[thread] = x[thread] + summand;
}

fn launch(executor: &mut Executor, kernel: Arc<dyn Kernel>, options: LaunchOptions) {
    // SAFETY: tests wait for their launches before they use the buffers otherwise.
    let launched = unsafe { executor.launch(&kernel, &ThreadSpec::<1>::new(1, 4).shape().unwrap(), &options) };
    executor.keep(launched);
}

#[test]
fn descriptors_are_used_again() {
    let (all, _alone) = contexts();
    for (device, context) in all {
        let mut executor = Executor::new(&context).unwrap();
        let [x, y, z] = [(); 3].map(|()| device.alloc_zeroed::<u32>(4).unwrap());
        let mut counts = |kernel| {
            launch(&mut executor, kernel, LaunchOptions::new());
            (executor.descriptors.written, executor.descriptors.found)
        };
        assert_eq!(counts(adds(&x, &y, 1).to_arc()), (1, 0));
        assert_eq!(counts(adds(&x, &y, 2).to_arc()), (1, 1), "the second launch has nothing to write");
        assert_eq!(counts(adds(&y, &z, 3).to_arc()), (2, 1));
        assert_eq!(counts(adds(&x, &y, 4).to_arc()), (2, 2));
        assert_eq!(counts(adds(x.slice(1..4).unwrap(), &z, 1).to_arc()), (3, 2));
        assert_eq!(counts(adds(x.slice(0..2).unwrap(), &z, 1).to_arc()), (3, 3), "parts share their buffer's");
        executor.drain();
        // Threads beyond the dispatched parts are reported.
        let error = executor.errors().take().unwrap().to_string();
        assert!(error.contains("index 3 of `x`, which has extent 3"), "{error}");
        // A buffer that reuses the address of a freed one is another buffer.
        drop(x);
        let again = device.alloc_zeroed::<u32>(4).unwrap();
        launch(&mut executor, adds(&again, &y, 5).to_arc(), LaunchOptions::new());
        executor.drain();
        assert_eq!(executor.descriptors.written, 4);
        assert!(executor.errors().take().is_none());
        assert_eq!(y.read(&device.queue().unwrap()).unwrap(), [5; 4]);
    }
}

#[test]
fn more_descriptors_than_are_kept() {
    let (all, _alone) = contexts();
    for (device, context) in all {
        let mut executor = Executor::new(&context).unwrap();
        let x = device.from_slice(&[1u32; 4]).unwrap();
        let count = 4200;
        for number in 0..count {
            let y = device.alloc::<u32>(4).unwrap();
            launch(&mut executor, adds(&x, &y, number).to_arc(), LaunchOptions::new());
            if number + 1 == count {
                executor.drain();
                assert_eq!(y.read(&device.queue().unwrap()).unwrap(), [number + 1; 4]);
            }
        }
        assert!(executor.errors().take().is_none());
        assert_eq!((executor.descriptors.written, executor.descriptors.found), (count.into(), 0));
    }
}

#[test]
fn a_device_that_is_stuck() {
    let (all, _alone) = contexts();
    for (device, context) in all {
        let mut executor = Executor::new(&context).unwrap();
        let [x, y] = [(); 2].map(|()| device.alloc_zeroed::<u32>(4).unwrap());
        // This is as if a launch that ends with the next submission had not ended when it was asked to.
        let next = context.completed(executor.lane).unwrap() + 1;
        context.give_up(executor.lane, next, "endless");
        launch(&mut executor, adds(&x, &y, 1).to_arc(), LaunchOptions::new());
        let error = executor.errors().take().unwrap();
        assert!(matches!(error.kind(), ErrorKind::DeviceUnusable { .. }), "{error}");
        assert!(error.to_string().contains("kernel `endless` was asked to end and still runs"), "{error}");
        assert!(Executor::new(&context).is_err(), "no queue either");
        assert!(device.alloc::<u32>(1).is_err(), "nor memory");
        // The launch has ended, and the device is usable again.
        let commands = executor.slots.record(&context, 15, None).unwrap();
        let number = context.submit(executor.lane, commands).unwrap();
        while !context.wait(executor.lane, number, Duration::from_secs(1)).unwrap() {}
        launch(&mut executor, adds(&x, &y, 1).to_arc(), LaunchOptions::new());
        executor.drain();
        assert!(executor.errors().take().is_none());
        assert_eq!(y.read(&device.queue().unwrap()).unwrap(), [1; 4]);
    }
}

/// A kernel whose loop has a bound, so that it does not check whether it should end.
#[kernel]
fn toils(acc: &Acc, sums: Atomic<u32>, turns: u32) {
    for turn in 0..turns {
        for more in 0..turns {
            sums.fetch_add(acc.linear_thread_in_grid(), turn ^ more);
        }
    }
}

#[test]
fn a_launch_that_does_not_end() {
    let (all, _alone) = contexts();
    for (device, context) in all {
        if context.physical.features.workarounds.loops_end_after.is_some() || !context.is_software() {
            eprintln!("not possible: {} ends long loops, or long launches, itself", device.name());
            continue;
        }
        let mut executor = Executor::new(&context).unwrap();
        let sums = device.alloc_zeroed::<u32>(4).unwrap();
        let mut shared = device.alloc_unified::<u32, 1>(4).unwrap();
        // The number of iterations is chosen to take a second or two.
        let began = Instant::now();
        launch(&mut executor, toils(&sums, 2000).to_arc(), LaunchOptions::new().no_time_limit());
        executor.drain();
        let turns = (2000.0 * (1.5 / began.elapsed().as_secs_f64()).sqrt()) as u32;
        launch(
            &mut executor,
            toils(&sums, turns).to_arc(),
            LaunchOptions::new().time_limit(Duration::from_millis(100)),
        );
        launch(&mut executor, toils(&sums, 1).to_arc(), LaunchOptions::new());
        executor.drain();
        let error = executor.errors().take().unwrap();
        assert!(matches!(error.kind(), ErrorKind::TimeLimit { .. }), "{error}");
        assert!(error.to_string().contains("kernel `toils` did not end within 100ms"), "{error}");
        // The host may not access what the launch still writes.
        let refused = shared.map_mut().map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("kernel `toils` was asked to end and still runs"), "{refused}");
        // Buffers that the launch uses stay alive as long as it runs, although they are dropped here.
        drop(sums);
        let refused = device.alloc::<u32>(1).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains("`toils`"), "{refused}");
        while context.usable().is_err() {
            std::thread::sleep(Duration::from_millis(20));
        }
        let [x, y] = [(); 2].map(|()| device.alloc_zeroed::<u32>(4).unwrap());
        launch(&mut executor, adds(&x, &y, 6).to_arc(), LaunchOptions::new());
        executor.drain();
        assert!(executor.errors().take().is_none());
        assert_eq!(y.read(&device.queue().unwrap()).unwrap(), [6; 4]);
    }
}

#[test]
fn queues_are_spread_over_the_lanes() {
    let (all, _alone) = contexts();
    for (_, context) in all {
        let lanes = context.physical.family.compute_queues as usize;
        // Other tests may have queues here, so only this is certain: two new queues use different lanes if there are
        // two.
        let (first, passing) = (Executor::new(&context).unwrap(), Executor::new(&context).unwrap());
        drop(passing);
        let second = Executor::new(&context).unwrap();
        assert!(lanes < 2 || first.lane != second.lane);
    }
}

/// Runs one of these tests in a process of its own, with one more environment variable; `false` if this is that
/// process.
fn in_a_child(test: &str, variable: &str) -> bool {
    const CHILD: &str = "WATTLE_VULKAN_TEST_CHILD";
    if std::env::var_os(CHILD).is_some() {
        return false;
    }
    let mut command = std::process::Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("tests::{test}"), "--nocapture"]).env(CHILD, "1").env(variable, "1");
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    text.lines()
        .filter(|line| line.starts_with("skipped") || line.starts_with("not possible"))
        .for_each(|line| eprintln!("{line}"));
    assert!(output.status.success(), "{}\n{text}", output.status);
    assert!(String::from_utf8_lossy(&output.stdout).contains("running 1 test"), "no test has run\n{text}");
    true
}

#[test]
fn a_region_is_one_submission() {
    if in_a_child("a_region_is_one_submission", "WATTLE_VULKAN_STAGED") {
        return;
    }
    let (all, _alone) = contexts();
    for (device, context) in all {
        let queue = device.queue().unwrap();
        let mut x = device.alloc_zeroed_nd::<u32, 2>([300, 40]).unwrap();
        let mut y = device.alloc_zeroed_nd::<u32, 2>([300, 50]).unwrap();
        let lane = context.copy_lane();
        let submissions = |copy: &mut dyn FnMut()| {
            let before = context.submissions(lane);
            copy();
            context.submissions(lane) - before
        };
        let (begin, end) = ([10, 5], [290, 35]);
        let values: Vec<u32> = (0..280 * 30).collect();
        let mut back = vec![0u32; values.len()];
        let region = |x: &mut Buffer<u32, 2>| x.region_mut(begin, end).unwrap();
        assert_eq!(submissions(&mut || queue.copy_from_host(region(&mut x), &values).unwrap()), 1);
        assert_eq!(submissions(&mut || queue.copy(region(&mut y), x.region(begin, end).unwrap()).unwrap()), 1);
        assert_eq!(submissions(&mut || queue.copy_to_host(&mut back, y.region(begin, end).unwrap()).unwrap()), 1);
        assert!(back == values);
        assert_eq!(submissions(&mut || queue.fill(region(&mut y), 7).unwrap()), 1);
        assert_eq!(y.read(&queue).unwrap().iter().filter(|&&y| y == 7).count(), values.len());
        // Copies between devices are read at once and written at once.
        let mut host = Device::host().alloc_zeroed_nd::<u32, 2>([300, 40]).unwrap();
        assert_eq!(submissions(&mut || queue.copy(region(&mut host), x.region(begin, end).unwrap()).unwrap()), 1);
        assert_eq!(submissions(&mut || queue.copy(region(&mut y), host.region(begin, end).unwrap()).unwrap()), 1);
        queue.copy_to_host(&mut back, y.region(begin, end).unwrap()).unwrap();
        assert!(back == values);
        // This has more runs than fit into one submission.
        let mut long = device.alloc_nd::<u32, 2>([70, 40_000]).unwrap();
        let values: Vec<u32> = (0..60 * 30_000).collect();
        let mut back = vec![0u32; values.len()];
        let (begin, end) = ([5, 5], [65, 30_005]);
        let copied = submissions(&mut || queue.copy_from_host(long.region_mut(begin, end).unwrap(), &values).unwrap());
        assert_eq!(copied, 2);
        let copied = submissions(&mut || queue.copy_to_host(&mut back, long.region(begin, end).unwrap()).unwrap());
        assert_eq!(copied, 2);
        assert!(back == values);
    }
}

#[test]
fn validation_is_on() {
    if in_a_child("validation_is_on", "WATTLE_VULKAN_VALIDATION") {
        return;
    }
    let (all, _alone) = contexts();
    for (device, context) in all {
        let before = validation::validation_messages().len();
        // A buffer of no bytes, which Vulkan forbids and every driver here survives.
        let info = vk::BufferCreateInfo::default().usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        // SAFETY: the device is alive; the layer reports that the size is wrong, and drivers allocate no memory for it.
        unsafe {
            if let Ok(buffer) = context.device().create_buffer(&info, None) {
                context.device().destroy_buffer(buffer, None);
            }
        }
        let messages = validation::validation_messages();
        assert_eq!(messages.len(), before + 1, "{}: {messages:?}", device.name());
        assert!(messages[before].contains("VUID-VkBufferCreateInfo-size-00912"), "{messages:?}");
        // The layer also validates synchronization: two fills of the same words with nothing between them.
        two_fills(&context);
        let messages = validation::validation_messages();
        assert!(messages[before + 1..].iter().any(|message| message.contains("SYNC-HAZARD")), "{messages:?}");
    }
}

/// Records two fills without a barrier, and submits nothing.
fn two_fills(context: &Context) {
    let block = context.hidden.get().unwrap();
    let (pool, commands) = context.new_commands(1).unwrap();
    let begin = vk::CommandBufferBeginInfo::default();
    // SAFETY: the commands are new and are never submitted, and the buffer has 16 bytes.
    unsafe {
        let device = context.device();
        device.begin_command_buffer(commands[0], &begin).unwrap();
        device.cmd_fill_buffer(commands[0], block.buffer, 0, 4, 1);
        device.cmd_fill_buffer(commands[0], block.buffer, 0, 4, 2);
        device.end_command_buffer(commands[0]).unwrap();
        device.destroy_command_pool(pool, None);
    }
}
