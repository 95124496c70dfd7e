//! Programs of every kind on every device that can run them: control flow, barriers, read-modify-writes, words that are
//! plain and atomic. What is seen is allowed, and what only one order of the operations gives is seen.

use std::time::Duration;

use wattle_core::{Device, DeviceKind};
use wattle_cuda as _;
use wattle_litmus::parse;
use wattle_memory::Target;
use wattle_stress::{Bench, Environment, Options, TestReport, allowed, lift, test};
use wattle_vulkan as _;

/// An environment that needs no tuning, and waits little.
const ENVIRONMENT: &str = "patience=256,delay=2";

fn ptx(columns: &str, initial: &str, claim: &str) -> String {
    format!("PTX case\n{{ {initial} }}\n{columns}\nexists ({claim})\n")
}

fn run(device: &Device, text: &str, environment: &str) -> TestReport {
    let program = lift(&parse("case", text).unwrap()).unwrap();
    let options = Options {
        most_launches: 1,
        environment: Some(environment.parse::<Environment>().unwrap()),
        ..Options::default()
    };
    let bench = Bench::new(device).unwrap();
    let report = test(&bench, "case", &program, Duration::from_millis(100), &options);
    let report = report.unwrap().unwrap_or_else(|error| panic!("{}: {error}\n{program}", device.name()));
    assert_eq!(report.forbidden().count(), 0, "{}: {:?}", device.name(), report.outcomes);
    assert!(report.instances > 0, "{}: every instance gave up", device.name());
    report
}

fn devices() -> Vec<Device> {
    let is_real = |device: &Device| {
        !matches!(device.properties().kind, DeviceKind::Simulated | DeviceKind::Checker)
            && device.name() != "host-serial"
    };
    let all: Vec<_> = Device::all().into_iter().filter(is_real).collect();
    if all.len() == 1 {
        test_skips::skipped("no device with a driver is here: the host alone runs");
    }
    all
}

/// NVIDIA's Vulkan driver removes such a dependency: an H100 showed the outcome (driver 580.159).
#[test]
fn what_compilers_remove_orders_nothing() {
    let with = |dependency: &str| {
        let columns = format!(
            " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n ld.relaxed.gpu r0, x | ld.relaxed.gpu r0, y ;\n {dependency} | ;\n \
             add r1, r1, 1 | ;\n st.relaxed.gpu y, r1 | st.relaxed.gpu x, r0 ;"
        );
        let text = ptx(&columns, "x=0; y=0;", "P0:r0 == 1 /\\ P1:r0 == 1");
        lift(&parse("case", &text).unwrap()).unwrap()
    };
    for (dependency, is_one) in [
        ("sub r1, r0, r0", false),
        ("xor r1, r0, r0", false),
        ("and r1, r0, 0", false),
        ("mul r1, r0, 0", false),
        ("and r1, r0, 2", true),
    ] {
        let program = with(dependency);
        for target in [Target::Portable, Target::Vulkan, Target::Ptx { sm: 90 }] {
            let found = allowed(&program, target, target.model(), &Options::default().search).unwrap();
            let both = found.outcomes.contains(&vec![1, 1]);
            assert_eq!(both, !is_one, "{dependency} on {target}: {:?}", found.outcomes);
        }
    }
}

#[test]
fn every_kind_of_operation_gives_what_the_models_say() {
    let forms = [
        // Atomics, one after another in any order: both are counted.
        ptx(
            " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n atom.relaxed.gpu.add r0, x, 3 | atom.acq_rel.gpu.add r0, x, 4 ;",
            "x=5;",
            "x == 12",
        ),
        // A jump over a store, and a register that is computed.
        ptx(
            " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n ld.relaxed.gpu r0, x | st.relaxed.gpu x, 1 ;\n beq r0, 0, LC00 | ;\n \
             add r0, r0, 7 | ;\n st.relaxed.gpu y, r0 | ;\n LC00: | ;",
            "x=0; y=0;",
            "P0:r0 == 8 /\\ y == 8",
        ),
        // A wait: who gives up counts as unfinished.
        ptx(
            " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n st.weak x, 42 | LC00: ;\n st.release.gpu f, 1 | ld.acquire.gpu r0, f ;\n \
             | beq r0, 0, LC00 ;\n | ld.weak r1, x ;",
            "x=0; f=0;",
            "P1:r1 == 42",
        ),
        // Barriers, with a block that has fewer threads.
        ptx(
            " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 | P2@cta 1,gpu 0 ;\n st.weak x, 1 | st.weak y, 2 | st.weak z, 3 ;\n \
             bar.cta.sync 1 | bar.cta.sync 1 | ;\n ld.weak r0, y | ld.weak r0, x | ;",
            "x=0; y=0; z=0;",
            "P0:r0 == 2 /\\ P1:r0 == 1 /\\ z == 3",
        ),
        // A compare-exchange of which one wins.
        ptx(
            " P0@cta 0,gpu 0 | P1@cta 1,gpu 0 ;\n atom.acquire.gpu.cas r0, m, 1, 0 | atom.acquire.gpu.cas r0, m, 1, 0 ;",
            "m=1;",
            "P0:r0 == 1 /\\ P1:r0 == 0 /\\ m == 0",
        ),
    ];
    for device in devices() {
        for text in &forms {
            let report = run(&device, text, ENVIRONMENT);
            let certain = report.outcomes.len() == 1;
            assert!(!certain || report.outcomes[0].count == report.instances, "{}", device.name());
        }
    }
}

#[test]
fn words_in_block_shared_memory_are_as_in_buffers() {
    let text = ptx(
        " P0@cta 0,gpu 0 | P1@cta 0,gpu 0 ;\n st.weak x, 1 | st.weak y, 2 ;\n bar.cta.sync 1 | bar.cta.sync 1 ;\n \
         ld.weak r0, y | ld.weak r0, x ;\n atom.relaxed.cta.add r1, n, 1 | atom.relaxed.cta.add r1, n, 1 ;",
        "x=0; y=0; n=3;",
        "P0:r0 == 2 /\\ P1:r0 == 1 /\\ n == 5",
    );
    for device in devices().iter().filter(|device| device.properties().kind != DeviceKind::Host) {
        for space in ["space=device", "space=block,shuffled=false", "space=block,stress=100,delay=8"] {
            let report = run(device, &text, space);
            assert!(report.outcomes.iter().all(|outcome| outcome.count == report.instances), "{}", device.name());
        }
    }
}

#[test]
fn a_launch_is_the_same_for_the_same_seed() {
    // One thread, so that nothing depends on who is first.
    let text = ptx(" P0@cta 0,gpu 0 ;\n atom.relaxed.gpu.add r0, x, 1 ;", "x=0;", "P0:r0 == 0 /\\ x == 1");
    let (first, second) = (run(&Device::host(), &text, ENVIRONMENT), run(&Device::host(), &text, ENVIRONMENT));
    assert_eq!((first.outcomes, first.environments.len()), (second.outcomes, 1));
}

#[test]
fn the_simulated_device_is_refused() {
    let simulated = Device::select("simulated").unwrap();
    let error = Bench::new(&simulated).err().unwrap().to_string();
    assert!(error.contains("be stressed") && error.contains("wattle check"), "{error}");
}
