//! Advice on scenarios that launch modules' kernels: changes of the kernels, in the words of their sources.

use std::time::Duration;

use wattle_check::checker::{Advice, Checker};
use wattle_core::{Device, Result, ThreadSpec};
use wattle_foreign::Module;
use wattle_memory::Model;

/// The fixes of a scenario that is refuted.
fn fixes(model: Model, scenario: impl Fn(&Device) -> Result<()>) -> Vec<String> {
    let checker = Checker::new(model);
    let report = checker.assert_refuted(&scenario);
    let Advice { fixes, .. } = checker.advise(&scenario, &report, Duration::from_secs(30));
    fixes.iter().map(|fix| format!("{} of {}: {}", fix.site.line, fix.kernel, fix.text)).collect()
}

/// The lock of `spin_lock.cu` as textbooks have it, taken by two launches that run at the same time.
#[test]
fn launches_of_two_queues() {
    let text = include_str!("../cuda/spin_lock.ptx");
    let locked = fixes(Model::Ptx, |device| {
        let kernel = Module::ptx_file("spin_lock.ptx", text)?.kernel("textbook")?;
        let counter = device.alloc_zeroed::<i32>(1)?;
        let (first, second) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        first.launch(ThreadSpec::new(1, 1), kernel.args((&counter,)))?;
        second.launch(ThreadSpec::new(1, 1), kernel.args((&counter,)))?;
        first.wait()?;
        second.wait()?;
        assert_eq!(counter.read(&first)?, [2]);
        Ok(())
    });
    assert_eq!(
        locked,
        ["8 of textbook: add __threadfence() behind it", "15 of textbook: add __threadfence() before it"]
    );
}

/// A producer and a consumer, two kernels of one module or of two: each lacks its fence.
#[test]
fn kernels_that_are_wrong_together() {
    let give = ".visible .entry give(.param .u64 p)\n{ .reg .u64 %a;\nld.param.u64 %a, [p];\nst.global.u32 [%a], 7;\n\
                st.relaxed.gpu.global.u32 [%a+4], 1;\nret; }\n";
    let take = ".visible .entry take(.param .u64 p)\n{ .reg .u64 %a; .reg .u32 %x; .reg .pred %p;\nld.param.u64 %a, [p];\n\
                AGAIN:\nld.relaxed.gpu.global.u32 %x, [%a+4];\nsetp.eq.u32 %p, %x, 0;\n@%p bra AGAIN;\n\
                ld.global.u32 %x, [%a];\nst.global.u32 [%a+8], %x;\nret; }\n";
    let head = ".version 8.6\n.target sm_90\n.address_size 64\n";
    let (one, giving, taking) = (format!("{head}{give}{take}"), format!("{head}{give}"), format!("{head}{take}"));
    let scenario = |device: &Device, modules: [&str; 2]| {
        let give = Module::ptx_file("give.ptx", modules[0])?.kernel("give")?;
        let take = Module::ptx_file("take.ptx", modules[1])?.kernel("take")?;
        let words = device.alloc_zeroed::<u32>(3)?;
        let (first, second) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        first.launch(ThreadSpec::new(1, 1), give.args((&words,)))?;
        second.launch(ThreadSpec::new(1, 1), take.args((&words,)))?;
        first.wait()?;
        second.wait()?;
        assert_eq!(words.read(&first)?[2], 7);
        Ok(())
    };
    let of_two = fixes(Model::Ptx, |device| scenario(device, [&giving, &taking]));
    assert_eq!(of_two, ["8 of give: add __threadfence() before it", "8 of take: add __threadfence() behind it"],);
    // The lines of the second kernel come behind those of the first in one file.
    let of_one = fixes(Model::Ptx, |device| {
        let module = Module::ptx_file("both.ptx", one.as_str())?;
        let (give, take) = (module.kernel("give")?, module.kernel("take")?);
        let words = device.alloc_zeroed::<u32>(3)?;
        let (first, second) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        first.launch(ThreadSpec::new(1, 1), give.args((&words,)))?;
        second.launch(ThreadSpec::new(1, 1), take.args((&words,)))?;
        first.wait()?;
        second.wait()
    });
    assert_eq!(of_one, ["8 of give: add __threadfence() before it", "14 of take: add __threadfence() behind it"],);
}

/// What the scenario asserts shows what no search of a launch does.
#[test]
fn what_the_scenario_asserts() {
    let text = ".version 8.6\n.target sm_90\n.address_size 64\n.visible .entry count(.param .u64 p)\n\
                { .reg .u64 %a; .reg .u32 %x;\nld.param.u64 %a, [p];\n.loc 1 3 0\nld.relaxed.gpu.global.u32 %x, [%a];\n\
                add.u32 %x, %x, 1;\nst.relaxed.gpu.global.u32 [%a], %x;\nret; }\n.file 1 \"count.cu\"\n";
    let counted = fixes(Model::Ptx, |device| {
        let count = Module::ptx_file("count.ptx", text)?.kernel("count")?;
        let (queue, counter) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        queue.launch(ThreadSpec::new(2, 1), count.args((&counter,)))?;
        assert_eq!(counter.read(&queue)?, [2]);
        Ok(())
    });
    assert_eq!(counted, ["3 of count: do it by atomicAdd(…, 1)"]);
}

#[test]
fn kernels_of_spirv() {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/glsl/publish.spvasm"));
    let text = text.expect("the file is there");
    let published = fixes(Model::Vulkan, |device| {
        let publish = Module::spirv_file("publish.spvasm", text.as_str())?.kernel("main")?;
        let (flag, out) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        let data = device.from_slice(&[42u32])?;
        let queue = device.queue()?;
        queue.launch(ThreadSpec::new(2, 1), publish.args((&data, &flag, &out)))?;
        queue.wait()
    });
    assert_eq!(
        published,
        ["12 of main: add memoryBarrierBuffer() before it", "13 of main: add memoryBarrierBuffer() behind it"]
    );
}
