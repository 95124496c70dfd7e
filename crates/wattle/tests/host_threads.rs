//! A scenario that uses the device in several threads of the host: in which order they come is nothing that is searched.

use std::time::Duration;

use wattle::ErrorKind;
use wattle::prelude::*;

#[kernel]
fn waits(_acc: &Acc, flag: Atomic<u32>) {
    while flag.load_with(0, Scope::Device, Order::Acquire) == 0 {}
}

#[kernel]
fn raises(_acc: &Acc, flag: Atomic<u32>) {
    flag.store_with(0, 1, Scope::Device, Order::Release);
}

fn raised_by_another_thread(device: &Device) -> Result<()> {
    let flag = device.alloc_zeroed::<u32>(1)?;
    let (one, other) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    one.launch(ThreadSpec::new(1, 1), waits(&flag))?;
    std::thread::scope(|scope| {
        let later = scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            other.launch(ThreadSpec::new(1, 1), raises(&flag))?;
            other.wait()
        });
        one.wait()?;
        later.join().expect("it does not panic")
    })
}

#[test]
fn is_not_judged() {
    for model in [Model::Portable, Model::Ptx, Model::Vulkan] {
        let error = Checker::new(model).check(raised_by_another_thread).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Capability { .. }), "{error}");
        assert!(error.to_string().contains("in several threads of the host"), "{error}");
    }
}
