//! What only PTX orders, or leaves unordered: patterns that go on, asynchronous copies, reads past the caches.

use wattle_check::Simulated as _;
use wattle_core::{Device, LaunchOptions, Result, ThreadSpec};
use wattle_foreign::Module;
use wattle_memory::Model;

use super::{holds, refuted};
use crate::cuda::source;
use crate::launched;

/// Threads of one block each on four words of zeros: what each does, by its block's number. In it `%a` is the address of the words;
/// `data` is the first, `flag` the second one.
fn threads(device: &Device, of: &[&str]) -> Result<String> {
    let mut text = String::from(
        ".version 8.6\n.target sm_90\n.address_size 64\n.entry k(.param .u64 words)\n{ .reg .u64 %a; .reg .u32 %b, %x, %y, %z;\n\
         .reg .pred %p;\nld.param.u64 %a, [words]; mov.u32 %b, %ctaid.x;\n",
    );
    for (block, body) in of.iter().enumerate() {
        text += &format!("setp.ne.u32 %p, %b, {block}; @%p bra N{block};\n{body}\nret;\nN{block}:\n");
    }
    let kernel = Module::ptx_file("orders.ptx", text + "ret; }\n")?.kernel("k")?;
    let (queue, words) = (device.queue()?, device.alloc_zeroed::<u32>(4)?);
    queue.launch(ThreadSpec::new(of.len(), 1), kernel.args((&words,)))?;
    Ok(format!("{:?}", words.read(&queue)?[0]))
}

const TAKE: &str = "setp.ne.u32 %p, %x, WANTED;\n@%p ret;\nld.global.u32 %z, [%a];";

#[test]
fn a_release_pattern_goes_on_to_later_writes_of_its_thread() {
    let give = |second: &str| format!("st.global.u32 [%a], 1;\nst.release.gpu.global.u32 [%a+4], 1;\n{second}");
    let take = format!("ld.acquire.gpu.global.u32 %x, [%a+4];\n{}", TAKE.replace("WANTED", "2"));
    let right = give("st.relaxed.gpu.global.u32 [%a+4], 2;");
    holds(Model::Ptx, 40, "1", &|device| threads(device, &[&right, &take]));
    // Portable kernels have no such patterns, so that a checker of them reports more than a seed.
    // A write of another thread is no part of the pattern.
    let other = format!(
        "WAIT: ld.relaxed.gpu.global.u32 %x, [%a+4];\nsetp.ne.u32 %p, %x, 1;\n@%p bra WAIT;\n{}",
        "st.relaxed.gpu.global.u32 [%a+4], 2;"
    );
    refuted(Model::Ptx, 40, &["data race on words[0]"], &|device| threads(device, &[&give(""), &take, &other]));
}

#[test]
fn an_acquire_pattern_begins_with_earlier_reads_of_its_thread() {
    let give = "st.global.u32 [%a], 1;\nst.release.gpu.global.u32 [%a+4], 1;";
    let other = "st.relaxed.gpu.global.u32 [%a+4], 3;";
    let take = |place: u32| {
        format!(
            "ld.relaxed.gpu.global.u32 %x, [%a+4];\nld.acquire.gpu.global.u32 %y, [%a+{place}];\n{}",
            TAKE.replace("WANTED", "1")
        )
    };
    holds(Model::Ptx, 60, "1", &|device| threads(device, &[give, &take(4), other]));
    // An acquire read of another place ends no pattern of this one.
    refuted(Model::Ptx, 60, &["data race on words[0]"], &|device| threads(device, &[give, &take(8), other]));
}

/// Two threads on a kernel of `cuda/copies.cu`.
fn copies(device: &Device, entry: &str) -> Result<String> {
    let source = source("copies");
    let kernel = Module::ptx_file(source.file, source.text)?.kernel(entry)?;
    let (queue, values) = (device.queue()?, device.from_slice(&[1i32, 2])?);
    let out = device.alloc::<i32>(2)?;
    queue.launch(ThreadSpec::new(1, 2), kernel.args((&values, &out)))?;
    queue.wait()?;
    Ok(String::new())
}

#[test]
fn asynchronous_copies() {
    let right = |device: &Device| {
        let source = source("copies");
        let kernel = Module::ptx_file(source.file, source.text)?.kernel("right")?;
        let (queue, values) = (device.queue()?, device.from_slice(&[1.0f32; 48])?);
        let out = device.alloc_zeroed::<f32>(16)?;
        queue.launch(ThreadSpec::new(2, 2), kernel.args((&values, &out, 3i32)))?;
        Ok(format!("{:?}", out.read(&queue)?[7]))
    };
    holds(Model::Ptx, 10, "3.0", &right);
    let between = "between an asynchronous copy to it and the wait that completes the copy";
    for (entry, texts) in [
        ("early", [between, "copies.cu:33:"]),
        ("hasty", [between, "of kernel `hasty`"]),
        ("unsynchronized", ["data race", "copies.cu:"]),
        ("changed", ["an asynchronous copy of what is written", "of kernel `changed`"]),
    ] {
        refuted(Model::Ptx, 20, &texts, &|device| copies(device, entry));
    }
}

#[test]
fn memory_that_has_to_be_read_only() {
    let own = "st.global.u32 [%a], 7;\nld.global.nc.u32 %x, [%a];";
    let words = "is read at orders.ptx:9 with `ld.global.nc`, for which it has to be read-only";
    refuted(Model::Ptx, 2, &["words[0]", "read-only while the kernel runs"], &|device| threads(device, &[own]));
    let behind = "ld.global.nc.u32 %x, [%a];\nst.global.u32 [%a], 7;";
    refuted(Model::Ptx, 2, &[words, "orders.ptx:10"], &|device| threads(device, &[behind]));
    holds(Model::Ptx, 2, "0", &|device| threads(device, &["ld.global.nc.u32 %x, [%a];\nst.global.u32 [%a+8], 7;"]));
}

/// Only a cooperative launch has a workspace for its grid, which begins with zeros each time.
#[test]
fn a_grid_that_waits_for_itself() {
    let twice = |device: &Device, options: LaunchOptions| {
        launched::halves(device, options)?;
        launched::halves(device, options)?;
        Ok(String::new())
    };
    holds(Model::Ptx, 10, "", &|device| twice(device, LaunchOptions::new().cooperative()));
    let error = twice(&Device::simulated(0), LaunchOptions::new()).expect_err("it traps").to_string();
    assert!(error.contains("a trap"), "{error}");
}
