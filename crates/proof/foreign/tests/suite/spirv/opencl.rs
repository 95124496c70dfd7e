//! Kernels of OpenCL C as a compiler for its environment makes them (`opencl/kernels.cl`): parameters, address spaces, layouts,
//! and what its orders mean.

use wattle_check::Simulated as _;
use wattle_check::checker::Checker;
use wattle_core::{Device, Error, LaunchOptions, Result, ThreadSpec};
use wattle_foreign::spirv::{self, Header};
use wattle_foreign::{Condition, Module, Options, Unsupported, Verdict, World};
use wattle_memory::Model;

use crate::simulated::{holds, refuted};

fn kernels() -> String {
    text_of("kernels.spvasm")
}

fn text_of(file: &str) -> String {
    let path = format!("{}/tests/opencl/{file}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).expect("the file is there")
}

fn launch(kernel: &str, shape: [u32; 2], arguments: &str) -> std::result::Result<World, Unsupported> {
    launch_of("kernels.spvasm", kernel, shape, arguments)
}

/// A launch of a kernel of a file, with the arguments as the command line has them.
fn launch_of(file: &str, kernel: &str, shape: [u32; 2], arguments: &str) -> std::result::Result<World, Unsupported> {
    launch_text((file, &text_of(file)), kernel, shape, arguments)
}

fn launch_text(
    (file, text): (&str, &str),
    kernel: &str,
    [groups, threads]: [u32; 2],
    arguments: &str,
) -> std::result::Result<World, Unsupported> {
    let arguments: Vec<_> = arguments.split_whitespace().map(|one| one.parse().expect("an argument")).collect();
    let mut setting = Header::default().setting();
    setting.checks_indices = true;
    (setting.workgroups, setting.local_size) = ([groups, 1, 1], Some([threads, 1, 1]));
    setting.subgroup = None;
    setting.inputs.extend(spirv::contents(&arguments));
    let module = spirv::read(file, text.as_bytes()).expect("a module");
    spirv::launch(file, &module, Some(kernel), &setting)
}

fn wrong(kernel: &str, shape: [u32; 2], arguments: &str, asserted: &[&str]) -> String {
    wrong_of("kernels.spvasm", kernel, shape, arguments, asserted)
}

/// What is wrong with a launch, if anything is; with the reason where that is not known.
pub fn wrong_of(file: &str, kernel: &str, shape: [u32; 2], arguments: &str, asserted: &[&str]) -> String {
    wrong_text((file, &text_of(file)), kernel, shape, arguments, asserted)
}

fn wrong_text(module: (&str, &str), kernel: &str, shape: [u32; 2], arguments: &str, asserted: &[&str]) -> String {
    let mut world = launch_text(module, kernel, shape, arguments).unwrap_or_else(|error| panic!("{error}"));
    let asserted: Vec<_> =
        asserted.iter().map(|text| Condition::parse(text, world.ranges()).expect("a condition")).collect();
    let report = wattle_foreign::judge(&mut world, &asserted, &Options { model: Model::Vulkan, ..Options::default() });
    match report.unwrap_or_else(|error| panic!("{kernel}: {error}")).verdict {
        Verdict::Holds => String::new(),
        Verdict::Violated(violation, _) => violation.sentence(&world),
        Verdict::Unknown(why) => format!("unknown: {why}"),
    }
}

/// Functions such as `atomic_add` reach the device, and a compiler writes the work-group's scope for them: before OpenCL C 2.0
/// there are no others, and since then the module does not show whether somebody asked for that scope.
#[test]
fn atomic_functions_without_a_scope() {
    let (later, file) = (text_of("scopeless.spvasm"), "scopeless.spvasm");
    let earlier = later.replace("OpenCL_C 200000", "OpenCL_C 102000");
    let counted = ["bins[0] == 2", "bins[1] == 2"];
    let (input, bins) = ("in=u32[4]:0,1,1,0", "bins=u32[2]:0");
    let count = |text: &str, asserted: &[&str]| {
        wrong_text((file, text), "counts", [2, 2], &format!("{input} {bins}"), asserted)
    };
    assert_eq!(count(&earlier, &counted), "");
    assert!(count(&earlier, &["bins[0] == 3"]).contains("does not hold"));
    let found = count(&later, &counted);
    assert!(
        found.starts_with("unknown") && found.contains("scopeless.cl:7") && found.contains("memory_scope_device"),
        "{found}"
    );
    // Nor do many orders of such races keep the search.
    let many = wrong_text((file, &later), "counts", [3, 4], "in=u32[12]:0 bins=u32[2]:0", &[]);
    assert!(many.starts_with("unknown") && many.contains("scopeless.cl:7"), "{many}");
    // Within one work-group nothing is in doubt.
    let alone = |asserted: &[&str]| wrong_text((file, &later), "counts", [1, 4], &format!("{input} {bins}"), asserted);
    assert_eq!(alone(&counted), "");
    assert!(alone(&["bins[0] == 3"]).contains("does not hold"));
    // A race of other accesses is one, whatever the scope.
    for text in [&earlier, &later] {
        let found = wrong_text((file, text), "counts_early", [2, 2], &format!("{input} {bins} own=u32[2]"), &[]);
        assert!(found.starts_with("data race on own"), "{found}");
    }
    let take =
        |text: &str| wrong_text((file, text), "takes", [2, 1], "lock=u32[1]:0 winners=u32[1]:0", &["winners[0] == 1"]);
    assert_eq!(take(&earlier), "");
    assert!(take(&later).starts_with("unknown"), "{}", take(&later));
}

#[test]
fn atomic_functions_without_a_scope_in_a_scenario() {
    let later = text_of("scopeless.spvasm");
    let counts = |device: &Device, text: &str| -> Result<String> {
        let kernel = Module::spirv_file("scopeless.spvasm", text)?.kernel("counts")?;
        let queue = device.queue()?;
        let (input, bins) = (device.from_slice(&[0u32, 1, 1, 0])?, device.alloc_zeroed::<u32>(2)?);
        queue.launch(ThreadSpec::new(2, 2), kernel.args((&input, &bins)))?;
        Ok(format!("{:?}", bins.read(&queue)?))
    };
    let earlier = later.replace("OpenCL_C 200000", "OpenCL_C 102000");
    holds(Model::Vulkan, 10, "[2, 2]", &|device| counts(device, &earlier));
    let report = Checker::new(Model::Vulkan).check(|device| counts(device, &later).map(drop)).expect("a report");
    let text = report.to_string();
    assert!(report.violations.is_empty() && text.contains("memory_scope_device"), "{text}");
}

/// What the library of OpenCL C computes: exactly where that is fixed, and else something that decides nothing.
#[test]
fn functions_of_the_library() {
    let judged = |kernel: &str, shape, arguments: &str, asserted: &[&str]| {
        wrong_of("functions.spvasm", kernel, shape, arguments, asserted)
    };
    let arguments = "in=f32[6]:10,20,30,40,50,60 out=f32[6] numbers=i32[4]:7,8,9,10";
    let packed = ["out[0] == 11.0", "out[2] == 33.0", "out[5] == 63.0", "numbers[2] == 9", "numbers[3] == 8"];
    assert!(judged("packs", [1, 2], arguments, &packed[..3]).starts_with("data race on numbers[2]"));
    let one = "in=f32[3]:10,20,30 out=f32[3] numbers=i32[4]:7,8,9,10";
    assert_eq!(
        judged("packs", [1, 1], one, &[packed[0], packed[2].replace('5', "2").replace("63", "33").as_str()]),
        ""
    );
    assert_eq!(judged("packs", [1, 1], one, &packed[3..]), "");
    assert!(judged("packs", [1, 2], &arguments.replace("f32[6] ", "f32[5] "), &[]).contains("at byte 20 of `out`"));
    let integers = "in=i32[5]:-5,12,-2,3,0x1000000 out=i32[7]";
    let exact =
        ["out[0] == -53", "out[1] == 144", "out[2] == 3", "out[3] == 4", "out[4] == -65285", "out[5] == -131069"];
    assert_eq!(judged("integers", [1, 1], &integers.replace("0x1000000", "16777216"), &exact), "");
    let beyond = judged("integers", [1, 1], &integers.replace("0x1000000", "16777216"), &["out[6] == 7"]);
    assert!(beyond.contains("looks at what nothing fixes"), "{beyond}");
    let softmax = "in=f32[4]:1.0 out=f32[4] part=f32[4]";
    assert_eq!(judged("softmax", [1, 4], softmax, &[]), "");
    let valued = judged("softmax", [1, 4], softmax, &["out[0] == 0.25"]);
    assert!(valued.contains("looks at what nothing fixes"), "{valued}");
    assert!(judged("softmax_races", [1, 4], softmax, &[]).starts_with("data race on part"));
    let branches = judged("branches", [1, 1], "in=f32[1]:1.0 out=f32[1]:0", &[]);
    assert!(branches.contains("a value that nothing fixes decides what happens"), "{branches}");
    let vectors = "in=f32[6]:7,2,3,8,5,1 out=f32[6]";
    assert_eq!(judged("vectors", [1, 1], vectors, &["out[4] == 1.0", "out[5] == 0.0"]), "");
    let length = judged("vectors", [1, 1], vectors, &["out[3] > 0.0"]);
    assert!(length.contains("looks at what nothing fixes"), "{length}");
}

/// `select`, `shuffle`, `prefetch` and the atomic flags.
#[test]
fn conveniences_of_the_library() {
    let judged = |kernel: &str, shape, arguments: &str, asserted: &[&str]| {
        wrong_of("conveniences.spvasm", kernel, shape, arguments, asserted)
    };
    let selects = "in=i32[12]:1,2,3,4,10,20,30,40,-1,0,1,-2147483648 out=i32[4]:0 x=f32[2]:5,6 y=f32[2]:0";
    let selected = ["out[0] == 10", "out[1] == 2", "out[2] == 3", "out[3] == 40", "y[0] == 6.0", "y[1] == 5.0"];
    assert_eq!(judged("selects", [1, 1], selects, &selected), "");
    let shuffles = "in=i32[12]:1,2,3,4,10,20,30,40,3,0,5,6 out=i32[8]:0";
    let shuffled = ["out[0] == 4", "out[1] == 1", "out[2] == 2", "out[3] == 3"];
    assert_eq!(judged("shuffles", [1, 1], shuffles, &shuffled), "");
    assert_eq!(
        judged("shuffles", [1, 1], shuffles, &["out[4] == 4", "out[5] == 1", "out[6] == 20", "out[7] == 30"]),
        ""
    );
    let flags = "flag=i32[1]:0 count=i32[1]:0";
    assert_eq!(judged("takes_turns", [2, 1], flags, &["count == 2", "flag == 0"]), "");
    let relaxed = judged("takes_turns_relaxed", [2, 1], flags, &[]);
    assert!(relaxed.starts_with("data race on count") && relaxed.contains("conveniences.cl:2"), "{relaxed}");
}

/// What optimizers make of a cast pointer, floats that have 16 bits in memory alone, and functions with two results.
#[test]
fn numbers_in_memory() {
    let judged = |kernel: &str, shape, arguments: &str, asserted: &[&str]| {
        wrong_of("memory.spvasm", kernel, shape, arguments, asserted)
    };
    let numbers = "in=f32[12]:0,1,2,3,4,5,6,7,8,9,10,11 out=f32[2]:0";
    assert_eq!(judged("flattens", [1, 2], numbers, &["out[0] == 15.0", "out[1] == 16.0"]), "");
    let beyond = judged("flattens", [1, 4], &numbers.replace("out=f32[2]", "out=f32[4]"), &[]);
    assert!(beyond.contains("at byte 48 of `in`") && beyond.contains("memory.cl:10:"), "{beyond}");
    assert_eq!(judged("tiles", [1, 16], "out=i32[16]:0", &["out[1] == 40", "out[6] == 90"]), "");
    assert_eq!(judged("overruns", [1, 4], "out=i32[4]:0", &["out[0] == 2"]), "");
    let beyond = judged("overruns", [1, 5], "out=i32[5]:0", &[]);
    assert!(beyond.contains("memory.cl:29:"), "{beyond}");
    let halves = "numbers=f16[6]:1,-2,0,0.25,0,0 out=f32[3]:0";
    let doubled = ["out[0] == 1.0 && out[1] == -2.0", "numbers[0] == 2.0 && numbers[1] == -4.0"];
    assert_eq!(judged("halves", [1, 2], halves, &doubled), "");
    let vectors = ["numbers[4] == 1.0 && numbers[5] == -0.5", "out[2] == -3.75"];
    assert_eq!(judged("halves", [1, 2], halves, &vectors), "");
    // 300.5, -300.5, 2.5 and -2.5, and what is no number.
    let numbers = "in=f32[5]:300.5,-300.5,2.5,-2.5,nan out=i32[8]:0 bytes=i8[5]:0";
    for asserted in [
        "bytes[0] == 127 && bytes[1] == -128 && bytes[2] == 2 && bytes[4] == 0",
        "out[0] == 2 && out[1] == 3 && out[2] == -3 && out[3] == -2",
        // 70000 as a number of 16 bits, and -1 without a sign.
        "out[4] == 32767 && out[5] == 0 && out[6] == 16777218 && out[7] == 16777216",
    ] {
        assert_eq!(judged("converts", [1, 1], numbers, &[asserted]), "", "{asserted}");
    }
    let beyond = judged("converts", [1, 1], &numbers.replace("2.5,nan", "3e10,nan"), &[]);
    assert!(beyond.contains("a float that its integer type does not hold"), "{beyond}");
    let splits = "in=f32[2]:-6.5,2.5 out=f32[7]:0 exponents=i32[2]:3";
    for asserted in [
        "out[0] == -0.5 && out[1] == -6.0",
        "out[2] == -0.8125 && exponents[0] == 3",
        "out[3] == 0.5 && out[4] == 2.0",
        "out[5] == -52.0 && out[6] == 3.0",
    ] {
        assert_eq!(judged("splits", [1, 1], splits, &[asserted]), "", "{asserted}");
    }
}

#[test]
fn right_kernels_hold() {
    fn case(kernel: &str, shape: [u32; 2], arguments: &str, asserted: &[&str]) {
        assert_eq!(wrong(kernel, shape, arguments, asserted), "", "{kernel}");
        // Each assertion is looked at: what is not so is refuted.
        for text in asserted {
            let not = text.replace("==", "!=");
            assert!(wrong(kernel, shape, arguments, &[&not]).contains(&not), "{kernel}: {not}");
        }
    }
    case("sum", [2, 8], "in=f32[16]:1.0 out=f32[2]:0 part=f32[8] n=15", &["out[0] == 8.0", "out[1] == 7.0"]);
    case("names_the_right_memory", [1, 4], "data=i32[4]:9 out=i32[4]:9", &["out[2] == 3", "out[3] == 0"]);
    case("publishes", [2, 1], "flag=i32[1]:0 data=i32[1]:0 out=i32[1]:42", &["out == 42"]);
    case("counts", [2, 8], "in=i32[16]:1 out=i32[2]:0", &["out[0] == 16", "out[1] == 16"]);
    // A body has 32 bytes: a vector of three floats takes the place of four, and the whole is aligned to 16.
    let bodies = "in=f32[16]:0,0,3,0,10,0,0,0,0,0,5,0,20,0,0,0 extra=f32[8]:0,0,1,0,2,0,0,0";
    let arguments = format!("{bodies} out=f32[2]:0 scale=f32[1]:100 k=6");
    case("weighs", [1, 2], &arguments, &["out[0] == 4309.0", "out[1] == 8509.0"]);
    case("points_anywhere", [1, 3], "a=i32[1]:1 b=i32[3] out=i32[3]:0", &["out[0] == 9", "out[2] == 11"]);
    for (n, result) in [("0", 1), ("5", 2), ("7", 4), ("8", 4), ("3", 4)] {
        case("chooses", [1, 4], &format!("a=i32[4]:1 n={n}"), &[&format!("a[1] == {result}")]);
    }
    // OpenCL's SPIR-V does not say whether an integer has a sign; the argument does.
    case("adds_up", [1, 1], "a=i32[2]:3 n=2", &["a[0] == -4"]);
    case("adds_up", [1, 1], "a=u32[2]:3 n=2", &["a[0] == 4294967292"]);
    case("dimensions", [2, 3], "a=i32[1]:0", &["a == 1"]);
    // 0x12345678 * 2^16 / 2^32 + 0x34567812, and 12 + the high half of 7 * 65536.
    case("computes", [1, 1], "a=u32[2]:305419896 b=i32[2]:-7", &["a[1] == 878086726", "b[1] == 12"]);
}

#[test]
fn mistakes_are_found_at_their_lines() {
    let missing = wrong("forgets_the_barrier", [1, 4], "in=i32[4]:1 out=i32[4]:0 part=i32[4]", &[]);
    assert!(missing.contains("data race on part") && missing.contains("kernels.cl:18:"), "{missing}");
    let other = wrong("names_the_wrong_memory", [1, 4], "data=i32[4]:9 out=i32[4]:9", &[]);
    assert!(other.contains("data race on data[") && other.contains("kernels.cl:27:"), "{other}");
    let relaxed = wrong("publishes_relaxed", [2, 1], "flag=i32[1]:0 data=i32[1]:0 out=i32[1]:42", &[]);
    assert!(relaxed.contains("data race on data") && relaxed.contains("is relaxed"), "{relaxed}");
    // Its own element and no other is in the buffer.
    let short = wrong("chooses", [1, 4], "a=i32[3]:1 n=0", &[]);
    assert!(short.contains("a") && short.contains("kernels.cl:"), "{short}");
}

/// In OpenCL's model a later store of the thread that released continues the release sequence, and in Vulkan's it does not.
#[test]
fn a_release_sequence_by_one_thread_is_not_answered() {
    let arguments = "flag=i32[1]:0 data=i32[1]:0 out=i32[1]:42";
    let continued = wrong("continues", [2, 1], arguments, &["out == 42"]);
    assert!(continued.starts_with("unknown: ") && continued.contains("make that one release too"), "{continued}");
}

/// Where a compare-exchange fails it is a read with an order of its own (SPIR-V specification, OpAtomicCompareExchange:
/// "Unequal").
#[test]
fn a_compare_exchange_that_fails_has_its_own_order() {
    assert_eq!(wrong("locks", [2, 1], "lock=i32[1]:0 count=i32[1]:0", &["count == 2"]), "");
    assert_eq!(wrong("locks", [1, 2], "lock=i32[1]:0 count=i32[1]:0", &["count == 2"]), "");
    let takes = |expected: i32| {
        let arguments = format!("flag=i32[1]:0 data=i32[1]:0 out=i32[1]:42 expected={expected}");
        wrong("takes", [2, 1], &arguments, &["out == 42"])
    };
    assert_eq!(takes(1), "");
    let race = takes(5);
    assert!(race.contains("data race on data") && race.contains("is relaxed"), "{race}");
}

/// Sequentially consistent operations do more than release and acquire: what holds with less holds, what goes wrong in an
/// interleaving goes wrong, and of the rest nothing is said.
#[test]
fn the_order_of_sequentially_consistent_operations() {
    let judged = |kernel: &str, shape, arguments: &str, asserted: &[&str]| {
        wrong_of("sequential.spvasm", kernel, shape, arguments, asserted)
    };
    let arguments = "x=i32[1]:0 y=i32[1]:0 seen=i32[2]:9";
    let buffered = |asserted: &str| wrong("buffers_no_store", [2, 1], arguments, &[asserted]);
    assert_eq!(buffered("seen[0] != 9"), "");
    assert!(buffered("seen[0] == 1").contains("does not hold"), "{}", buffered("seen[0] == 1"));
    let neither = buffered("seen[0] == 1 || seen[1] == 1");
    assert!(neither.starts_with("unknown: ") && neither.contains("sequentially consistent"), "{neither}");
    let hurries = judged("hurries", [2, 1], "flag=i32[1]:0 x=i32[1]:0 seen=i32[1]:0", &[]);
    assert!(hurries.starts_with("data race on x:") && hurries.contains("sequential.cl:"), "{hurries}");
    let too_far = judged("counts_too_far", [3, 1], "count=i32[1]:0 out=i32[2]:0", &[]);
    assert!(too_far.contains("byte 8 of `out`, which has 8 bytes"), "{too_far}");
    let stuck = judged("waits_for_the_other", [2, 1], "flags=i32[2]:0", &[]);
    assert!(stuck.contains("for ever"), "{stuck}");
    let claims = judged("claims", [2, 1], "flags=i32[2]:0 inside=i32[1]:0", &[]);
    assert!(claims.starts_with("unknown: ") && claims.contains("in no interleaving"), "{claims}");
}

#[test]
fn the_order_of_sequentially_consistent_operations_in_a_scenario() {
    let buffers = |device: &Device, permits: fn(&[i32]) -> bool| -> Result<()> {
        let kernel = Module::spirv_file("kernels.spvasm", kernels())?.kernel("buffers_no_store")?;
        let queue = device.queue()?;
        let (x, y) = (device.alloc_zeroed::<i32>(1)?, device.alloc_zeroed::<i32>(1)?);
        let seen = device.from_slice(&[9i32, 9])?;
        queue.launch(ThreadSpec::new(2, 1), kernel.args((&x, &y, &seen)))?;
        let seen = seen.read(&queue)?;
        if permits(&seen) { Ok(()) } else { Err(Error::check(format!("{seen:?}"))) }
    };
    let report = |permits: fn(&[i32]) -> bool| {
        Checker::new(Model::Vulkan).check(|device| buffers(device, permits)).expect("a report")
    };
    assert!(!report(|seen| seen[0] == 1).violations.is_empty());
    let neither = report(|seen| seen != [0, 0]);
    assert!(neither.violations.is_empty() && neither.to_string().contains("in no interleaving"), "{neither}");
}

#[test]
fn what_is_missing_or_not_supported_is_named() {
    for (kernel, arguments, text) in [
        ("chooses", "a=i32[4]:1 m=3", "no parameter `m`, which is given a value: there are `a`, `n`"),
        ("chooses", "a=i32[4]:1", "the parameter `n`: its value is given at launch: write --arg n="),
        (
            "chooses",
            "a=i32[4]:1 n=4294967296",
            "`4294967296` is no number of 32 bits. The kernel is `chooses(buffer a, n",
        ),
        ("chooses", "a=i32[4]:1 n=f32:3.0", "the parameter `n`: it is an integer, and a float is given"),
        ("chooses", "a=i32[4]:1 n=i32[4]", "the parameter `n`: it is a value, and a buffer is given"),
        ("chooses", "a=3 n=3", "the parameter `a`: it is memory, and a number is given: write --arg a=u32[8]:3"),
        ("points_anywhere", "a=i32[1]:1 b=i32[3]:0 out=i32[3]:0", "the parameter `b`: it is memory of the workgroup"),
        ("choose", "a=i32[1]:1", "the module has no entry point `choose`; it has `sum`, "),
        ("chooses", "n=3", "the parameter `a`: its memory is given at launch: write --arg a=u32[8]:0"),
    ] {
        let refused = launch(kernel, [1, 4], arguments).expect_err(text).to_string();
        assert!(refused.contains(text) && !refused.contains("  leave"), "{refused}");
    }
    let narrow = kernels().replace("Physical64", "Physical32");
    let refused = spirv::read("k.spvasm", narrow.as_bytes()).expect_err("it is refused").to_string();
    assert!(refused.contains("addresses of 32 bits"), "{refused}");
}

/// Pointers of the generic class that go through variables, as in what is not optimized, say at run time where they point to.
#[test]
fn pointers_say_at_run_time_where_they_point_to() {
    fn wrong(kernel: &str, shape: [u32; 2], arguments: &str, asserted: &[&str]) -> String {
        wrong_of("unoptimized.spvasm", kernel, shape, arguments, asserted)
    }
    let arguments = "in=i32[4]:1,2,3,4 out=i32[6]:0 part=i32[4]";
    let sums = ["out[0] == 10", "out[1] == 4", "out[3] == 5", "out[5] == 17"];
    assert_eq!(wrong("totals", [1, 4], arguments, &sums), "");
    for text in sums {
        let not = text.replace("==", "!=");
        assert!(wrong("totals", [1, 4], arguments, &[&not]).contains(&not), "{not}");
    }
    let race = wrong("totals_race", [1, 4], "in=i32[4]:1 out=i32[1]:0 part=i32[4]", &[]);
    assert!(race.contains("data race on part[") && race.contains("unoptimized.cl:9:"), "{race}");
    let counters = "all=i32[1]:0 out=i32[2]:0 own=i32[1]";
    assert_eq!(wrong("counts", [2, 2], counters, &["all == 4", "out[0] == 2", "out[1] == 2"]), "");
    for which in 0..4 {
        let arguments = format!("out=i32[1]:9 part=i32[1] which={which}");
        assert_eq!(wrong("kinds", [1, 1], &arguments, &[&format!("out == {which}")]), "");
    }
    assert_eq!(wrong("copies", [1, 1], "out=i32[1]:0", &["out == 1"]), "");
    let beyond = wrong("goes_beyond", [1, 2], "out=i32[2]:9 part=i32[1]", &[]);
    assert!(beyond.contains("byte 4 of `part`") && beyond.contains("unoptimized.cl:106"), "{beyond}");
    assert_eq!(wrong("goes_beyond", [1, 2], "out=i32[2]:9 part=i32[2]", &["out[1] == 7"]), "");
    assert_eq!(wrong_of("kernels.spvasm", "points_to_one_of_two", [1, 1], "a=i32[1]:1 b=i32[1] which=1", &[]), "");
}

/// An atomic operation that names no memory orders that of its object, which only shows at run time too (OpenCL API 3.0, 3.3.6.3).
#[test]
fn a_flag_orders_the_memory_that_it_is_in() {
    let wrong = |kernel, shape, arguments| wrong_of("unoptimized.spvasm", kernel, shape, arguments, &["out == 42"]);
    assert_eq!(wrong("publishes", [2, 1], "flag=i32[1]:0 data=i32[1]:0 out=i32[1]:42"), "");
    let local = wrong("publishes_locally", [1, 2], "flag=i32[1] data=i32[1]:0 out=i32[1]:42");
    assert!(local.contains("data race on data") && local.contains("unoptimized.cl:82:"), "{local}");
}

/// The kernels of a scenario take their arguments in the order of their parameters.
fn scenario(device: &Device, name: &str) -> Result<String> {
    let kernel = Module::spirv_file("kernels.spvasm", kernels())?.kernel(name)?;
    let queue = device.queue()?;
    let [data, out] = [device.alloc_zeroed::<u32>(4)?, device.alloc_zeroed::<u32>(4)?];
    match name {
        "chooses" => queue.launch(ThreadSpec::new(1, 4), kernel.args((&out, 5i32)))?,
        _ => queue.launch(ThreadSpec::new(1, 4), kernel.args((&data, &out)))?,
    }
    Ok(format!("{:?}", out.read(&queue)?))
}

/// A kernel of what is not optimized, with a parameter in local memory.
fn unoptimized(device: &Device, name: &str) -> Result<String> {
    let kernel = Module::spirv_file("unoptimized.spvasm", text_of("unoptimized.spvasm"))?.kernel(name)?;
    let queue = device.queue()?;
    let (data, out) = (device.from_slice(&[1i32, 2, 3, 4])?, device.alloc_zeroed::<i32>(6)?);
    let options = LaunchOptions::new().shared_len(16);
    let shape = ThreadSpec::new(1, 4);
    match name {
        "kinds" => queue.launch_with(options, ThreadSpec::new(1, 1), kernel.args((&out, 2i32)))?,
        _ => queue.launch_with(options, shape, kernel.args((&data, &out)))?,
    }
    Ok(format!("{:?}", out.read(&queue)?))
}

#[test]
fn scenarios_of_what_is_not_optimized() {
    holds(Model::Vulkan, 10, "[10, 4, 2, 5, 10, 17]", &|device| unoptimized(device, "totals"));
    holds(Model::Vulkan, 3, "[2, 0, 0, 0, 0, 0]", &|device| unoptimized(device, "kinds"));
    let texts = ["data race on part[", "unoptimized.cl:"];
    refuted(Model::Vulkan, 20, &texts, &|device| unoptimized(device, "totals_race"));
}

#[test]
fn a_kernel_that_is_refused_leaves_the_others() -> Result<()> {
    // A kernel with another's body, whose parameter is an image.
    let image = "%image = OpTypeImage %void 2D 0 0 0 0 Unknown WriteOnly\n%drawn = OpTypeFunction %void %image\n";
    let draws = "%draws = OpFunction %void None %drawn\n%picture = OpFunctionParameter %image\n%entry = OpLabel\n\
                 OpReturn\nOpFunctionEnd\n";
    let declares = "OpEntryPoint Kernel %draws \"draws\"\nOpName %picture \"picture\"\n";
    let text = kernels().replacen("OpEntryPoint", &format!("{declares}OpEntryPoint"), 1);
    let text = text.replacen("OpFunctionEnd\n", &format!("OpFunctionEnd\n{draws}"), 1);
    let after_void = text.find("%void = OpTypeVoid\n").expect("a type") + "%void = OpTypeVoid\n".len();
    let module =
        Module::spirv_file("kernels.spvasm", format!("{}{image}{}", &text[..after_void], &text[after_void..]))?;
    assert!(module.kernels().any(|name| name == "sum") && module.kernels().all(|name| name != "draws"));
    let refused = module.kernel("draws").expect_err("it has an image").to_string();
    assert!(refused.contains("the parameter `picture` is an image") && refused.contains("draws"), "{refused}");
    Ok(())
}

#[test]
fn scenarios() {
    holds(Model::Vulkan, 10, "[2, 2, 2, 2]", &|device| scenario(device, "chooses"));
    holds(Model::Vulkan, 10, "[1, 2, 3, 0]", &|device| scenario(device, "names_the_right_memory"));
    let texts = ["data race", "kernels.cl:"];
    refuted(Model::Vulkan, 20, &texts, &|device| scenario(device, "names_the_wrong_memory"));
}

/// The parameter in local memory is no argument: it has the launch's shared memory.
fn sum(device: &Device, shared: u32) -> Result<String> {
    let kernel = Module::spirv_file("kernels.spvasm", kernels())?.kernel("sum")?;
    let queue = device.queue()?;
    let (data, out) = (device.from_slice(&[1.0f32; 8])?, device.alloc_zeroed::<f32>(2)?);
    let options = LaunchOptions::new().shared_len(shared);
    queue.launch_with(options, ThreadSpec::new(2, 4), kernel.args((&data, &out, 7u32)))?;
    Ok(format!("{:?}", out.read(&queue)?))
}

#[test]
fn local_memory_is_the_launchs_shared_memory() {
    holds(Model::Vulkan, 10, "[4.0, 3.0]", &|device| sum(device, 16));
    refuted(Model::Vulkan, 5, &["part", "kernels.cl:"], &|device| sum(device, 12));
}

#[test]
fn a_signature_has_the_parameters_in_their_order() {
    let wrong_arguments = || -> Result<()> {
        let kernel = Module::spirv_file("kernels.spvasm", kernels())?.kernel("weighs")?;
        let device = Device::simulated(1);
        let queue = device.queue()?;
        queue.launch(ThreadSpec::new(1, 1), kernel.args((1u32,)))
    };
    let error: Error = wrong_arguments().expect_err("there are too few arguments");
    let text = error.to_string();
    assert!(text.contains("buffer in, buffer out, buffer scale, k of 4 bytes, extra of 32 bytes"), "{text}");
}
