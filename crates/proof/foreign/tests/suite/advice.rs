//! Advice on the mistakes in the kernels of `cuda/*.cu`: the changes that a CUDA programmer would make.

use std::time::{Duration, Instant};

use crate::cuda::{launch, source};
use wattle_foreign::{Advice, Condition, Launch, Options, Source, Verdict, World, advise, judge};

/// A launch of the wrong form of a kernel, and the advice on it: the line of the source, and what to do there.
struct Case {
    file: &'static str,
    entry: &'static str,
    grid: u32,
    block: u32,
    dynamic_shared: u64,
    arguments: &'static [&'static str],
    assert: &'static str,
    fixes: &'static [(u32, &'static str)],
}

const BEHIND: &str = "add __threadfence() behind it";
const BEFORE: &str = "add __threadfence() before it";
const BLOCK: &str = "add __syncthreads() before it";

const CASES: &[Case] = &[
    Case {
        file: "reduction",
        entry: "published",
        grid: 2,
        block: 2,
        dynamic_shared: 0,
        arguments: &["in=f32[4]:1.0,2.0,3.0,4.0", "parts=f32[2]", "out=f32[1]:0.0"],
        assert: "out[0] == 10.0",
        fixes: &[(15, BEHIND)],
    },
    Case {
        file: "grid_barrier",
        entry: "unfenced",
        grid: 2,
        block: 2,
        dynamic_shared: 0,
        arguments: &["from=i32[2]", "to=i32[2]:0"],
        assert: "to[0] == 2 && to[1] == 1",
        fixes: &[(14, BEFORE), (15, BEHIND)],
    },
    Case {
        file: "lookback",
        entry: "unfenced",
        grid: 3,
        block: 1,
        dynamic_shared: 0,
        arguments: &["in=i32[3]:1,2,3", "sums=i32[3]", "state=i32[3]:0", "out=i32[3]:0"],
        assert: "out[2] == 6",
        fixes: &[(8, BEHIND), (19, BEFORE)],
    },
    Case {
        file: "reduce_twice",
        entry: "hasty",
        grid: 1,
        block: 2,
        dynamic_shared: 8,
        arguments: &["a=i32[2]:1", "b=i32[2]:2", "out=i32[2]:0"],
        assert: "",
        fixes: &[(9, BLOCK)],
    },
    Case {
        file: "warp_sum",
        entry: "in_step",
        grid: 1,
        block: 8,
        dynamic_shared: 0,
        arguments: &["in=i32[8]:1,2,3,4,5,6,7,8", "out=i32[1]:0"],
        assert: "out[0] == 36",
        fixes: &[(14, BLOCK), (14, "add __syncthreads() behind it")],
    },
    Case {
        file: "spin_lock",
        entry: "textbook",
        grid: 2,
        block: 1,
        dynamic_shared: 0,
        arguments: &["counter=i32[1]:0"],
        assert: "counter == 2",
        fixes: &[(8, BEHIND), (15, BEFORE)],
    },
    Case {
        file: "ticket_lock",
        entry: "unfenced",
        grid: 2,
        block: 1,
        dynamic_shared: 0,
        arguments: &["counter=i32[1]:0"],
        assert: "counter == 2",
        fixes: &[(9, BEHIND), (16, BEFORE)],
    },
    Case {
        file: "tiles",
        entry: "clearing",
        grid: 1,
        block: 2,
        dynamic_shared: 0,
        arguments: &["in=f32[384]:0.5", "out=f32[128]:0.0", "tiles=3"],
        assert: "",
        fixes: &[(13, "add __syncthreads() behind it")],
    },
    Case {
        file: "tiles",
        entry: "one_buffer",
        grid: 1,
        block: 2,
        dynamic_shared: 0,
        arguments: &["in=f32[6]:0.5", "out=f32[2]:0.0", "tiles=3"],
        assert: "",
        fixes: &[(34, BLOCK)],
    },
    Case {
        file: "tiles",
        entry: "tree",
        grid: 1,
        block: 4,
        dynamic_shared: 0,
        arguments: &["in=f32[4]:1.0", "out=f32[1]:0.0"],
        assert: "out[0] == 4.0",
        fixes: &[(50, BLOCK)],
    },
    Case {
        file: "tiles",
        entry: "steps",
        grid: 1,
        block: 4,
        dynamic_shared: 0,
        arguments: &["in=f32[4]:1.0", "out=f32[4]:0.0"],
        assert: "out[3] == 4.0",
        fixes: &[(64, "add __syncthreads() at the end of the loop's body")],
    },
    Case {
        file: "histogram",
        entry: "hasty",
        grid: 1,
        block: 4,
        dynamic_shared: 0,
        arguments: &["in=u8[16]:1,2,3,0,1,2,3,0,1,2,3,0,1,2,3,0", "bins=u32[4]:0", "length=16"],
        assert: "bins[0] == 4 && bins[3] == 4",
        fixes: &[(11, BLOCK)],
    },
    Case {
        file: "compaction",
        entry: "racy",
        grid: 2,
        block: 2,
        dynamic_shared: 0,
        arguments: &["in=i32[4]:7,0,7,7", "out=i32[4]:0", "count=i32[1]:0", "length=4"],
        assert: "count == 3 && out[2] == 7",
        fixes: &[(8, "do it by atomicAdd(…, 1)")],
    },
    Case {
        file: "shuffle",
        entry: "unordered",
        grid: 1,
        block: 8,
        dynamic_shared: 0,
        arguments: &["in=i32[8]:1,2,3,4,5,6,7,9", "out=i32[3]:0"],
        assert: "out[0] == 37 && out[1] == 213 && out[2] == 9",
        fixes: &[(18, BLOCK)],
    },
];

/// The advice on a launch that is violated.
fn advised(source: Source, entry: Option<&str>, launch: Launch, assert: &str) -> Advice {
    let file = source.file.clone();
    let mut world = World::new(source, entry, launch).unwrap_or_else(|error| panic!("{error}"));
    let asserted = Some(assert).filter(|text| !text.is_empty());
    let asserted = asserted.map(|text| Condition::parse(text, world.ranges()).expect("a condition"));
    let began = Instant::now();
    let report = judge(&mut world, asserted.as_slice(), &Options::default()).unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(report.verdict, Verdict::Violated(..)), "{file}: {report:?}");
    let took = began.elapsed().max(Duration::from_millis(100));
    advise(&world, None, asserted.as_slice(), &Options::default(), took, Duration::from_secs(60))
}

#[test]
fn mistakes_get_the_changes_that_mend_them() {
    for case in CASES {
        let launch = launch(case.grid, case.block, case.dynamic_shared, case.arguments);
        let advice = advised(source(case.file), Some(case.entry), launch, case.assert);
        let line = |at: &str| at.strip_prefix(case.file)?.strip_prefix(".cu:")?.split(':').next()?.parse().ok();
        let fixes: Vec<_> = advice.fixes.iter().map(|fix| (line(&fix.at), fix.text.as_str())).collect();
        let expected: Vec<_> = case.fixes.iter().map(|&(line, text)| (Some(line), text)).collect();
        assert_eq!(fixes, expected, "{} after {} variants", case.file, advice.tried);
    }
}

/// A kernel for two blocks of one thread, which do these instructions; `a` and `b` are addresses of words.
fn two_blocks(first: &str, second: &str) -> (Source, Launch) {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry both(.param .u64 x, .param .u64 y, .param .u64 r)\n{{\n\
         .reg .u64 %a, %b, %r; .reg .u32 %t, %v, %w; .reg .pred %p;\nld.param.u64 %a, [x];\nld.param.u64 %b, [y];\n\
         ld.param.u64 %r, [r];\nmov.u32 %t, %ctaid.x;\nsetp.ne.u32 %p, %t, 0;\n@%p bra second;\n{first}\nret;\nsecond:\n\
         {second}\nret;\n}}\n"
    );
    let launch = launch(2, 1, 0, &["x=u32[1]:0", "y=u32[1]:0", "r=u32[2]:7"]);
    (Source { file: "both.ptx".into(), text }, launch)
}

fn texts(advice: &Advice) -> Vec<String> {
    advice.fixes.iter().map(|fix| format!("{}: {}", fix.instruction, fix.text)).collect()
}

#[test]
fn a_plain_flag_becomes_atomic() {
    let (source, launch) = two_blocks(
        "st.global.u32 [%a], 1;\nst.global.u32 [%b], 1;",
        "ld.global.u32 %v, [%b];\nsetp.eq.u32 %p, %v, 0;\n@%p ret;\nld.global.u32 %w, [%a];\nst.global.u32 [%r], %w;",
    );
    let advice = advised(source, None, launch, "r[0] == 7 || r[0] == 1");
    assert_eq!(
        texts(&advice),
        [
            "st.global.u32 [%b], 1;: write it by cuda::atomic_ref<…, cuda::thread_scope_device>(…).store(…, \
             cuda::memory_order_release)",
            "ld.global.u32 %v, [%b];: read it by cuda::atomic_ref<…, \
             cuda::thread_scope_device>(…).load(cuda::memory_order_acquire)",
        ]
    );
}

#[test]
fn store_buffering_needs_sequentially_consistent_fences() {
    let side = |own: &str, other: &str, result: u32| {
        format!("st.relaxed.gpu.u32 [{own}], 1;\nld.relaxed.gpu.u32 %v, [{other}];\nst.global.u32 [%r+{result}], %v;")
    };
    let (source, launch) = two_blocks(&side("%a", "%b", 0), &side("%b", "%a", 4));
    let advice = advised(source, None, launch, "r[0] == 1 || r[1] == 1");
    assert_eq!(advice.fixes.len(), 2, "{advice:?}");
    assert!(advice.fixes.iter().all(|fix| fix.text.starts_with("add __threadfence() ")), "{advice:?}");
}

#[test]
fn a_scope_that_is_too_narrow_is_widened() {
    let (source, launch) = two_blocks(
        "st.global.u32 [%a], 1;\nst.release.cta.global.u32 [%b], 1;",
        "ld.acquire.gpu.global.u32 %v, [%b];\nsetp.eq.u32 %p, %v, 0;\n@%p ret;\nld.global.u32 %w, [%a];",
    );
    let advice = advised(source, None, launch, "");
    let [fix] = &advice.fixes[..] else { panic!("{advice:?}") };
    assert!(fix.text.starts_with("make the access one of device scope"), "{fix:?}");
    assert_eq!(fix.at, "both.ptx:14");
}

/// A library's function, inlined, of which one thread alone accesses what the others do: the barrier stands before the whole
/// call, as between two reductions of CUB in one storage.
#[test]
fn a_barrier_stands_before_a_call_with_branches() {
    let text = ".version 8.6\n.target sm_90\n.address_size 64\n.file 1 \"k.cu\"\n.entry k(.param .u64 r)\n{\n\
                .reg .u64 %r; .reg .u32 %t, %v; .reg .pred %p; .shared .u32 tile;\n\
                .loc 1 2 1\nld.param.u64 %r, [r];\nmov.u32 %t, %tid.x;\nsetp.ne.u32 %p, %t, 0;\n@%p bra A;\n\
                st.shared.u32 [tile], 7;\nA:\nbar.sync 0;\n\
                .loc 1 3 1\nsetp.ne.u32 %p, %t, 0;\n@%p bra B;\nld.shared.u32 %v, [tile];\nst.global.u32 [%r], %v;\nB:\n\
                .loc 1 4 1\nsetp.ne.u32 %p, %t, 1;\n@%p bra C;\nst.shared.u32 [tile], 8;\nC:\nret;\n}\n";
    let source = Source { file: "k.ptx".into(), text: text.into() };
    let advice = advised(source, None, launch(1, 2, 0, &["r=u32[1]:0"]), "r[0] == 7");
    let [fix] = &advice.fixes[..] else { panic!("{advice:?}") };
    assert_eq!((fix.at.as_str(), fix.text.as_str()), ("k.cu:4:1", BLOCK));
}

#[test]
fn what_no_fence_mends_gets_none() {
    let (source, launch) = two_blocks("st.relaxed.gpu.u32 [%a], 1;", "st.relaxed.gpu.u32 [%a], 2;");
    let advice = advised(source, None, launch, "x[0] == 1");
    assert!(advice.fixes.is_empty() && advice.tried > 0, "{advice:?}");
}

/// A thread that leaves its array whatever the others do is helped by no fence: none is tried.
#[test]
fn no_fence_mends_an_index() {
    for block in [1, 40] {
        let source =
            crate::bad_input::kernel("mul.wide.u32 %b, %t, 4; add.u64 %b, %a, %b; st.global.u32 [%b+160], %t;");
        let mut world = World::new(source, None, launch(1, block, 0, &["p=u32[40]:0"])).unwrap();
        let report = judge(&mut world, &[], &Options::default()).unwrap();
        assert!(matches!(report.verdict, Verdict::Violated(..)), "{report:?}");
        let took = Duration::from_millis(100);
        let advice = advise(&world, None, &[], &Options::default(), took, Duration::from_secs(10));
        assert!(advice.is_empty(), "{advice:?}");
    }
}

/// A kernel that takes a buffer, and the launch of `blocks` blocks of one thread with contents for the module's variable `v`.
fn with_variable(body: &str, blocks: u32, contents: &'static str) -> (Source, Launch) {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.visible .global .align 4 .u32 v = 0;\n.entry k(.param .u64 r)\n{{\n\
         .reg .u64 %r, %a; .reg .u32 %x, %t; .reg .pred %p;\nld.param.u64 %r, [r];\nmov.u64 %a, v;\nmov.u32 %t, %ctaid.x;\n\
         {body}\nret;\n}}\n"
    );
    let launch = launch(blocks, 1, 0, &["r=u32[1]:0", contents]);
    (Source { file: "k.ptx".into(), text }, launch)
}

/// Trials have the contents that the launch gives the module's variables: with those of the module each of these holds.
#[test]
fn contents_of_variables_are_those_of_the_launch() {
    for (body, blocks, contents, assert) in [
        // A lock that is taken for ever.
        ("again:\natom.global.cas.b32 %x, [%a], 0, 1;\nsetp.ne.u32 %p, %x, 0;\n@%p bra again;", 1, "v=1", ""),
        // As many blocks write as the variable says.
        ("ld.global.u32 %x, [%a];\nsetp.ge.u32 %p, %t, %x;\n@%p ret;\nst.global.u32 [%r], %t;", 2, "v=2", "r[0] <= 1"),
        ("ld.global.u32 %x, [%a];\nst.relaxed.gpu.global.u32 [%r], %x;", 1, "v=9", "r[0] == 0"),
    ] {
        let (source, launch) = with_variable(body, blocks, contents);
        let advice = advised(source, None, launch, assert);
        let is_barrier = |text: &str| text.contains("__syncthreads") || text.contains("__threadfence");
        assert!(!advice.fixes.iter().any(|fix| is_barrier(&fix.text)), "{body}: {advice:?}");
    }
}

/// A barrier between the read and the write of a condition that not all threads come to: the condition is taken twice.
#[test]
fn a_scan_in_place_takes_its_condition_twice() {
    let launch = || launch(1, 4, 0, &["x=i32[4]:1"]);
    let advice = advised(source("scan"), Some("in_place"), launch(), "x[3] == 4");
    let [fix] = advice.fixes.as_slice() else { panic!("{advice:?}") };
    assert!(
        fix.at.starts_with("scan.cu:13:") && fix.text.contains("if (…) v = …; __syncthreads(); if (…) … = v"),
        "{fix:?}"
    );
    let mut world = World::new(source("scan"), Some("right"), launch()).unwrap();
    let condition = Condition::parse("x[3] == 4", world.ranges()).unwrap();
    assert_eq!(judge(&mut world, &[condition], &Options::default()).unwrap().verdict, Verdict::Holds);
}

/// A barrier in a loop that threads leave one by one would open without them: it is no advice, and one before the loop is.
#[test]
fn no_barrier_stands_where_threads_leave_early() {
    let launch = launch(1, 2, 0, &["most=i32[1]:0", "x=i32[2]:1,2"]);
    let advice = advised(source("scan"), Some("greatest"), launch, "most[0] == 2");
    let [fix] = advice.fixes.as_slice() else { panic!("{advice:?}") };
    assert_eq!((fix.at.as_str(), fix.text.as_str()), ("scan.cu:36:5", "add __syncthreads() behind it"));
}

/// What a statement writes, others read in the same one: the barrier stands in its midst.
#[test]
fn a_statement_is_taken_apart() {
    let advice = advised(source("scan"), Some("smooth"), launch(1, 3, 0, &["x=i32[3]:4"]), "x[1] == 4");
    let [fix] = advice.fixes.as_slice() else { panic!("{advice:?}") };
    assert!(fix.at.starts_with("scan.cu:27:") && fix.text.ends_with("(): v = …; __syncthreads(); … = v"), "{fix:?}");
}
