//! Kernels of PTX modules in scenarios: under the checker, and on the devices that take them.

use wattle::prelude::*;
use wattle::{Module, Queue};

/// `publish` writes a payload and raises a flag, `receive` waits for the flag and reads the payload: with a release and an
/// acquire, or with neither. `scale` multiplies by a float, `count` counts in a variable of the module, `corner` writes
/// where its thread stands.
const TEXT: &str = "
.version 8.6
.target sm_70
.address_size 64
.global .align 4 .u32 total;
.visible .entry publish(.param .u64 payload, .param .u64 flag, .param .u32 value)
{
    .reg .u64 %a, %b; .reg .u32 %v;
    ld.param.u64 %a, [payload];
    ld.param.u64 %b, [flag];
    ld.param.u32 %v, [value];
    st.global.u32 [%a], %v;
    st.release.gpu.global.u32 [%b], 1;
    ret;
}
.visible .entry receive(.param .u64 payload, .param .u64 flag, .param .u64 out)
{
    .reg .u64 %a, %b, %c; .reg .u32 %v, %f; .reg .pred %p;
    ld.param.u64 %a, [payload];
    ld.param.u64 %b, [flag];
    ld.param.u64 %c, [out];
WAIT:
    ld.acquire.gpu.global.u32 %f, [%b];
    setp.eq.u32 %p, %f, 0;
    @%p bra WAIT;
    ld.global.u32 %v, [%a];
    st.global.u32 [%c], %v;
    ret;
}
.visible .entry scale(.param .u64 x, .param .f32 by, .param .u32 n)
{
    .reg .u64 %a; .reg .u32 %i, %n; .reg .f32 %x, %by; .reg .pred %p;
    ld.param.u64 %a, [x];
    ld.param.f32 %by, [by];
    ld.param.u32 %n, [n];
    mov.u32 %i, %tid.x;
    setp.ge.u32 %p, %i, %n;
    @%p ret;
    mad.wide.u32 %a, %i, 4, %a;
    ld.global.f32 %x, [%a];
    mul.rn.f32 %x, %x, %by;
    st.global.f32 [%a], %x;
    ret;
}
.visible .entry count(.param .u64 out)
{
    .reg .u64 %a; .reg .u32 %x;
    ld.param.u64 %a, [out];
    atom.relaxed.gpu.global.add.u32 %x, [total], 1;
    st.global.u32 [%a], %x;
    ret;
}
.visible .entry corner(.param .u64 out)
{
    .reg .u64 %a; .reg .u32 %x, %y, %n;
    ld.param.u64 %a, [out];
    mov.u32 %x, %ctaid.x;
    mov.u32 %y, %tid.y;
    mov.u32 %n, %ntid.y;
    mad.lo.u32 %x, %x, %n, %y;
    mad.wide.u32 %a, %x, 4, %a;
    mov.u32 %y, %nctaid.x;
    st.global.u32 [%a], %y;
    ret;
}
";

fn module() -> Result<Module> {
    // SAFETY: each kernel accesses the elements that its parameters say, which the scenarios here give it.
    Ok(unsafe { Module::ptx_file("kernels.ptx", TEXT)?.vouched() })
}

/// Two launches on two queues that run at the same time.
fn publication(device: &Device) -> Result<()> {
    let module = module()?;
    let (publish, receive) = (module.kernel("publish")?, module.kernel("receive")?);
    let (writer, reader) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (payload, flag) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let mut out = device.alloc_zeroed::<u32>(1)?;
    let one = ThreadSpec::new(1, 1);
    writer.launch(one, publish.args((&payload, &flag, 42u32)))?;
    reader.launch(one, receive.args((&payload, &flag, &mut out)))?;
    writer.wait()?;
    assert_eq!(out.read(&reader)?, [42]);
    Ok(())
}

/// Launches after each other, with values, host code between them, and a variable of the module.
fn in_turn(device: &Device) -> Result<()> {
    let module = module()?;
    let queue = device.queue()?;
    let mut x = device.from_slice(&[1.0f32, 2.0, 3.0])?;
    queue.launch(ThreadSpec::new(1, 4), module.kernel("scale")?.args((&mut x, 0.5f32, 3u32)))?;
    let scaled = x.read(&queue)?;
    queue.launch(ThreadSpec::new(1, 4), module.kernel("scale")?.args((&mut x, scaled[2], 2u32)))?;
    assert_eq!(x.read(&queue)?, [0.75, 1.5, 1.5]);
    let mut out = device.alloc_zeroed::<u32>(1)?;
    let count = module.kernel("count")?;
    for before in 0..3 {
        queue.launch(ThreadSpec::new(1, 1), count.args((&mut out,)))?;
        assert_eq!(out.read(&queue)?, [before]);
    }
    let corners = device.alloc_zeroed::<u32>(6)?;
    queue.launch(ThreadSpec::<2>::new([1, 2], [3, 1]), module.kernel("corner")?.args((&corners,)))?;
    assert_eq!(corners.read(&queue)?, [2; 6]);
    Ok(())
}

#[test]
fn scenarios_hold_under_the_checker() {
    let report = Checker::new(Model::Ptx).assert_holds(publication);
    assert_eq!(report.statistics.complete, 1, "{report}");
    Checker::new(Model::Portable).assert_holds(publication);
    Checker::new(Model::Ptx).assert_holds(in_turn);
}

#[test]
fn a_mistake_is_a_race_at_its_lines() {
    let weak = |text: &str| text.replace("st.release.gpu.global", "st.relaxed.gpu.global");
    let scenario = |device: &Device| -> Result<()> {
        let module = Module::ptx_file("weak.ptx", weak(TEXT))?;
        let (payload, flag) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
        let mut out = device.alloc_zeroed::<u32>(1)?;
        let (writer, reader) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
        let one = ThreadSpec::new(1, 1);
        writer.launch(one, module.kernel("publish")?.args((&payload, &flag, 42u32)))?;
        reader.launch(one, module.kernel("receive")?.args((&payload, &flag, &mut out)))?;
        writer.wait()?;
        reader.wait()
    };
    let report = Checker::new(Model::Ptx).assert_refuted(scenario);
    let text = report.to_string();
    assert!(text.contains("data race on payload[0]") || text.contains("data race on payload"), "{text}");
    assert!(text.contains("weak.ptx:12") && text.contains("weak.ptx:26"), "{text}");
}

/// Waits for the flag, and keeps the payload.
#[kernel]
fn receive(acc: &Acc, scope: u32, payload: Shared<u32>, flag: Atomic<u32>, out: Shared<u32>) {
    if scope == 0 {
        while flag.load_with(0, Scope::Device, Order::Acquire) == 0 {}
    } else {
        while flag.load_with(0, Scope::System, Order::Acquire) == 0 {}
    }
    if acc.thread_in_grid() == 0 {
        out[0] = payload[0];
    }
}

/// A kernel of a module beside one of Wattle's own, on two queues.
fn beside_own(device: &Device) -> Result<()> {
    let publish = module()?.kernel("publish")?;
    let (writer, reader) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (payload, flag) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let out = device.alloc_zeroed::<u32>(1)?;
    writer.launch(ThreadSpec::new(1, 1), publish.args((&payload, &flag, 7u32)))?;
    reader.launch(ThreadSpec::new(1, 1), receive(0, &payload, &flag, &out))?;
    writer.wait()?;
    assert_eq!(out.read(&reader)?, [7]);
    Ok(())
}

/// A kernel of a module beside a host part; at device scope the host is not in its release's scope.
fn beside_host(device: &Device, text: &str) -> Result<()> {
    let publish = Module::ptx_file("published.ptx", text)?.kernel("publish")?;
    let queue = device.queue()?;
    let (payload, flag) = (device.alloc_host_mapped::<u32, 1>(1)?, device.alloc_host_mapped::<u32, 1>(1)?);
    let out = device.alloc_host_mapped::<u32, 1>(1)?;
    let kernel = publish.args((&payload, &flag, 7u32));
    queue.launch_with_host(
        LaunchOptions::default(),
        ThreadSpec::new(1, 1),
        kernel,
        receive(1, &payload, &flag, &out),
    )?;
    assert_eq!(out.read(&queue)?, [7]);
    Ok(())
}

#[test]
fn modules_run_beside_kernels_and_host_parts() {
    Checker::new(Model::Ptx).assert_holds(beside_own);
    let system = TEXT.replace("st.release.gpu.global", "st.release.sys.global");
    Checker::new(Model::Ptx).assert_holds(|device| beside_host(device, &system));
    let report = Checker::new(Model::Ptx).assert_refuted(|device| beside_host(device, TEXT));
    let text = report.to_string();
    assert!(text.contains("data race on payload") && text.contains("the host's thread"), "{text}");
}

/// Publishes a payload by a flag.
#[kernel]
fn publish(acc: &Acc, orders: u32, payload: Shared<u32>, flag: Atomic<u32>) {
    if acc.thread_in_grid() == 0 {
        payload[0] = 7;
        if orders == 0 {
            flag.exchange(0, 1);
        } else {
            flag.store_with(0, 1, Scope::Device, Order::Release);
        }
    }
}

/// One of Wattle's own kernels beside one of a module, on two queues.
fn beside_module(device: &Device, orders: u32) -> Result<()> {
    let receive = module()?.kernel("receive")?;
    let (writer, reader) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let (payload, flag) = (device.alloc_zeroed::<u32>(1)?, device.alloc_zeroed::<u32>(1)?);
    let out = device.alloc_zeroed::<u32>(1)?;
    reader.launch(ThreadSpec::new(1, 1), receive.args((&payload, &flag, &out)))?;
    writer.launch(ThreadSpec::new(1, 1), publish(orders, &payload, &flag))?;
    writer.wait()?;
    assert_eq!(out.read(&reader)?, [7]);
    Ok(())
}

/// Modules beside kernels and host parts on seeds of the simulated device: what the checker proves no seed reports, and what it
/// refutes each of these seeds does.
#[test]
fn seeds_run_modules_beside_kernels_and_host_parts() {
    Checker::new(Model::Ptx).assert_holds(|device| beside_module(device, 1));
    let report = Checker::new(Model::Ptx).assert_refuted(|device| beside_module(device, 0));
    assert!(report.to_string().contains("data race on payload"), "{report}");
    let system = TEXT.replace("st.release.gpu.global", "st.release.sys.global");
    for seed in 0..20 {
        let device = Device::select(&format!("simulated:{seed}")).expect("it is there");
        beside_own(&device).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        beside_module(&device, 1).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        beside_host(&device, &system).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let error = beside_module(&device, 0).expect_err("nothing orders the payload").to_string();
        assert!(error.contains("data race on payload") && error.contains("kernels.ptx:26"), "{error}");
        assert!(error.contains("of kernel `publish`") && error.contains("modules.rs:"), "{error}");
        let error = beside_host(&device, TEXT).expect_err("the host is in no device's scope").to_string();
        assert!(error.contains("the host thread of kernel `receive`") && error.contains("published.ptx:1"), "{error}");
    }
}

/// A struct of two numbers, one of 2 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Element)]
#[repr(C)]
struct Pair {
    wide: u32,
    low: u16,
    high: u16,
}

/// A module sees the bytes of structs, whose numbers kernels see each by itself.
#[test]
fn structs_are_bytes_to_modules() {
    let text = ".version 8.6\n.target sm_70\n.address_size 64\n.entry turn(.param .u64 pairs)\n\
                { .reg .u64 %a, %v; .reg .u32 %t;\nld.param.u64 %a, [pairs]; mov.u32 %t, %tid.x; mad.wide.u32 %a, %t, 8, %a;\n\
                ld.global.u64 %v, [%a]; add.u64 %v, %v, 0x0003000200000001; st.global.u64 [%a], %v; ret; }";
    let scenario = |device: &Device| -> Result<()> {
        let turn = Module::ptx_file("turn.ptx", text)?.kernel("turn")?;
        let queue = device.queue()?;
        let pairs = device.from_slice(&[Pair { wide: 1, low: 2, high: 3 }, Pair { wide: 4, low: 5, high: 6 }])?;
        queue.launch(ThreadSpec::new(1, 2), turn.args((&pairs,)))?;
        let expected = [Pair { wide: 2, low: 4, high: 6 }, Pair { wide: 5, low: 7, high: 9 }];
        assert_eq!(pairs.read(&queue)?, expected);
        Ok(())
    };
    Checker::new(Model::Ptx).assert_holds(scenario);
    scenario(&Device::select("simulated").expect("it is there")).expect("it holds");
}

#[test]
fn an_assertion_that_the_host_makes() {
    let scenario = |device: &Device| -> Result<()> {
        let count = module()?.kernel("count")?;
        let queue = device.queue()?;
        let out = device.alloc_zeroed::<u32>(1)?;
        queue.launch(ThreadSpec::new(2, 1), count.args((&out,)))?;
        Ok(())
    };
    // Both threads write the same element.
    let report = Checker::new(Model::Ptx).assert_refuted(scenario);
    assert!(report.to_string().contains("data race on out"), "{report}");
}

#[test]
fn devices_run_the_same_text() {
    for device in Device::all() {
        let name = device.name().to_owned();
        if name == "simulated" {
            in_turn(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
            publication(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
            continue;
        }
        if !name.starts_with("cuda") {
            let error = in_turn(&device).unwrap_err().to_string();
            let words = "cannot run the kernel `scale` of the PTX module kernels.ptx; CUDA devices run it";
            assert!(error.contains(words), "{name}: {error}");
            continue;
        }
        in_turn(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
        publication(&device).unwrap_or_else(|error| panic!("{name}: {error}"));
        let unvouched = |device: &Device| {
            let count = Module::ptx(TEXT)?.kernel("count")?;
            device.queue()?.launch(ThreadSpec::new(1, 1), count.args((&device.alloc_zeroed::<u32>(1)?,)))
        };
        let error = unvouched(&device).unwrap_err().to_string();
        assert!(error.contains("unsafe { Module::ptx(text)?.vouched() }"), "{error}");
    }
}

#[test]
fn arguments_that_do_not_fit() {
    let refused = |launch: &dyn Fn(&Queue, &Module, &Device) -> Result<()>| {
        let told = std::sync::Mutex::new(String::new());
        let checked = Checker::new(Model::Ptx).check(|device| {
            let error = launch(&device.queue()?, &module()?, device).expect_err("it is refused");
            *told.lock().unwrap() = error.to_string();
            Ok(())
        });
        checked.expect("nothing was launched");
        told.into_inner().unwrap()
    };
    let one = ThreadSpec::new(1, 1);
    let error = refused(&|queue, module, device| {
        queue.launch(one, module.kernel("scale")?.args((&device.alloc_zeroed::<f32>(1)?,)))
    });
    assert_eq!(
        error,
        "kernel `scale` of kernels.ptx: it takes 3 arguments, and was given 1\n  \
         it is declared as `scale(.param .u64 x, .param .f32 by, .param .u32 n)`"
    );
    let error = refused(&|queue, module, device| {
        queue.launch(one, module.kernel("scale")?.args((&device.alloc_zeroed::<f32>(1)?, 2u32, 3u32)))
    });
    let words = "argument 2 is a u32 value of 4 bytes, and its parameter `by` takes 4 bytes of a float";
    assert!(error.contains(words), "{error}");
    let error = refused(&|queue, module, device| {
        queue.launch(one, module.kernel("scale")?.args((&device.alloc_zeroed::<f32>(1)?, 2.0f32, 3u64)))
    });
    assert!(error.contains("argument 3 is a u64 value of 8 bytes, and its parameter `n` takes 4 bytes"), "{error}");
    let error = refused(&|queue, module, device| {
        queue.launch(one, module.kernel("count")?.args((device.alloc_zeroed::<u32>(1)?.len() as u32,)))
    });
    assert!(error.contains("a u32 value of 4 bytes, and its parameter `out` takes 8 bytes of an integer"), "{error}");
    let error = refused(&|queue, module, device| {
        let frames = FrameSpec::new(1, 1);
        queue.launch(frames, module.kernel("count")?.args((&device.alloc_zeroed::<u32>(1)?,)))
    });
    assert!(error.contains("launch it with a `ThreadSpec`"), "{error}");
    let error = module().unwrap().kernel("missing").unwrap_err().to_string();
    assert!(error.contains("`missing` in kernels.ptx") && error.contains("`publish`, `receive`"), "{error}");
    let error = Module::ptx(".version 8.6\n.target sm_90\n.entry k() { frob; }").unwrap_err().to_string();
    assert!(error.contains("module.ptx:3") && error.contains("frob"), "{error}");
}
