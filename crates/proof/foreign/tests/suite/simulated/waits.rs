//! Threads that wait: at barriers, for other lanes, in loops, for ever; and launches that are ended.

use std::time::Duration;

use wattle_check::Simulated as _;
use wattle_core::{Device, LaunchOptions, Result, ThreadSpec};
use wattle_foreign::Module;
use wattle_memory::Model;

use super::{holds, refuted};

/// A kernel of a PTX module whose body is `body`, in which `%a` is the address of its buffer of words, `%t` the thread's number,
/// `%w` that of its warp, and `%l` that of its lane.
fn kernel(body: &str) -> Result<wattle_foreign::LoadedKernel> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.global .u32 total = 5;\n.extern .shared .align 4 .b8 given[];\n.entry k(.param .u64 data)\n\
         {{ .reg .u64 %a, %b; .reg .u32 %t, %w, %l, %x, %y, %n; .reg .pred %p, %q, %r;\n\
         .shared .align 4 .u32 word;\n\
         ld.param.u64 %a, [data]; mov.u32 %t, %tid.x; shr.u32 %w, %t, 5; and.b32 %l, %t, 31; mov.u32 %n, 64;\n\
         setp.ne.u32 %q, %l, 0;\n{body}\nret; }}\n"
    );
    Module::ptx_file("waits.ptx", text)?.kernel("k")
}

/// One block of threads on a buffer of two words, which are zero before.
fn words(device: &Device, threads: usize, body: &str) -> Result<String> {
    let (queue, data) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
    queue.launch(ThreadSpec::new(1, threads), kernel(body)?.args((&data,)))?;
    Ok(format!("{:?}", data.read(&queue)?))
}

/// All lanes but two of each warp end before the barrier.
const LEAVE: &str = "setp.gt.u32 %p, %l, 1; @%p exit;";

#[test]
fn barriers_of_some_warps() {
    for count in ["64", "%n"] {
        let meet = format!("{LEAVE} bar.sync 1, {count}; @!%q red.global.add.u32 [%a], 1;");
        holds(Model::Ptx, 10, "[2, 0]", &|device| words(device, 64, &meet));
        // Of four warps two meet, and then the other two.
        holds(Model::Ptx, 10, "[4, 0]", &|device| words(device, 128, &meet));
        let left = meet.replace("%p, %l, 1", "%p, %l, 15");
        refuted(Model::Ptx, 4, &["waits at the barrier at waits.ptx:11"], &|device| words(device, 96, &left));
    }
    let twice = "setp.ne.u32 %p, %w, 0; bar.sync 1, 64; @%p exit; bar.sync 1, 64;";
    refuted(Model::Ptx, 4, &["can never end"], &|device| words(device, 96, twice));
    let in_turn = "setp.ne.u32 %p, %w, 0; setp.ne.u32 %r, %w, 2; @!%r bar.sync 2, 64; bar.sync 1, 64; @%p exit;\n\
                   bar.arrive 2, 64; bar.sync 1, 64;";
    holds(Model::Ptx, 10, "[0, 0]", &|device| words(device, 96, in_turn));
}

#[test]
fn an_arrival_passes_on_what_its_thread_knows_and_does_not_wait() {
    // The first warp produces for the second, which waits.
    let body = |arrives: &str, waits: &str| {
        format!(
            "setp.ne.u32 %p, %w, 0; setp.ne.u32 %r, %t, 0; @%p bra TAKE;\n@!%r st.global.u32 [%a], 7;\n{arrives}\nbra END;\n\
                 TAKE:\n{waits}\nsetp.ne.u32 %r, %t, 32; @!%r ld.global.u32 %x, [%a];\n@!%r st.global.u32 [%a+4], %x;\nEND:"
        )
    };
    let right = body("bar.arrive 3, 64;", "bar.sync 3, 64;");
    holds(Model::Ptx, 10, "[7, 7]", &|device| words(device, 64, &right));
    let wrong = body("bar.sync 3, 64;", "bar.arrive 3, 64;");
    let seen = refuted(Model::Ptx, 20, &["data race on data[0]"], &|device| words(device, 64, &wrong));
    assert_eq!(seen.errors.len(), 20, "a thread that does not wait is ordered after nobody");
}

#[test]
fn a_barrier_that_lanes_have_left() {
    // Lanes that have exited are not waited for (CUDA C++ Programming Guide, "Warp Synchronization").
    holds(Model::Ptx, 10, "[0, 0]", &|device| words(device, 2, "setp.eq.u32 %p, %t, 1;\n@%p exit;\nbar.warp.sync 3;"));
    let missed = "setp.eq.u32 %p, %t, 1;\n@%p bra OTHER;\nbar.warp.sync 3;\nbra END;\nOTHER:\nbar.sync 0;\nEND:";
    let texts = ["waits at the operation of its warp at waits.ptx:14", "waits.ptx:18"];
    refuted(Model::Ptx, 4, &texts, &|device| words(device, 2, missed));
    let apart = "setp.eq.u32 %p, %t, 1;\n@%p bra OTHER;\nbar.sync 0;\nbra END;\nOTHER:\nbar.sync 0;\nEND:";
    refuted(Model::Ptx, 4, &["waits.ptx:13", "waits.ptx:16"], &|device| words(device, 2, apart));
    // The barrier itself waits for nobody who has ended.
    holds(Model::Ptx, 10, "[0, 0]", &|device| words(device, 4, "setp.eq.u32 %p, %t, 1;\n@%p exit;\nbar.sync 0;"));
    // Who is elected where lanes have ended is not known here.
    let elect = "setp.eq.u32 %p, %t, 1;\n@%p exit;\nelect.sync %x|%p, 3;";
    let error = words(&Device::simulated(0), 2, elect).expect_err("it is not judged").to_string();
    assert!(error.contains("cannot be judged") && error.contains("elects among have ended"), "{error}");
    assert!(error.contains("waits.ptx:13"), "{error}");
}

/// The lanes of a mask that have exited take no part in what the others do together (PTX ISA 9.7.9.6, 9.7.13.10: "all
/// non-exited threads corresponding to membermask"), and what one takes from them is undefined.
#[test]
fn operations_of_those_that_are_left() {
    let leave = "setp.gt.u32 %p, %t, 4; @%p exit; add.u32 %x, %t, 3; setp.ne.u32 %r, %t, 2;";
    let give = "st.global.u32 [%a], %y;";
    for (operation, left) in [
        // 3 to 7, of lanes 0 to 4.
        ("redux.sync.add.u32 %y, %x, -1;", 25),
        ("redux.sync.min.u32 %y, %x, 0xff;", 3),
        ("redux.sync.and.b32 %y, %x, -1;", 0),
        ("vote.sync.ballot.b32 %y, %r, -1;", 0b11011),
        // A mask without lane 0, whose bits are those of the lanes.
        ("@!%q mov.u32 %y, 30; @%q vote.sync.ballot.b32 %y, 1, 0xfffe; shfl.sync.idx.b32 %y, %y, 3, 31, -1;", 0b11110),
        ("vote.sync.all.pred %p, 1, -1; selp.u32 %y, 1, 0, %p;", 1),
        ("vote.sync.any.pred %p, 0, -1; selp.u32 %y, 1, 0, %p;", 0),
        ("and.b32 %x, %x, 1; match.any.sync.b32 %y, %x, -1; shfl.sync.idx.b32 %y, %y, 0, 31, -1;", 0b10101),
        ("match.all.sync.b32 %y|%p, 7, -1;", 0b11111),
        ("match.all.sync.b64 %y|%p, -1, -1;", 0b11111),
        ("setp.gt.u32 %p, %t, 3; @%p exit; shfl.sync.bfly.b32 %y, %x, 2, 31, -1;", 5),
    ] {
        let body = format!("{leave}\n{operation}\n@!%q {give}");
        holds(Model::Ptx, 6, &format!("[{left}, 0]"), &|device| words(device, 8, &body));
    }
    // Lane 4 takes what lane 6 would give. That is nobody's concern until it is used.
    let taken = format!("{leave}\nshfl.sync.bfly.b32 %y, %x, 2, 31, -1;\nsetp.ne.u32 %p, %t, 4;\n");
    let unused = format!("{taken}@!%q {give}");
    holds(Model::Ptx, 6, "[5, 0]", &|device| words(device, 8, &unused));
    let used = format!("{taken}add.u32 %y, %y, 1;\n@!%p {give}");
    let said = "a use of what a shuffle took from lane 6, which took no part in it";
    refuted(Model::Ptx, 4, &[said, "waits.ptx:15"], &|device| words(device, 8, &used));
}

#[test]
fn lanes_give_each_other_what_they_hold() {
    let body = "mul.lo.u32 %x, %t, 3; shfl.sync.bfly.b32 %y, %x, 1, 31, 15; setp.gt.u32 %p, %y, 3;\n\
                vote.sync.ballot.b32 %n, %p, 15; redux.sync.add.u32 %x, %y, 15; match.any.sync.b32 %y, %w, 15;\n\
                setp.ne.u32 %p, %t, 3; @%p exit; shl.b32 %n, %n, 16; or.b32 %n, %n, %x; st.global.u32 [%a], %n;\n\
                st.global.u32 [%a+4], %y;";
    // The lanes get 3, 0, 9 and 6.
    holds(Model::Ptx, 10, &format!("{:?}", [0b1100 << 16 | 18, 15]), &|device| words(device, 4, body));
}

#[test]
fn a_leader_is_chosen_by_the_seed() {
    let body = "elect.sync %x|%p, 15;\n@%p st.global.u32 [%a], %t;";
    let leaders: std::collections::BTreeSet<String> =
        (0..24).map(|seed| words(&Device::simulated(seed), 4, body).expect("it runs")).collect();
    assert_eq!(leaders.len(), 4, "{leaders:?}");
    super::compared(Model::Ptx, 12, &|device| words(device, 4, body));
}

#[test]
fn which_lanes_are_together_is_not_chosen() {
    let error = words(&Device::simulated(0), 2, "activemask.b32 %x;").expect_err("it is refused").to_string();
    assert!(error.contains("left to the device") && error.contains("waits.ptx:11"), "{error}");
}

/// A launch that waits for a flag which a later launch sets.
fn flag(device: &Device, sets: bool) -> Result<String> {
    let wait = kernel(
        "WAIT: ld.acquire.gpu.global.u32 %x, [%a];\nsetp.eq.u32 %p, %x, 0;\n@%p bra WAIT;\nld.global.u32 %x, [%a+4];",
    )?;
    let set = kernel("st.global.u32 [%a+4], 3;\nst.release.gpu.global.u32 [%a], 1;")?;
    let (waits, later) = (device.queue_non_blocking()?, device.queue_non_blocking()?);
    let data = device.alloc_zeroed::<u32>(2)?;
    waits.launch(ThreadSpec::new(1, 2), wait.args((&data,)))?;
    if sets {
        later.launch(ThreadSpec::new(1, 1), set.args((&data,)))?;
    }
    waits.wait()?;
    Ok(format!("{:?}", data.read(&later)?))
}

#[test]
fn a_loop_waits_for_a_later_launch() {
    holds(Model::Ptx, 20, "[1, 3]", &|device| flag(device, true));
    let texts = ["launch `k` can never end", "repeats a loop in which nothing changes, at waits.ptx:"];
    refuted(Model::Ptx, 4, &texts, &|device| flag(device, false));
}

/// Threads that meet at a barrier until something changes, and nothing does.
#[test]
fn threads_that_meet_for_ever() {
    let body = "ROUND: bar.sync 0;\nld.relaxed.gpu.global.u32 %x, [%a];\nsetp.eq.u32 %p, %x, 0;\n@%p bra ROUND;";
    let lanes = "ROUND: vote.sync.any.pred %p, %q, 3;\nld.relaxed.gpu.global.u32 %x, [%a];\nsetp.eq.u32 %p, %x, 0;\n@%p bra ROUND;";
    // The checker looks at a few rounds, and does not know what comes then.
    for body in [body, lanes] {
        let error = words(&Device::simulated(1), 2, body).expect_err("it is stuck").to_string();
        assert!(error.contains("can never end") && error.contains("waits.ptx:1"), "{error}");
    }
}

#[test]
fn limits_end_a_launch_at_its_line() {
    // It counts for ever, and nobody sees it.
    let body = "mov.u32 %x, 0;\nROUND: add.u32 %x, %x, 1;\nsetp.ne.u32 %p, %x, %x;\n@!%p bra ROUND;";
    let options = LaunchOptions::new().time_limit(Duration::from_millis(20));
    let launch = |device: &Device| -> Result<()> {
        let (queue, data) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
        queue.launch_with(options, ThreadSpec::new(1, 1), kernel(body)?.args((&data,)))
    };
    let error = launch(&Device::simulated(0)).expect_err("it is ended").to_string();
    assert!(error.contains("waits.ptx:1") && error.contains("`k`"), "{error}");
}

#[test]
fn variables_keep_their_values() {
    let body = "atom.relaxed.gpu.global.add.u32 %x, [total], 2;\nst.global.u32 [%a], %x;";
    let scenario = |device: &Device| {
        let add = kernel(body)?;
        let (queue, data) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
        let mut seen = Vec::new();
        for _ in 0..3 {
            queue.launch(ThreadSpec::new(1, 1), add.args((&data,)))?;
            seen.push(data.read(&queue)?[0]);
        }
        Ok(format!("{seen:?}"))
    };
    holds(Model::Ptx, 3, "[5, 7, 9]", &scenario);
}

#[test]
fn shared_memory_that_is_sized_at_launch() {
    let body = "mad.lo.u32 %y, %t, 4, 0; mov.u32 %x, given; add.u32 %y, %y, %x; st.shared.u32 [%y], %t;";
    let scenario = |device: &Device, threads: usize| {
        let (queue, data) = (device.queue()?, device.alloc_zeroed::<u32>(1)?);
        let options = LaunchOptions::new().shared_len(8);
        queue.launch_with(options, ThreadSpec::new(1, threads), kernel(body)?.args((&data,)))?;
        queue.wait()?;
        Ok(String::new())
    };
    holds(Model::Ptx, 3, "", &|device| scenario(device, 2));
    refuted(Model::Ptx, 3, &["of `given`, which has 8 bytes"], &|device| scenario(device, 3));
}

#[test]
fn a_trap_is_a_fault_of_its_thread() {
    let body = "setp.ne.u32 %p, %t, 1;\n@!%p trap;\nst.global.u32 [%a], 1;";
    let error = words(&Device::simulated(0), 2, body).expect_err("it traps").to_string();
    assert!(
        error.contains("trap") && error.contains("thread 1 of block 0") && error.contains("waits.ptx:12"),
        "{error}"
    );
    refuted(Model::Ptx, 2, &["trap"], &|device| words(device, 2, body));
}
