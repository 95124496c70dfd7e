//! Bytes: accesses that divide elements, or go over several.

use wattle_check::Simulated as _;
use wattle_check::checker::Verdict;
use wattle_core::{Device, Result, ThreadSpec};
use wattle_foreign::Module;
use wattle_memory::Model;

use super::{compared, holds, refuted};

/// A kernel of a PTX module whose body is `body`. In it `%a` is the address of its buffer, and `%t` the thread's number.
fn kernel(body: &str) -> Result<wattle_foreign::LoadedKernel> {
    let text = format!(
        ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 8 .b8 tile[16]; .const .align 4 .b32 \
         table[2] = {{1, 2}};\n.entry k(.param .u64 data)\n\
         {{ .reg .u64 %a, %b, %v, %w; .reg .u32 %t, %x, %y; .reg .b16 %h; .reg .pred %p, %q;\n\
         ld.param.u64 %a, [data]; mov.u32 %t, %tid.x; cvt.u64.u32 %b, %t;\n{body}\nret; }}\n"
    );
    Module::ptx_file("bytes.ptx", text)?.kernel("k")
}

/// One block of threads on a buffer of two words, which are zero before.
fn words(device: &Device, threads: usize, body: &str) -> Result<String> {
    let (queue, data) = (device.queue()?, device.alloc_zeroed::<u32>(2)?);
    queue.launch(ThreadSpec::new(1, threads), kernel(body)?.args((&data,)))?;
    Ok(format!("{:x?}", data.read(&queue)?))
}

#[test]
fn threads_share_an_element_by_its_bytes() {
    let body = "add.u64 %a, %a, %b; add.u32 %x, %t, 17; st.global.u8 [%a], %x;";
    holds(Model::Ptx, 20, "[14131211, 0]", &|device| words(device, 4, body));
    // They read the element behind a barrier.
    let read = format!(
        "{body} bar.sync 0; ld.param.u64 %a, [data]; ld.global.u32 %x, [%a]; setp.eq.u32 %p, %t, 0;\n@%p st.global.u32 [%a+4], %x;"
    );
    holds(Model::Ptx, 20, "[14131211, 14131211]", &|device| words(device, 4, &read));
    // A byte is shared where there are more threads than bytes of each.
    let shared = "and.b64 %b, %b, 1; add.u64 %a, %a, %b; st.global.u8 [%a], %t;";
    refuted(Model::Ptx, 20, &["data race on data, byte 1", "bytes.ptx:8"], &|device| words(device, 4, shared))
        .errors
        .iter()
        .for_each(|error| assert!(!error.contains("of 1 byte"), "{error}"));
}

#[test]
fn accesses_of_different_sizes_race_where_they_share_a_byte() {
    let body =
        |byte: u32| format!("setp.eq.u32 %p, %t, 0;\n@%p st.global.u16 [%a], 1;\n@!%p st.global.u8 [%a+{byte}], 7;");
    let texts = [
        "data race",
        "of 2 bytes by thread 0 of block 0",
        "of 1 byte by thread 1 of block 0",
        "bytes.ptx:9",
        "bytes.ptx:10",
    ];
    refuted(Model::Ptx, 20, &texts, &|device| words(device, 2, &body(1)));
    holds(Model::Ptx, 20, "[70001, 0]", &|device| words(device, 2, &body(2)));
}

/// The checker does not take such atomics apart; PTX has them race, since they do not overlap completely.
#[test]
fn atomics_of_different_sizes_are_no_atomics_to_each_other() {
    let body = "setp.eq.u32 %p, %t, 0;\n@%p red.relaxed.sys.global.add.u64 [%a], 1;\n@!%p red.relaxed.sys.global.add.u32 [%a+4], 1;";
    let errors: Vec<String> = (0..10)
        .filter_map(|seed| words(&Device::simulated(seed), 2, body).err())
        .map(|error| error.to_string())
        .collect();
    assert_eq!(errors.len(), 10);
    for text in ["of 8 bytes", "of 4 bytes", "let both atomics access the same bytes"] {
        assert!(errors[0].contains(text), "{}", errors[0]);
    }
    // Ordered, they are as good as plain ones.
    let ordered = "setp.eq.u32 %p, %t, 0;\n@%p red.relaxed.sys.global.add.u64 [%a], 1;\nbar.sync 0;\n\
                   @!%p red.relaxed.sys.global.add.u32 [%a+4], 2;";
    assert_eq!(words(&Device::simulated(0), 2, ordered).expect("it holds"), "[1, 2]");
}

#[test]
fn vectors_and_wide_accesses_are_made_of_elements() {
    let body = "setp.ne.u32 %p, %t, 0; @%p bra END; mov.u64 %v, 0x1122334455667788; st.global.u64 [%a], %v;\n\
                ld.global.v2.u16 {%h, %h}, [%a+4]; cvt.u32.u16 %x, %h; ld.global.v2.u32 {%y, %y}, [%a];\n\
                st.shared.u64 [tile], %v; ld.shared.u32 %t, [tile+4]; sub.u32 %y, %y, %t; add.u32 %x, %x, %y;\n\
                st.global.u32 [%a], %x;\nEND:";
    holds(Model::Ptx, 4, "[1122, 11223344]", &|device| words(device, 2, body));
}

/// A buffer whose elements are bytes, read as words, and the other way round.
#[test]
fn elements_of_any_size_are_bytes() {
    let bytes = |device: &Device| {
        let (queue, data) = (device.queue()?, device.from_slice(&[1u8, 2, 3, 4, 5, 6, 7, 8])?);
        let body = "ld.global.u32 %x, [%a]; add.u32 %x, %x, 0x01000001; st.global.u32 [%a+4], %x;";
        queue.launch(ThreadSpec::new(1, 1), kernel(body)?.args((&data,)))?;
        Ok(format!("{:?}", data.read(&queue)?))
    };
    holds(Model::Ptx, 2, "[1, 2, 3, 4, 2, 2, 3, 5]", &bytes);
    let wide = |device: &Device| {
        let (queue, data) = (device.queue()?, device.from_slice(&[0.5f64])?);
        let body = "ld.global.u32 %x, [%a+4]; add.u32 %x, %x, 0x00100000; st.global.u32 [%a+4], %x;";
        queue.launch(ThreadSpec::new(1, 1), kernel(body)?.args((&data,)))?;
        Ok(format!("{:?}", data.read(&queue)?))
    };
    holds(Model::Ptx, 2, "[1.0]", &wide);
}

#[test]
fn bytes_that_nobody_has_written() {
    // One of the two bytes of the element is written, and both go into a sum.
    let body = "mov.u32 %x, 1; st.shared.u8 [tile+2], %x;\nld.shared.u16 %h, [tile+2]; add.u16 %h, %h, 1; st.global.u16 [%a], %h;";
    let text = "a use of what was loaded at bytes.ptx:9, of memory that nobody has written";
    let seen = refuted(Model::Ptx, 3, &[text], &|device| words(device, 1, body));
    assert_eq!(seen.errors.len(), 3);
    let update = "atom.shared.add.u32 %y, [tile], 1;";
    refuted(Model::Ptx, 3, &["tile, byte 0 was read, and nobody wrote it"], &|device| words(device, 1, update));
    // A copy of both is one of padding, which the host might read.
    let copied = "mov.u32 %x, 1; st.shared.u8 [tile+2], %x; ld.shared.u16 %h, [tile+2]; st.global.u16 [%a], %h;";
    let seen = compared(Model::Ptx, 3, &|device| words(device, 1, copied));
    assert_eq!((seen.report.verdict, seen.errors.len()), (Verdict::Unknown, 0), "{}", seen.report);
    assert!(seen.report.to_string().contains("was copied to"), "{}", seen.report);
    // In shared memory nothing comes of it.
    let stays = "mov.u32 %x, 1; st.shared.u8 [tile+2], %x; ld.shared.u16 %h, [tile+2]; st.shared.u16 [tile], %h;\n\
                 ld.shared.u8 %y, [tile]; st.global.u32 [%a], %y;";
    holds(Model::Ptx, 3, "[1, 0]", &|device| words(device, 1, stays));
    let matters = "mov.u32 %x, 1; st.shared.u8 [tile+2], %x; ld.shared.u16 %h, [tile+2]; st.shared.u16 [tile], %h;\n\
                   ld.shared.u8 %y, [tile+1]; st.global.u32 [%a], %y;";
    refuted(Model::Ptx, 3, &["of memory that nobody has written"], &|device| words(device, 1, matters));
    // Nothing comes of it.
    let selected =
        "setp.eq.u32 %p, %t, 0; ld.shared.u32 %x, [tile]; selp.u32 %y, 7, %x, %p; @%p st.global.u32 [%a], %y;";
    holds(Model::Ptx, 3, "[7, 0]", &|device| words(device, 2, selected));
    holds(Model::Ptx, 3, "[1, 0]", &|device| {
        words(device, 1, "mov.u32 %x, 1; st.shared.u8 [tile+2], %x; ld.shared.u8 %y, [tile+2]; st.global.u32 [%a], %y;")
    });
    let buffer = |device: &Device| {
        let (queue, data) = (device.queue()?, device.alloc::<u32>(2)?);
        queue.launch(
            ThreadSpec::new(1, 1),
            kernel("ld.global.u32 %x, [%a+4];\nst.global.u32 [%a], %x;")?.args((&data,)),
        )?;
        queue.wait()?;
        Ok(String::new())
    };
    refuted(Model::Ptx, 3, &["a use of what was loaded at bytes.ptx:8", "bytes.ptx:9"], &buffer);
}

#[test]
fn an_address_outside_of_its_buffer_is_a_fault() {
    let texts =
        ["an access at byte 8 of `data`, which has 8 bytes", "thread 1 of block 0 of kernel `k`", "bytes.ptx:9"];
    let body = "mul.lo.u64 %b, %b, 8; add.u64 %a, %a, %b;\nst.global.u32 [%a], 1;";
    let seen = refuted(Model::Ptx, 3, &texts, &|device| words(device, 2, body));
    assert_eq!(seen.errors.len(), 3);
    let text = ["an access at byte 8 of `table`, which has 8 bytes"];
    let constant = "mov.u64 %v, table; ld.const.u32 %x, [%v+8]; st.global.u32 [%a], %x;";
    refuted(Model::Ptx, 1, &text, &|device| words(device, 1, constant));
    let below = compared(Model::Ptx, 3, &|device| words(device, 1, "st.global.u32 [%a+-4], 1;"));
    assert!(below.errors[0].contains("an access at byte -4 of `data`"), "{:?}", below.errors);
    let odd = compared(Model::Ptx, 3, &|device| words(device, 1, "st.global.u32 [%a+2], 1;"));
    assert!(odd.errors[0].contains("at an address that is no multiple of 4"), "{:?}", odd.errors);
}
