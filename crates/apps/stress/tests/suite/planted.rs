//! Faults that are planted in what runs, as a faulty lowering would make them: found on every device that can show them,
//! and where it cannot, the report says why.

use std::time::{Duration, Instant};

use wattle_core::{Device, DeviceKind};
use wattle_cuda as _;
use wattle_litmus::parse;
use wattle_memory::FenceOrder;
use wattle_stress::{Bench, Environment, Op, Options, Program, TestReport, lift, test};
use wattle_vulkan as _;

fn program(name: &str, columns: &str, claim: &str) -> Program {
    let text =
        format!("PTX {name}\n{{ x=0; y=0; }}\n P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n{columns}\nexists ({claim})\n");
    lift(&parse(name, &text).unwrap()).unwrap()
}

/// Replaces each fence of an order; leaves it out where there is no other.
fn with_fences(program: &Program, from: FenceOrder, to: Option<FenceOrder>) -> Program {
    let mut faulty = program.clone();
    for thread in &mut faulty.threads {
        let is_it = |op: &Op| matches!(op, Op::Fence { order, .. } if *order == from);
        thread.code.retain(|(op, _)| to.is_some() || !is_it(op));
        for (op, _) in thread.code.iter_mut().filter(|(op, _)| is_it(op)) {
            if let (Op::Fence { order, .. }, Some(to)) = (op, to) {
                *order = to;
            }
        }
    }
    faulty
}

fn devices() -> Vec<Device> {
    let kinds = [DeviceKind::Host, DeviceKind::Gpu, DeviceKind::Software];
    let all = Device::all().into_iter();
    all.filter(|device| kinds.contains(&device.properties().kind) && device.name() != "host-serial").collect()
}

/// Runs the test with one seed after another until a forbidden outcome is seen, or the time is over.
fn until_found(bench: &Bench, program: &Program, options: &Options, time: Duration) -> TestReport {
    let began = Instant::now();
    for seed in 0.. {
        let options = Options { seed, most_launches: 8, environment: Some(Environment::FIRST), ..options.clone() };
        let report = test(bench, "planted", program, Duration::from_secs(1), &options).unwrap().unwrap();
        if report.forbidden().next().is_some() || began.elapsed() > time || !is_reached(&report) {
            return report;
        }
    }
    unreachable!("seeds do not end")
}

fn is_reached(report: &TestReport) -> bool {
    report.mutants.iter().any(|mutant| mutant.out_of_reach.is_none())
}

/// The host's fence emitted as one that acquires and releases, which is no instruction on x86-64; and the memory barriers of
/// SPIR-V and the fence of PTX left out.
#[test]
fn a_sequentially_consistent_fence_that_is_emitted_too_weak_is_found() {
    if std::thread::available_parallelism().map_or(1, usize::from) == 1 {
        test_skips::skipped("one core never has two stores in flight at once");
        return;
    }
    let columns = " st.relaxed.gpu x, 1 | st.relaxed.gpu y, 1 ;\n fence.sc.gpu | fence.sc.gpu ;\n \
                   ld.relaxed.gpu r0, y | ld.relaxed.gpu r0, x ;";
    let program = program("sb", columns, "P0:r0 == 0 /\\ P1:r0 == 0");
    for device in devices() {
        let bench = Bench::new(&device).unwrap();
        let is_host = device.properties().kind == DeviceKind::Host;
        let planted: fn(&Program) -> Program = match is_host {
            true => |program| with_fences(program, FenceOrder::SeqCst, Some(FenceOrder::AcqRel)),
            false => |program| with_fences(program, FenceOrder::SeqCst, None),
        };
        let options = Options { planted: Some(planted), ..Options::default() };
        let report = until_found(&bench, &program, &options, Duration::from_secs(if is_host { 60 } else { 10 }));
        assert!(!report.mutants.is_empty(), "{}", device.name());
        if !is_reached(&report) {
            // soft-cuda, as each of its mutants says.
            assert!(report.forbidden().next().is_none(), "{}: {:?}", device.name(), report.outcomes);
        } else if report.forbidden().next().is_none() {
            println!("not seen on {}: it runs no two blocks at once, or other work has the cores", device.name());
        } else {
            assert!(report.forbidden().all(|it| it.values == [0, 0]), "{}: {:?}", device.name(), report.outcomes);
            assert!(report.code.is_some(), "{}", device.name());
            println!("found on {}", device.name());
        }
    }
}

/// SPIR-V's Release bit, and PTX's release: no processor of the x86-64 kind has an instruction for it.
#[test]
fn a_release_that_is_dropped_is_found_or_said_to_be_out_of_reach() {
    let columns = " st.relaxed.gpu x, 1 | ld.relaxed.gpu r0, y ;\n fence.acq_rel.gpu | fence.acq_rel.gpu ;\n \
                   st.relaxed.gpu y, 1 | ld.relaxed.gpu r1, x ;";
    let program = program("mp", columns, "P1:r0 == 1 /\\ P1:r1 == 0");
    let dropped: fn(&Program) -> Program = |it| with_fences(it, FenceOrder::AcqRel, Some(FenceOrder::Acquire));
    let options = Options { planted: Some(dropped), ..Options::default() };
    for device in devices() {
        let bench = Bench::new(&device).unwrap();
        let is_x86 = cfg!(target_arch = "x86_64") && device.properties().kind != DeviceKind::Gpu;
        let report = until_found(&bench, &program, &options, Duration::from_secs(if is_x86 { 1 } else { 60 }));
        assert!(!report.mutants.is_empty(), "{}", device.name());
        assert!(!is_x86 || !is_reached(&report), "{}: {:?}", device.name(), report.mutants);
        assert!(!is_x86 || report.forbidden().next().is_none(), "{}: {:?}", device.name(), report.outcomes);
    }
}
