//! Kernels of WGSL and HLSL, whose barriers order buffers within a workgroup although their modules do not say so
//! (`wgsl/barriers.wgsl`, `hlsl/barriers.hlsl`).

use std::time::Duration;

use wattle_foreign::spirv::{self, Header};
use wattle_foreign::{Condition, Options, Verdict, advise};
use wattle_memory::Model;

/// The verdict on a launch and what else is said of it: the note of what holds, the fixes of what does not.
fn judged(file: &str, entry: &str, workgroups: u32, arguments: &str, asserted: &str) -> (String, Vec<String>) {
    let path = format!("{}/tests/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is there");
    judged_text((file, &text), entry, workgroups, arguments, asserted)
}

fn judged_text(
    (file, text): (&str, &str),
    entry: &str,
    workgroups: u32,
    arguments: &str,
    asserted: &str,
) -> (String, Vec<String>) {
    let arguments: Vec<_> = arguments.split_whitespace().map(|one| one.parse().expect("an argument")).collect();
    let mut setting = Header::default().setting();
    (setting.workgroups, setting.local_size, setting.subgroup) = ([workgroups, 1, 1], None, None);
    setting.inputs.extend(spirv::contents(&arguments));
    let module = spirv::read(file, text.as_bytes()).unwrap_or_else(|error| panic!("{error}"));
    let mut world = spirv::launch(file, &module, Some(entry), &setting).unwrap_or_else(|error| panic!("{error}"));
    let asserted: Vec<Condition> = Some(asserted)
        .filter(|text| !text.is_empty())
        .map(|text| Condition::parse(text, world.ranges()).expect("a condition"))
        .into_iter()
        .collect();
    let options = Options { model: Model::Vulkan, ..Options::default() };
    let report = wattle_foreign::judge(&mut world, &asserted, &options).unwrap_or_else(|error| panic!("{error}"));
    match report.verdict {
        Verdict::Holds => ("holds".into(), report.note.into_iter().collect()),
        Verdict::Unknown(why) => (format!("unknown: {why}"), Vec::new()),
        Verdict::Violated(violation, _) => {
            let (took, budget) = (Duration::from_millis(100), Duration::from_secs(30));
            let fixes = advise(&world, None, &asserted, &options, took, budget).fixes;
            (violation.sentence(&world), fixes.iter().map(|fix| format!("{}: {}", fix.at, fix.text)).collect())
        }
    }
}

#[test]
fn barriers_of_wgsl() {
    let of = |entry: &str, workgroups, asserted: &str| {
        judged("wgsl/barriers.spvasm", entry, workgroups, "data=u32[5]:0,0,0,0,0 count=u32[1]:0", asserted)
    };
    let (verdict, note) = of("turn", 1, "data[3] == 1");
    assert_eq!(verdict, "holds");
    assert!(note.iter().any(|note| note.contains("storageBarrier()")), "{note:?}");
    assert_eq!(of("sum", 1, "data[4] == 0"), ("holds".into(), vec![]));
    let (early, fixes) = of("turn_too_early", 1, "");
    assert!(early.starts_with("data race on data["), "{early}");
    assert_eq!(fixes, ["barriers.wgsl:17:3: add storageBarrier() behind it"]);
    let (wrong, fixes) = of("turn_with_the_wrong_barrier", 1, "");
    assert!(wrong.starts_with("data race on data["), "{wrong}");
    assert_eq!(fixes, ["barriers.wgsl:26:3: make it storageBarrier()"]);
    let (counts, fixes) = of("counts", 1, "data[0] == 2");
    assert!(counts.starts_with("data race on data[0]"), "{counts}");
    assert_eq!(fixes, ["barriers.wgsl:52:3: declare it atomic and do it by atomicAdd(&…, …)"]);
    // Nothing in the language orders workgroups; atomic accesses alone do not show what both have written.
    let (last, fixes) = of("last", 2, "data[2] == 3");
    assert!(last.starts_with("data race on data["), "{last}");
    assert_eq!(fixes, Vec::<String>::new());
}

#[test]
fn barriers_of_hlsl() {
    let of = |entry: &str, workgroups, arguments: &str| {
        judged(&format!("hlsl/{entry}.spvasm"), entry, workgroups, arguments, "")
    };
    let data = "data_0=u32[4]:0";
    let (verdict, note) = of("turn", 1, data);
    assert_eq!(verdict, "holds");
    assert!(note.iter().any(|note| note.contains("globallycoherent")), "{note:?}");
    let (wrong, fixes) = of("turn_with_the_wrong_barrier", 1, data);
    assert!(wrong.starts_with("data race on data"), "{wrong}");
    assert_eq!(fixes, ["barriers.hlsl:19: make it DeviceMemoryBarrierWithGroupSync()"]);
    let (last, fixes) = of("last", 2, "data_0=u32[3]:0 count=u32[1]:0");
    assert!(last.starts_with("data race on data"), "{last}");
    assert!(fixes.iter().any(|fix| fix.contains("globallycoherent")), "{fixes:?}");
    assert_eq!(of("last_coherent", 2, "shown_0=u32[3]:0 count=u32[1]:0").0, "holds");
}

/// GLSL promises nothing that the module does not show, and neither does a module that names no language.
#[test]
fn others_promise_nothing() {
    let path = format!("{}/tests/wgsl/barriers.spvasm", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("the file is there");
    for other in ["OpSource GLSL 450", "OpSource Unknown 0"] {
        let text = text.replace("OpSource WGSL 0", other);
        let arguments = "data=u32[5]:0,0,0,0,0 count=u32[1]:0";
        let (verdict, _) = judged_text(("other.spvasm", &text), "turn", 1, arguments, "");
        assert!(verdict.starts_with("data race on data["), "{verdict}");
    }
}

/// naga ends each loop after 2⁶⁴ turns by a counter; where the shader waits, it waits all the same (`wgsl/waits.wgsl`, by naga 30, with the names of its buffers).
#[test]
fn loops_of_wgsl_that_wait() {
    let of =
        |entry: &str, asserted: &str| judged("wgsl/waits.spvasm", entry, 3, "turn=u32:0 seen=u32[3]:0", asserted).0;
    assert_eq!(of("passes", "seen[0] == 1 && seen[1] == 2 && seen[2] == 3"), "holds");
    assert_eq!(of("counts", "seen[0] == 10 && seen[1] == 10 && seen[2] == 10"), "holds");
    let kept = of("keeps", "");
    assert!(kept.contains("for ever"), "{kept}");
    // A counter that begins elsewhere is the shader's own.
    let text = std::fs::read_to_string(format!("{}/tests/wgsl/waits.spvasm", env!("CARGO_MANIFEST_DIR")));
    let own = text.expect("the file is there").replace("OpConstant %uint 4294967295", "OpConstant %uint 4294967294");
    let found = judged_text(("waits.spvasm", &own), "passes", 3, "turn=u32:0 seen=u32[3]:0", "").0;
    assert!(found.starts_with("unknown"), "{found}");
}
